/* SPDX-License-Identifier: Apache-2.0 */
/*
 * migration_header.h - what a migration says of itself in the comments at its top, for programs of
 * other versions and for the operator who is about to run it. Pure functions of its text.
 *
 *     -- programs: 34
 *     -- locks: intents moment
 *     -- locks: index_state scan
 *
 * `programs` is the oldest schema version whose programs go on working when the migration has been
 * applied. A migration that only adds names an earlier version than its own: programs of both
 * versions then work beside each other. A migration that takes something away names the version in
 * which programs stopped using it. Without the line, only programs of the migration's own version
 * and later ones work.
 *
 * `locks` names a table that no other session can use while the migration's transaction lasts, and
 * what the migration does with it meanwhile: enum migration_work. `locks: none` says that there is
 * no such table.
 */
#ifndef DOMAIN_DATABASE_MIGRATION_HEADER_H
#define DOMAIN_DATABASE_MIGRATION_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { MAX_MIGRATION_LOCKS = 8 };

enum migration_work {
    /* "moment": changes the catalogue of the database alone, whatever the table's size */
    MIGRATION_MOMENT,
    MIGRATION_SCAN,    /* "scan": reads the table */
    MIGRATION_INDEX,   /* "index": reads the table and builds an index */
    MIGRATION_REWRITE, /* "rewrite": writes the table anew, with its indexes */
};

struct migration_lock {
    struct str table; /* points into the migration's text */
    enum migration_work work;
};

struct migration_header {
    int oldest_program; /* a schema version; 0: the migration does not say */
    bool says_locks;    /* there is at least one line `locks` */
    size_t lock_count;
    struct migration_lock locks[MAX_MIGRATION_LOCKS];
};

/*
 * Read the comments at the top of a migration, up to the first line that is none.
 *
 * text  the whole migration; it outlives *out
 *
 * false: a line `programs` or `locks` is not of the form above, or there are too many; *out is
 * unchanged
 */
bool migration_header_parse(struct str text, struct migration_header *out);

/*
 * For how long the work keeps others from a table, as an upper estimate for a slow disk, in
 * milliseconds.
 *
 * table_bytes  the size of the table, and for MIGRATION_REWRITE of its indexes too
 */
int64_t migration_header_estimate_ms(enum migration_work work, int64_t table_bytes);

/*
 * Whether programs of schema `known` work with a database of schema `found`.
 *
 * oldest  the largest of the oldest programs that the migrations beyond `known` have recorded; of
 * no meaning otherwise
 */
bool migration_header_accepts(int known, int found, int oldest);

#endif
