/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue_calls.h - how operators control queues, and what they read about them.
 */
#ifndef STORE_INTENTS_QUEUE_CALLS_H
#define STORE_INTENTS_QUEUE_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* How work is spread over queues now. */
MUST_USE enum status queue_calls_read_map(struct session *session, struct queue_map *out, struct error *err);

/* Give an OPERATION_QUEUES_LIST its outcome: every queue, both kinds of work, as of now. */
void queue_calls_list(struct session *session, struct operation *operation);

/* OPERATION_QUEUE_CONTROL: durable when it is answered, with the work it was about as it is then. */
void queue_calls_control(struct session *session, struct operation *operation);

#endif
