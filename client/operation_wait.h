/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_wait.h - waits for the end of a long-running operation that a command has begun.
 */
#ifndef CLIENT_OPERATION_WAIT_H
#define CLIENT_OPERATION_WAIT_H

#include "client/lib/tavola.h"

/*
 * reply: that of the call that has begun the operation, with the member `operation`; ended by this call, and may be
 * NULL. Returns the reply that has the operation at its end, which tavola_reply_free ends. NULL: a call failed, and
 * standard error has the cause.
 */
struct tavola_reply *operation_wait(struct tavola *client, struct tavola_reply *reply);

#endif
