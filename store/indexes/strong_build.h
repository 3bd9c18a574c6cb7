/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strong_build.h - corrects the entries of a strong index, and the owners of a unique one, from the
 * sources: while the index is built, and where a validation has found a difference.
 */
#ifndef STORE_INDEXES_STRONG_BUILD_H
#define STORE_INDEXES_STRONG_BUILD_H

#include "domain/intents/intent.h"

struct worker;

/* A source key, and an entry that was found for it and is deleted unless the source asks for it. */
struct strong_source {
    struct entity_key key;
    struct entity_key found; /* valid if has_found */
    bool has_found;
};

struct strong_mending {
    int64_t index_id;
    const struct strong_source *sources; /* sorted by key when this returns */
    size_t count;
    struct arena *arena;       /* of `violations`, and of the sorted sources */
    struct intent *violations; /* output: source keys that cannot have their entry */
    size_t violation_count;
};

/*
 * Correct the entries of these sources, in one transaction, or in several if wide entities have too much
 * to read. It locks the sources, as a write does, and reads them; then it writes every entry that they
 * ask for, and deletes the entries that were found and that they do not ask for. In a unique index the
 * first source with a value becomes its owner, and every other source with that value is a violation.
 * If the index is not strong, no entries are written. An index that does not exist any more, or is
 * being dropped, is not changed.
 */
MUST_USE enum status strong_build_mend(
    struct worker *store, struct strong_mending *mending, struct error *err);

#endif
