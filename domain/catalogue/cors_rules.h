/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cors_rules.h - which pages of other origins a browser may let call the service (CORS). Pure.
 *
 * The first rule whose origins and methods match a request applies to it.
 */
#ifndef DOMAIN_CATALOGUE_CORS_RULES_H
#define DOMAIN_CATALOGUE_CORS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum {
    MAX_CORS_RULES = 5,
    MAX_CORS_BYTES = 2048,
    MAX_CORS_ORIGINS = 64,
    MAX_CORS_ORIGIN_BYTES = 256,
    MAX_CORS_HEADERS = 66
};

/* Lists have commas between their elements. */
struct cors_rule {
    /* a star matches a part of an origin, or, alone, every origin; case matters */
    struct str origins;
    struct str methods; /* of DELETE, GET, HEAD, MERGE, POST, PATCH, OPTIONS, PUT */
    /* names that requests may have; a star at the end matches any rest; case does not matter */
    struct str allowed_headers;
    struct str exposed_headers; /* names that pages may read */
    uint32_t max_age_s;         /* how long browsers may remember the answer to a preflight */
};

struct cors_rules {
    struct cors_rule *items;
    size_t count;
};

/*
 * INVALID_INPUT: too many rules, origins or headers, too long, an empty list of origins or methods,
 * another method.
 */
MUST_USE enum status cors_rules_check(const struct cors_rules *rules, struct error *err);

/*
 * The rule that applies to a request; NULL if there is none. An empty origin matches no rule, since
 * no page has it.
 */
const struct cors_rule *cors_rules_find(const struct cors_rules *rules, struct str origin, struct str method);

/* Whether the rule matches every origin. */
bool cors_rule_is_for_all(const struct cors_rule *rule);

/* Whether a request may have these headers: names with commas between them; may be empty. */
bool cors_rule_allows(const struct cors_rule *rule, struct str headers);

#endif
