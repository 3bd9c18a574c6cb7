/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rates.h - limits on what an account may take of this server per second: entities that it reads and writes, in all and of
 * one partition; tables and indexes that it creates, changes and deletes; bytes that its compressed requests inflate to.
 *
 * Each owner has a token bucket (base/token_bucket.h) of one second; that of changes of tables and indexes is of five, that of inflated bytes of a quarter. An
 * operation is admitted if its bucket is not empty, and may overdraw the bucket; the next operations are refused until the
 * debt is paid. The table of buckets has a fixed size: if a new owner needs the slot of another, the fullest bucket is
 * dropped, and its owner may get a little more than its rate, never less.
 */
#ifndef SERVICE_ADMISSION_RATES_H
#define SERVICE_ADMISSION_RATES_H

#include "domain/operations/operation.h"

struct rates;

enum rate_scope {
    RATE_ACCOUNT,   /* entities of an account */
    RATE_PARTITION, /* entities of a partition */
    RATE_CATALOGUE, /* an account's changes of tables and indexes */
    RATE_INFLATED,  /* bytes that an account's compressed requests inflate to */
    RATE_SCOPES,
};

/* 0: no limit. */
struct rate_limits {
    int64_t per_second[RATE_SCOPES];
};

struct rates *rates_new(const struct rate_limits *limits);
void rates_free(struct rates *rates);

/*
 * Admit an operation, or refuse it. An operation that names entities by key counts as many, for the account and for
 * their partitions; any other counts as one, for the account. STATUS_LIMIT / SERVER_BUSY: the rate is used up.
 */
MUST_USE enum status rates_admit(
    struct rates *rates, const struct operation *operation, int64_t now_us, struct error *err);

/*
 * May a compressed message of the account be inflated? What it becomes is known afterwards: rates_note_inflated then draws the
 * bytes, also if inflating failed, and the account's next messages are refused until they are paid off.
 * STATUS_LIMIT / SERVER_BUSY: the rate is used up.
 */
MUST_USE enum status rates_admit_inflating(
    struct rates *rates, struct str account, int64_t now_us, struct error *err);
void rates_note_inflated(struct rates *rates, struct str account, size_t bytes, int64_t now_us);

/* The number of operations, or messages, refused so far. */
long long rates_refused(const struct rates *rates, enum rate_scope scope);

#endif
