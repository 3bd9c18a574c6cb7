/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_wait.h - waits for the end of a long-running operation that a command has begun or found.
 */
#ifndef CLIENT_OPERATION_WAIT_H
#define CLIENT_OPERATION_WAIT_H

#include "client/lib/tavola.h"

/*
 * reply: that of the call that has begun the operation, or has got it, with the member `operation`; ended by this call,
 * and may be NULL. seconds: how long to wait at most; 0: until the end. Returns the reply that has the operation at its
 * end, or as it is when the time is up; tavola_reply_free ends it. NULL: a call failed, and standard error has the
 * cause.
 */
struct tavola_reply *operation_wait(struct tavola *client, struct tavola_reply *reply, int64_t seconds);

/* Whether the operation in a reply will not change any more. */
bool operation_wait_has_ended(const struct tavola_record *reply);

#endif
