/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_plan.h - where the entries of one source key in one index differ from what the source asks
 * for: (wanted entry, stored entries, manifest) -> differences.
 *
 * Pure. All arguments come from one snapshot. A key with open work is in flight and is not judged,
 * so no difference is only a write that is not finished.
 */
#ifndef DOMAIN_INDEXES_VERIFY_PLAN_H
#define DOMAIN_INDEXES_VERIFY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "domain/indexes/index_plan.h"
#include "domain/operations/report_operations.h"

/* A stored entry. */
struct verify_stored {
    struct entity_key key;
    int64_t version;
    uint64_t digest; /* index_plan_digest of the stored entry */
};

/* What one snapshot shows about one source key. */
struct verify_case {
    int64_t index_id;
    bool in_flight;                   /* the key has an open intent or a dead letter */
    const struct index_entry *wanted; /* NULL: the source asks for none, or is not live */
    /* `stored` has the entry at the wanted key, if it exists, and the manifest was read */
    bool is_complete;
    bool has_manifest;        /* false: entries of this index are in no manifest */
    bool is_manifest_damaged; /* it cannot be decoded */
    struct manifest manifest;
    /* the entries at the wanted key, and others that name the source; each key once */
    const struct verify_stored *stored;
    size_t stored_count;
};

struct difference {
    enum difference_class class;
    struct entity_key entry;
    const struct index_entry *wanted;  /* the entry that should be at that key; NULL: none */
    const struct verify_stored *found; /* the entry that is there; NULL: none */
};

/*
 * Find the differences of a case, at most verify_plan_max: first the one at the wanted key, then
 * dangling entries. Without is_complete, only dangling entries are searched. A wrong manifest is a
 * difference of its own only if the entry at the wanted key is right, and not if it only names a
 * dangling entry. out borrows from the case.
 */
size_t verify_plan(const struct verify_case *facts, struct difference *out);
size_t verify_plan_max(const struct verify_case *facts);

#endif
