/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_set.h - the rows that a batch of writes changes, sorted by key, each once, and the row that
 * each write refers to.
 */
#ifndef STORE_ENTITIES_WRITE_SET_H
#define STORE_ENTITIES_WRITE_SET_H

#include "domain/operations/operation.h"
#include "domain/writes/unique_owners.h"
#include "store/entities/request_rows.h"

struct session;

struct planned {
    struct operation *operation;
    struct plan_row **rows; /* the row of each write, in the order of the writes */
};

struct write_set {
    struct plan_row *rows;
    struct str *ctids; /* of the rows, once these are locked */
    size_t row_count;
    struct planned *planned;
    size_t planned_count;
    struct requests requests;
    /*
     * The ids reserved for intents: rows[i] has ids.first + i, and its work for copy rules those from
     * its rules->first_intent on. Set once the rows are locked.
     */
    struct intent_block ids;
    size_t intent_count; /* how many ids the rows can need */
    /*
     * All writes are unconditional upserts that need not read what is stored: no table has an index, or its indexes are
     * eventual and the upsert needs an intent whatever is stored (guard G75). Each request_id occurs once. So does each
     * key, unless all operations are single upserts without a request_id, into tables without a feed.
     */
    bool is_blind;
    bool leaves_intents; /* of a blind set: some row's table has an index */
    /*
     * Where the rows lie after the write; zeros: not known. NULL until the blind upserts, or
     * batch_intents_take_commit, have set it.
     */
    struct row_ctid *written_ctids;
    /* Of a blind set: for how many of them each row stands. It offers what the last of these writes. */
    int64_t *upserts;
    bool is_repeated; /* one of these is above 1 */
    bool has_insert;  /* some write expects that its entity is absent */
    bool are_held;    /* the rows are expected to exist: they are locked and read, and none is created */
    bool lacks_rows;  /* one does not exist, so nothing was decided */
    bool has_feed;    /* some row's table has a change feed */
    bool is_wide;     /* some row's table may have wide entities */
    struct unique_owners *owners; /* NULL: no row's table has a unique index */
    struct held_blobs *blobs;     /* NULL: no row's table has blob_properties */
    bool has_states;              /* some row has a strong_state */
    struct str *state_places;     /* ctids of the locked index state rows */
};

/*
 * Resolve the tables and sort the rows. An operation that fails here (no such table, a table that
 * belongs to an index) gets its outcome and is left out.
 */
void write_set_build(struct write_set *set, struct session *session, struct operation *batch);

/* Whether flight 2 updates the row with entity_update: the rows of wide tables have a statement of their own. */
bool write_set_updates(const struct plan_row *row);

/*
 * The intents that a planned operation leaves open, according to the plan so far; NULL: it leaves
 * none, or has failed. The block of ids may include intents of other operations in the same commit.
 */
const struct consistency *write_set_left_open(
    const struct write_set *set, const struct planned *planned, int64_t epoch, struct arena *arena);

#endif
