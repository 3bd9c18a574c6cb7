/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_bound.h - up to which number a feed is complete.
 *
 * Writers draw numbers and commit later, in any order, so a visible number does not show that all
 * smaller ones are visible. A writer announces itself before it draws (feed_lock.sql). The bound is the
 * smaller of the last number drawn and the number before which an open transaction has begun to
 * draw: a transaction with a number up to the bound has ended. A snapshot that is taken after the bound
 * was read shows what it has committed (guard G47).
 */
#ifndef STORE_FEED_FEED_BOUND_H
#define STORE_FEED_FEED_BOUND_H

#include "store/session/session.h"

/* Send the two statements; others of the same flight come behind them. */
MUST_USE enum status feed_bound_send(struct session *session, int64_t feed_id, struct error *err);

/* Take their results. */
MUST_USE enum status feed_bound_take(struct session *session, int64_t *bound, struct error *err);

#endif
