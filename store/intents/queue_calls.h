/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_calls.h - operators' requests about queues: controlling them, and reading their state.
 */
#ifndef STORE_INTENTS_QUEUE_CALLS_H
#define STORE_INTENTS_QUEUE_CALLS_H

#include "domain/operations/operation.h"

struct session;

/* Read how intents are spread over queues now. */
MUST_USE enum status queue_calls_read_map(struct session *session, struct queue_map *out, struct error *err);

/* Give an OPERATION_QUEUES_LIST its outcome: every queue with both kinds of work, as of now. */
void queue_calls_list(struct session *session, struct operation *operation);

/* Give an OPERATION_BACKLOG its outcome. */
void queue_calls_backlog(struct session *session, struct operation *operation);

/*
 * Give an OPERATION_QUEUE_CONTROL its outcome: the change is durable, and the outcome has the
 * changed queues as they are then.
 */
void queue_calls_control(struct session *session, struct operation *operation);

#endif
