/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_calls.h - what an account holds, against its quotas.
 */
#ifndef STORE_ACCESS_USAGE_CALLS_H
#define STORE_ACCESS_USAGE_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* Of the operation's account. Entities, entries and bytes are as of the last count: store/background/usage_count.h. */
void usage_calls_get(struct session *session, struct operation *operation);

#endif
