/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.h - how many entities per second an account, and a partition of it, may read and write on this server.
 *
 * A bucket holds one second's worth. Whatever fits into what is left of it is let in whole, so a large request
 * may overdraw it and the next ones wait that off. Buckets live in a table of fixed size: where it is crowded the
 * fullest bucket is forgotten, which lets its owner have a little more, never less.
 */
#ifndef SERVICE_ADMISSION_RATES_H
#define SERVICE_ADMISSION_RATES_H

#include "domain/operations/operation.h"

struct rates;

enum rate_scope { RATE_ACCOUNT, RATE_PARTITION, RATE_SCOPES };

/* Entities per second; 0: no limit. */
struct rates *rates_new(int64_t per_account, int64_t per_partition);
void rates_free(struct rates *rates);

/*
 * Let an operation in or not. Reads and writes count by the entities they name, everything else as one, and of
 * the account only. STATUS_LIMIT / SERVER_BUSY: over the rate.
 */
MUST_USE enum status rates_admit(
    struct rates *rates, const struct operation *operation, int64_t now_us, struct error *err);

/* So many operations were not let in. */
long long rates_refused(const struct rates *rates, enum rate_scope scope);

#endif
