/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.h - limits on what an account may use of this server per second: entities that it reads and writes,
 * in all and per partition; tables and indexes that it creates, changes and deletes; bytes that its
 * compressed requests inflate to; calls that it has traced.
 *
 * Each owner has a token bucket (base/token_bucket.h). The bucket holds what the limit allows in one second;
 * for changes of tables and indexes in five seconds, for inflated bytes in a quarter of a second. An
 * operation is admitted if its bucket is not empty, and may overdraw the bucket; then the next operations are
 * refused until the debt is paid. The table of buckets has a fixed size. If a new owner needs a slot, the
 * fullest bucket is dropped, so the owner of the dropped bucket may get a little more than its rate, never
 * less.
 */
#ifndef SERVICE_ADMISSION_RATES_H
#define SERVICE_ADMISSION_RATES_H

#include "domain/operations/operation.h"

struct rates;

enum rate_scope {
    RATE_ACCOUNT,   /* entities of an account */
    RATE_PARTITION, /* entities of one partition */
    RATE_CATALOGUE, /* changes of tables and indexes by an account */
    RATE_INFLATED,  /* bytes that an account's compressed requests inflate to */
    RATE_TRACED,    /* calls that an account's callers have traced */
    RATE_SCOPES,
};

/* Per second; 0: no limit. */
struct rate_limits {
    int64_t per_second[RATE_SCOPES];
};

struct rates *rates_new(const struct rate_limits *limits);
void rates_free(struct rates *rates);

/*
 * Admit or refuse an operation. If an operation names entities by key, it counts as their number, for the
 * account and for each partition. Any other operation counts as one, for the account. STATUS_LIMIT:
 * SERVER_BUSY, the rate is used up.
 */
MUST_USE enum status rates_admit(
    struct rates *rates, const struct operation *operation, int64_t now_us, struct error *err);

/*
 * Whether a compressed message of the account may be inflated. The number of inflated bytes is only known
 * afterwards: rates_note_inflated then draws them, even if inflating failed. The account's next messages are
 * refused until the debt is paid. STATUS_LIMIT: SERVER_BUSY, the rate is used up.
 */
MUST_USE enum status rates_admit_inflating(
    struct rates *rates, struct str account, int64_t now_us, struct error *err);
void rates_note_inflated(struct rates *rates, struct str account, size_t bytes, int64_t now_us);

/* Whether a call that the account's caller has sampled is traced. It is served in either case. */
MUST_USE bool rates_admit_traced(struct rates *rates, struct str account, int64_t now_us);

/* The number of refused operations, or messages, or traces, since the start. */
long long rates_refused(const struct rates *rates, enum rate_scope scope);

#endif
