/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - tables that decide which facts about PostgreSQL and Redis are findings. Pure.
 */
#ifndef CLIENT_DOCTOR_RULES_H
#define CLIENT_DOCTOR_RULES_H

#include "client/doctor/findings.h"
#include "domain/database/fact.h"

enum rule_test { RULE_IS, RULE_IS_NOT, RULE_ABOVE, RULE_BELOW };

/* If the test holds for the fact, the fact is a finding. A missing fact is none. */
struct rule {
    const char *fact;
    enum rule_test test;
    const char *text; /* for RULE_IS and RULE_IS_NOT */
    double number;    /* for RULE_ABOVE and RULE_BELOW */
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
extern const struct rules rules_of_disk; /* the database's: doctor_disk.c */

/* Apply each rule whose fact exists: add its finding, or one of severity OK. */
void rules_apply(const struct rules *rules, const struct facts *facts, struct findings *out);

/* The value of a fact; empty: the fact does not exist. */
struct str rules_fact(const struct facts *facts, const char *name);

/*
 * Read the facts of an answer to INFO of Redis ("name:value" lines) into the arena. If maxmemory is set, add
 * `used_memory_percent`.
 */
void rules_read_info(struct str info, struct arena *arena, struct facts *out);

#endif
