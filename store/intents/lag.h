/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.h - reads how far the workers' index updates are behind.
 */
#ifndef STORE_INTENTS_LAG_H
#define STORE_INTENTS_LAG_H

#include "domain/operations/operation.h"

struct session;

/* The result of one reading of the watermarks. */
struct lag_seen {
    struct lag behind; /* over all bucket ranges, as the relays have stored it last */
    struct lag strong; /* of a strong index: nothing is behind, as of now by the database's clock */
};

MUST_USE enum status lag_read(struct session *session, struct lag_seen *out, struct error *err);

/*
 * The lag of single indexes, by the open intents of their tables alone: other tables, and so other
 * accounts, do not count. Look-ups that the lag of all tables would refuse ask for it.
 *
 * out[i] is that of the index which operations[i], an OPERATION_LOOKUP, names. as_of is 0 if it is not
 * known: more than LAG_MAX_OPEN intents of the table are open, or the clock was set back since one was
 * made (guard G30); open_intents is at most LAG_MAX_OPEN + 1.
 */
enum { LAG_MAX_OPEN = 1000 };

MUST_USE enum status lag_of_indexes(struct session *session, const struct operation *const *operations,
    size_t count, struct lag *out, struct error *err);

/*
 * lag_read as a statement of a flight: lag_send queues it, and lag_take takes its result in its
 * turn.
 */
MUST_USE enum status lag_send(struct session *session, struct error *err);
MUST_USE enum status lag_take(struct session *session, struct lag_seen *out, struct error *err);

#endif
