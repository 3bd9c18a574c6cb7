/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - which facts of PostgreSQL and Redis are findings, as tables. Pure.
 */
#ifndef CLIENT_DOCTOR_RULES_H
#define CLIENT_DOCTOR_RULES_H

#include "client/doctor/findings.h"
#include "domain/database/fact.h"

enum rule_test { RULE_IS, RULE_IS_NOT, RULE_ABOVE, RULE_BELOW };

/* The fact is a finding if the test is true of it; a fact that is not there is none. */
struct rule {
    const char *fact;
    enum rule_test test;
    const char *text; /* of RULE_IS and RULE_IS_NOT */
    double number;    /* of RULE_ABOVE and RULE_BELOW */
    enum severity severity;
    const char *why, *remedy;
};

struct rules {
    const char *part;
    const struct rule *items;
    size_t count;
};

extern const struct rules rules_of_postgres;
extern const struct rules rules_of_redis;

/* Add a finding for each rule whose fact is there, OK or not. */
void rules_apply(const struct rules *rules, const struct facts *facts, struct findings *out);

/* The value of a fact; empty if it is not there. */
struct str rules_fact(const struct facts *facts, const char *name);

/* The facts in an answer to INFO of Redis ("name:value" lines), in the arena, and `used_memory_percent` of maxmemory if that is set. */
void rules_read_info(struct str info, struct arena *arena, struct facts *out);

#endif
