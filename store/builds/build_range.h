/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range.h - reads the entities of one chunk of a build, and their state rows, without locks:
 * flights 1 and 2 of build_walk.c. The types of a turn and of a chunk are declared here too.
 */
#ifndef STORE_BUILDS_BUILD_RANGE_H
#define STORE_BUILDS_BUILD_RANGE_H

#include "domain/catalogue/catalogue.h"
#include "domain/intents/intent.h"
#include "domain/writes/unique_owners.h"
#include "store/indexes/source_keys.h"
#include "store/jobs/job.h"
#include "store/jobs/turn.h"

/*
 * Where a turn of a walk begins, and the builds of other indexes that take part in it. Memory is in
 * the job's arena.
 */
struct build_walk_start {
    struct job *job;
    bool is_gone;   /* the index does not exist any more */
    bool has_bound; /* another build has its cursor at `bound`, where the turn ends at the latest */
    struct entity_key bound;
    struct turn_position position;
    bool is_ordered; /* chunks write one after the other: the first entity with a value owns it */
    /* builds of other indexes, claimed by this worker until build_walk_save */
    struct job *siblings;
    size_t sibling_count;
};

/* A chunk: where it begins, and its result. */
struct build_walk {
    const struct build_walk_start *start;
    struct worker *store; /* of the thread that does the chunk */
    struct arena *arena;  /* of the members below */
    /* receives the end of the chunk; NULL: no chunk follows, or the turn knows the end already */
    struct turn *turn;
    struct turn *order; /* the turn in which chunks write one after the other; NULL: in any order */
    size_t number;      /* of the chunk, in that order */
    struct turn_position position; /* where the chunk begins */
    bool is_end_reported;          /* the turn knows that the chunk ends with the key `reported_end` */
    struct entity_key reported_end;
    /* before the chunk: it may have large entities; after it: it has some */
    bool has_large;
    bool is_gone;  /* copied from the start */
    bool is_unfit; /* the chunk begins with an entity that is too large to be locked with others */
    bool is_last;  /* the chunk has reached the end of the table */
    int64_t rows;  /* entities in the chunk */
    /* `end` is set: the chunk found entities, or had a bound */
    bool has_end;
    struct entity_key end; /* every key up to here is done, except `others` */
    struct intent *others; /* source keys that have to be reconciled one by one */
    size_t other_count;
    int64_t *unique_ids; /* indexes of which the others have to be made owners before */
    size_t unique_count;
};

/*
 * The columns of walk_rows; the other statements that return keys also have the key in the first
 * two columns.
 */
enum row_column { ROW_PARTITION, ROW_ROW, ROW_VERSION, ROW_TS, ROW_EXPIRES, ROW_PROPERTIES };

/* What the chunk does with a source key. */
enum walk_disposition {
    KEY_LEFT,    /* nothing: its entries exist, or it has none */
    KEY_CREATED, /* insert its state row */
    KEY_CHANGED, /* change its state row */
    KEY_OTHER,   /* leave the key to a reconcile */
};

/* A value of a unique index that an entity asks for. */
struct walk_value {
    bool is_asked;
    struct unique_value value;
};

struct walk_key {
    struct source_key source;
    enum walk_disposition disposition;
    struct walk_value *values; /* of the range's unique indexes */
    bool is_held;              /* its state row was inserted or changed here, and is locked */
    bool is_unchanged;         /* the entity still has the version that was read */
    bool is_unowned;           /* it asks for a value that another entity owns */
    bool has_letter;           /* a dead letter came before its state row was locked */
    struct str was, manifest;  /* the state row, before and after */
};

/* A chunk while it is processed. Memory is in the session's arena. */
struct build_range {
    struct build_walk *walk;
    const struct table *table;
    bool locks_entities;    /* the rows are locked as they are read */
    struct entity_key from; /* every key up to this one is done; empty at the start of the table */
    bool has_bound;
    struct entity_key bound;
    struct walk_key *keys;
    size_t count;
    const struct index **unique; /* the unique indexes whose owners are decided here */
    size_t unique_count;
    struct unique_owners owners; /* of their values */
};

/* Add the ids of all indexes of this table that are being built together. Returns their number. */
size_t build_range_list_candidates(const struct table *table, struct pg_array *out);

/* Fill params with the table, the first key of the chunk and the last one. */
void build_range_params(const struct build_range *range, struct arena *arena, struct pg_params *params);

/*
 * Find the key that this row names in its first two columns, searching from *next, which moves
 * behind the key. Returns NULL if the chunk does not contain the row's key. Rows and keys must be
 * in the same order.
 */
struct walk_key *build_range_find_key(struct build_range *range, size_t *next, const PGresult *rows, int row);

/*
 * Read the next entities, up to the bounds of one chunk, fill range->keys, and report the end of
 * the chunk to the turn. The keys borrow from *rows. If entities are locked and the first one is
 * large, the walk becomes unfit.
 */
MUST_USE enum status build_range_read_rows(
    struct session *session, struct build_range *range, PGresult **rows, struct error *err);

/*
 * Read the state rows of all keys. Keys that have a dead letter become KEY_OTHER. The keys borrow
 * from *states.
 */
MUST_USE enum status build_range_read_states(
    struct session *session, struct build_range *range, PGresult **states, struct error *err);

/*
 * Send the question which of the keys have a dead letter, by itself or for an index that is being
 * built together with others.
 */
MUST_USE enum status build_range_send_letters(
    struct session *session, const struct build_range *range, struct error *err);

#endif
