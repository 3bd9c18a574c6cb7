/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoch.h - makes sure that after a fail-over or a restore no version is given out a second time.
 *
 * The catalogue has the system identifier and the timeline on which it was last written. If a
 * session meets a database with other ones, or a database that was put back behind the state that
 * the program remembers (guard G29), it raises the floor by one epoch, through the fence, before
 * any write. So every later version is higher than all versions that may have been given out
 * before, and tokens and feed positions of earlier epochs are refused.
 */
#ifndef STORE_SESSION_EPOCH_H
#define STORE_SESSION_EPOCH_H

#include "store/session/session.h"

enum { EPOCH_SHIFT = 40 }; /* floor = epoch << EPOCH_SHIFT */

/*
 * Check the history of the database, and raise the epoch if necessary. Called on every new
 * connection, and now and then on one that lasts, so that the remembered state is recent. If the
 * epoch was raised, the session's catalogue is current afterwards.
 */
MUST_USE enum status epoch_ensure(struct session *session, struct error *err);

/*
 * Raise the epoch whatever is remembered, because an operator knows that the database was restored.
 * *epoch: the new epoch.
 *
 * STATUS_UNAVAILABLE, STATUS_PRECONDITION: see pg_ensure.
 */
MUST_USE enum status epoch_raise(const char *postgres, int64_t *epoch, struct error *err);

#endif
