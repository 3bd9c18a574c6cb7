/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_calls.h - the stores of chunks of blobs: what is where, and how a move of chunks begins. Workers carry it out:
 * chunk_move.h.
 */
#ifndef STORE_BACKGROUND_CHUNK_CALLS_H
#define STORE_BACKGROUND_CHUNK_CALLS_H

#include "domain/operations/operation.h"

struct session;

/* Give an OPERATION_CHUNK_STORES_LIST its outcome. */
void chunk_calls_list(struct session *session, struct operation *operation);

/*
 * Give an OPERATION_CHUNKS_MOVE its outcome: a new job, or the one of the account with this target that has not ended.
 * CHUNK_MOVE_REFUSED, TOO_MANY_OPERATIONS.
 */
void chunk_calls_move(struct session *session, struct operation *operation);

#endif
