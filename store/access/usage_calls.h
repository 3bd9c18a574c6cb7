/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_calls.h - the usage of an account, and its quotas.
 */
#ifndef STORE_ACCESS_USAGE_CALLS_H
#define STORE_ACCESS_USAGE_CALLS_H

#include "domain/operations/operation.h"

struct session;

/*
 * Give an OPERATION_USAGE_GET its outcome. Entities, entries and bytes are as of the last count:
 * store/background/usage_count.h.
 */
void usage_calls_get(struct session *session, struct operation *operation);

/*
 * Whether an account may store more bytes, outside a transaction. A worker knows the account's own quota, and not that
 * of the servers' settings.
 *
 *   STATUS_LIMIT  QUOTA_EXCEEDED: the quota was used up at the last count
 */
MUST_USE enum status usage_calls_admit_bytes(struct session *session, struct str account, struct error *err);

#endif
