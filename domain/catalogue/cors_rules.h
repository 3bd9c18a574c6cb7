/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cors_rules.h - which pages of other origins a browser may let call the service (CORS). Pure.
 *
 * The first rule whose origins and methods fit a request is the rule of the request.
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

/* Lists with commas between their elements. */
struct cors_rule {
    struct str origins; /* origins; a star stands for a part of one, or for all origins. Case matters */
    struct str methods; /* of DELETE, GET, HEAD, MERGE, POST, PATCH, OPTIONS, PUT */
    struct str allowed_headers; /* names that requests may have; a star ends a prefix. Case does not matter */
    struct str exposed_headers; /* that pages may read */
    uint32_t max_age_s;         /* for which browsers may remember the answer to a preflight */
};

struct cors_rules {
    struct cors_rule *items;
    size_t count;
};

/* INVALID_INPUT: too many rules, origins or headers, too long, an empty list of origins or methods, another method. */
MUST_USE enum status cors_rules_check(const struct cors_rules *rules, struct error *err);

/* The rule of a request; NULL: there is none. An empty origin is that of no page, so no rule fits. */
const struct cors_rule *cors_rules_find(const struct cors_rules *rules, struct str origin, struct str method);

/* Whether the rule names every origin. */
bool cors_rule_is_for_all(const struct cors_rule *rule);

/* Whether a request may have these headers: names with commas between them; may be empty. */
bool cors_rule_allows(const struct cors_rule *rule, struct str headers);

#endif
