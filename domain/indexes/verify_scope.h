/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_scope.h - limits the verification of an index to the entries with given values: those that
 * a look-up of these values reads. Pure.
 */
#ifndef DOMAIN_INDEXES_VERIFY_SCOPE_H
#define DOMAIN_INDEXES_VERIFY_SCOPE_H

#include "domain/indexes/lookup_plan.h"

/* The values of a look-up in their stored form; empty if it has none. */
struct str verify_scope_encode(const struct operation_lookup *values, struct arena *arena);

struct verify_scope {
    bool is_limited; /* false: every entry */
    struct lookup_range range;
};

/*
 * Make the scope from the stored form, which is borrowed. STATUS_INVALID: INVALID_INPUT, as
 * lookup_plan.
 */
MUST_USE enum status verify_scope_plan(const struct index *index, struct str stored, struct arena *arena,
    struct verify_scope *out, struct error *err);

bool verify_scope_holds(const struct verify_scope *scope, const struct entity_key *entry);

/*
 * The first possible entry of the scope; and whether an entry, and so every later one in key order,
 * lies behind the scope.
 */
struct entity_key verify_scope_begin(const struct verify_scope *scope);
bool verify_scope_has_passed(const struct verify_scope *scope, const struct entity_key *entry);

#endif
