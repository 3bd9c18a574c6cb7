/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_plan.h - where the entries of one source key in one index are not what the source asks for: (wanted entry,
 * stored entries, manifest) -> differences.
 *
 * Pure. What the caller hands over comes from one snapshot, so a difference is none that a write on its way will
 * explain: a key with open work is in flight, and not judged.
 */
#ifndef DOMAIN_INDEXES_VERIFY_PLAN_H
#define DOMAIN_INDEXES_VERIFY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "domain/indexes/index_plan.h"
#include "domain/operations/report_operations.h"

/* An entry as it is stored. */
struct verify_stored {
    struct entity_key key;
    int64_t version;
    uint64_t digest; /* index_plan_digest of what is stored */
};

/* What one snapshot knows about one source key. */
struct verify_case {
    int64_t index_id;
    bool in_flight;                   /* work for the key is open, or was given up */
    const struct index_entry *wanted; /* NULL: the source asks for none, or does not live */
    bool
        is_complete; /* the entry at the wanted key, if it is there, is in stored, and the manifest was read */
    bool has_manifest;        /* false: entries of this index are in no manifest */
    bool is_manifest_damaged; /* its bytes cannot be read */
    struct manifest manifest;
    const struct verify_stored
        *stored; /* entries at the wanted key, and others that name the source; each key once */
    size_t stored_count;
};

struct difference {
    enum difference_class class;
    struct entity_key entry;
    const struct index_entry *wanted;  /* what should be at that key; NULL: nothing */
    const struct verify_stored *found; /* what is there; NULL: nothing */
};

/*
 * The differences of a case, at most verify_plan_max of them, in the order: at the wanted key, then dangling entries.
 * Without is_complete only dangling ones are looked for. A manifest is a difference of its own only where the entry at
 * the wanted key is right, and not for naming an entry that dangles. out borrows from the case.
 */
size_t verify_plan(const struct verify_case *facts, struct difference *out);
size_t verify_plan_max(const struct verify_case *facts);

#endif
