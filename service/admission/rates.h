/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.h - limits on the entities per second that an account, and a partition, may read and write on this server, and on
 * the tables and indexes that an account may create, change and delete per second.
 *
 * Each owner has a token bucket of one second; that of changes of tables and indexes is of five. An operation is admitted if its bucket is not empty, and may overdraw
 * the bucket; the next operations are refused until the debt is paid. The table of buckets has a fixed size: if a new
 * owner needs the slot of another, the fullest bucket is dropped, and its owner may get a little more than its rate,
 * never less.
 */
#ifndef SERVICE_ADMISSION_RATES_H
#define SERVICE_ADMISSION_RATES_H

#include "domain/operations/operation.h"

struct rates;

enum rate_scope { RATE_ACCOUNT, RATE_PARTITION, RATE_CATALOGUE, RATE_SCOPES };

/* Entities per second, and an account's changes of tables and indexes per second; 0: no limit. */
struct rates *rates_new(int64_t per_account, int64_t per_partition, int64_t changes);
void rates_free(struct rates *rates);

/*
 * Admit an operation, or refuse it. An operation that names entities by key counts as many, for the account and for
 * their partitions; any other counts as one, for the account. STATUS_LIMIT / SERVER_BUSY: the rate is used up.
 */
MUST_USE enum status rates_admit(
    struct rates *rates, const struct operation *operation, int64_t now_us, struct error *err);

/* The number of operations refused so far. */
long long rates_refused(const struct rates *rates, enum rate_scope scope);

#endif
