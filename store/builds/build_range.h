/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range.h - the entities of one chunk of a build, and their state rows, read without locks: flights 1 and 2 of
 * build_walk.c; and what a turn and a chunk of it are.
 */
#ifndef STORE_BUILDS_BUILD_RANGE_H
#define STORE_BUILDS_BUILD_RANGE_H

#include "domain/catalogue/catalogue.h"
#include "domain/intents/intent.h"
#include "store/indexes/source_keys.h"
#include "store/jobs/job.h"
#include "store/jobs/turn.h"

/* Where a turn of a walk begins, and the builds that come along; memory is the job's. */
struct build_walk_start {
    struct job *job;
    bool is_gone;   /* there is no such index any more */
    bool is_unfit;  /* the table has indexes that cannot be built in ranges: nothing was done */
    bool has_bound; /* another build stands at `bound`: the turn ends there at the latest */
    struct entity_key bound;
    struct turn_position position;
    struct job *siblings; /* builds of other indexes, claimed by this worker until build_walk_save */
    size_t sibling_count;
};

/* A chunk: where it begins, and what it has found. */
struct build_walk {
    const struct build_walk_start *start;
    struct worker *store; /* of the thread that does the chunk */
    struct arena *arena;  /* of the members below */
    /* gets the end of the chunk; NULL: no chunk follows, or the turn has the end already */
    struct turn *turn;
    struct turn_position position; /* where it begins */
    bool is_told;                  /* the turn knows that the chunk ends with the key `told` */
    struct entity_key told;
    bool has_large;         /* before the chunk: it may have large entities; after it: it has some */
    bool is_gone, is_unfit; /* as of the start */
    bool is_last;           /* the chunk has reached the end of the table */
    int64_t rows;           /* entities in the chunk */
    bool has_end;           /* the chunk has an end: it found entities, or had a bound */
    struct entity_key end;  /* of the chunk: every key up to here is done, except `others` */
    struct intent *others;  /* source keys that have to be reconciled one by one */
    size_t other_count;
};

/* The columns of walk_rows; the first two are also those of all rows that name a key. */
enum row_column { ROW_PARTITION, ROW_ROW, ROW_VERSION, ROW_TS, ROW_EXPIRES, ROW_PROPERTIES };

/* What is done with a source key. */
enum walk_disposition {
    KEY_LEFT,    /* nothing: its entries exist, or it has none */
    KEY_CREATED, /* its state row is to be made */
    KEY_CHANGED, /* its state row is to be changed */
    KEY_OTHER,   /* it is left to a reconcile */
};

struct walk_key {
    struct source_key source;
    enum walk_disposition disposition;
    bool is_held;             /* its state row has been made or changed, and is locked */
    bool is_unchanged;        /* the entity, since it was read */
    struct str was, manifest; /* of the state row, before and after */
};

/* A chunk under way; memory is the session's. */
struct build_range {
    struct build_walk *walk;
    const struct table *table;
    struct entity_key from; /* everything up to here is done already; without such a key empty */
    bool has_bound;
    struct entity_key bound;
    struct walk_key *keys;
    size_t count;
};

/*
 * Whether the index may be built in ranges: no index of the table is unique, because owners of values are decided key
 * by key, or has a manifest that is written with the entity, because that writer holds the lock of the entity instead
 * of the state row's.
 */
bool build_range_is_fit(const struct table *table, const struct index *index);

/* Add the ids of all indexes that are being built in ranges of this table. Returns how many they are. */
size_t build_range_list_candidates(const struct table *table, struct pg_array *out);

/* Fill params with the table, the first key of the chunk and the last one. */
void build_range_params(const struct build_range *range, struct arena *arena, struct pg_params *params);

/*
 * The key that this row names in its first two columns, searched from *next, which moves behind it; NULL: the row's key
 * is not of the chunk. Rows and keys are in the same order.
 */
struct walk_key *build_range_find_key(struct build_range *range, size_t *next, const PGresult *rows, int row);

/*
 * Read the next entities, at most as many as one chunk may have, fill range->keys, and report the end of the chunk to
 * the turn. The keys borrow from *rows.
 */
MUST_USE enum status build_range_read_rows(
    struct session *session, struct build_range *range, PGresult **rows, struct error *err);

/* Read the state rows of all keys. Keys that have a dead letter become KEY_OTHER. The keys borrow from *states. */
MUST_USE enum status build_range_read_states(
    struct session *session, struct build_range *range, PGresult **states, struct error *err);

#endif
