/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_blobs.h - the contents of blobs that the entities of a batch of writes hold, before and after it.
 *
 * Only tables with blob_properties have such entities. Before the batch is planned, the rows of all contents that it
 * may give to an entity or take from one are locked, in the order of their keys (guard G60). So no content that a write
 * takes is removed before the write commits, and a content that no entity holds any more is discarded in the
 * same commit (guard G61).
 *
 * Pure.
 */
#ifndef DOMAIN_WRITES_HELD_BLOBS_H
#define DOMAIN_WRITES_HELD_BLOBS_H

#include "domain/blobs/blob_reference.h"
#include "domain/writes/write_plan.h"

/* A content of an account. */
struct held_blob {
    struct str account;
    struct blob_id content;
    bool can_be_held; /* it is complete, it has no name, and it was not discarded: filled under the lock */
};

struct held_blobs {
    struct arena *arena;
    struct held_blob *items; /* sorted by account and content, each once, after held_blobs_sort */
    size_t count, room;
};

/* Note the contents that these properties, which the row has or is to have, hold; rest: beside them. */
void held_blobs_note(struct held_blobs *blobs, const struct plan_row *row, struct property_list properties,
    struct property_rest rest);

void held_blobs_sort(struct held_blobs *blobs);

/*
 * Whether the row may have these properties next: every content that it does not hold yet can be held. Rows of other
 * tables may have any.
 *
 * STATUS_INVALID    see blob_reference_check
 * STATUS_NOT_FOUND  BLOB_NOT_FOUND: names the property
 */
MUST_USE enum status held_blobs_check(
    const struct plan_row *row, const struct row_state *next, struct error *err);

/*
 * Whether an entity of one table can be moved to the other with its blobs.
 *
 * STATUS_PRECONDITION  BLOB_PROPERTIES_REFUSED: it holds blobs, and the other table has no blob_properties
 */
MUST_USE enum status held_blobs_check_move(const struct plan_row *source, const struct plan_row *destination,
    struct arena *arena, struct error *err);

/* What the planned state of a row takes and gives up. */
struct held_change {
    struct blob_id_list taken, given_up;
};
struct held_change held_blobs_change(const struct plan_row *row, struct arena *arena);

#endif
