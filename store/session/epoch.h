/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch.h - after a fail-over or a restore, versions that a lost timeline handed out must never come back.
 *
 * The catalogue holds the system identifier and the timeline it was last written on. A session that meets a database
 * with others, or one that was put back behind what the program remembers of it (guard G29), raises the floor by an
 * epoch, through the fence, before any write: every later version is above all that could have been given out
 * before, and tokens and positions in feeds of the epochs before are refused.
 */
#ifndef STORE_SESSION_EPOCH_H
#define STORE_SESSION_EPOCH_H

#include "store/session/session.h"

enum { EPOCH_SHIFT = 40 }; /* floor = epoch << EPOCH_SHIFT */

/*
 * On every new connection, and now and then on one that lasts, so that what is remembered is recent. The session's
 * catalogue is current afterwards where the epoch was raised.
 */
MUST_USE enum status epoch_ensure(struct session *session, struct error *err);

/*
 * Raise the epoch, whatever is remembered: an operator knows that the database was restored. *epoch: the new one.
 * STATUS_UNAVAILABLE, STATUS_PRECONDITION: see pg_ensure
 */
MUST_USE enum status epoch_raise(const char *postgres, int64_t *epoch, struct error *err);

#endif
