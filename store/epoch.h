/*
 * epoch.h - after a fail-over or a restore, versions that a lost timeline handed out must never come back.
 *
 * The catalogue holds the system identifier and the timeline it was last written on. Who meets a database
 * with others raises the floor by an epoch, through the fence, before anybody writes: every later version
 * is above all that could have been given out before.
 */
#ifndef STORE_EPOCH_H
#define STORE_EPOCH_H

#include "store/session.h"

enum { EPOCH_SHIFT = 40 }; /* floor = epoch << EPOCH_SHIFT */

/* On every new connection. The session's catalogue is current afterwards. */
MUST_USE enum status epoch_ensure(struct session *session, struct error *err);

#endif
