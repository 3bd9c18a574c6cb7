/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_set.h - the rows a batch of writes touches: sorted by key, each once, and which row every write
 * means.
 */
#ifndef STORE_ENTITIES_WRITE_SET_H
#define STORE_ENTITIES_WRITE_SET_H

#include "domain/operations/operation.h"
#include "domain/writes/unique_owners.h"
#include "store/entities/request_rows.h"
#include "store/session/session.h"

struct planned {
    struct operation *operation;
    struct plan_row **rows; /* of its writes, in their order */
};

struct write_set {
    struct plan_row *rows;
    struct str *ctids; /* of the rows, once they are locked */
    size_t row_count;
    struct planned *planned;
    size_t planned_count;
    struct requests requests;
    /* Of the intents to come: rows[i] has ids.first + i; set once the rows are locked. */
    struct intent_block ids;
    bool is_blind; /* all are unconditional upserts, no indexes, each key and each request_id once */
    bool has_feed; /* some rows are of tables with a change feed */
    struct unique_owners *owners; /* NULL: no table of the rows has a unique index */
    bool has_states;              /* some rows have a strong_state */
    struct str *state_places;     /* of the index state rows that are held: ctids */
};

/*
 * Resolve and sort. Operations that fail already (no such table, a table that belongs to an index) get
 * their outcome and are left out.
 */
void write_set_build(struct write_set *set, struct session *session, struct operation *batch);

/*
 * The intents that a planned operation leaves open, by what is planned so far; NULL: none, or it has failed. It may
 * name more than its own of the same commit.
 */
const struct consistency *write_set_left_open(
    const struct write_set *set, const struct planned *planned, int64_t epoch, struct arena *arena);

#endif
