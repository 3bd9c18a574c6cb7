/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freshness.h - whether what reads wait for has come: their consistency tokens, their bound on staleness, and for reads
 * of the latest that not too much is open. Asked for many of them at once.
 */
#ifndef STORE_INTENTS_FRESHNESS_H
#define STORE_INTENTS_FRESHNESS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* The most source keys with something open that a look-up of the latest reads around. */
enum { FRESHNESS_MAX_OPEN = 1000 };

enum freshness_answer {
    FRESHNESS_OPEN, /* not yet: err says what is missing */
    FRESHNESS_NOW,
    FRESHNESS_NEVER, /* it will not come by itself: err */
};

struct freshness_wait {
    struct operation
        *operation; /* an OPERATION_LOOKUP. Its tokens of transactions that have ended become those of
                                    their steps */
    bool is_strong; /* the look-up is through a strong index; set by freshness_ask */
    enum freshness_answer answer;
    struct error err;
};

/* Connects where that is needed. Fails with the database; then all answers are open, and say so. */
MUST_USE enum status freshness_ask(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err);

/*
 * The part of the question that a look-up may ask by itself: of waits whose answer is FRESHNESS_NOW, those whose tokens
 * name intents that are not done get another one. is_strong is set; no token names a transaction.
 */
MUST_USE enum status freshness_ask_blocks(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err);

/* Whether the lag is within max_staleness, if that is required. */
bool freshness_is_recent(const struct freshness *freshness, const struct lag *lag);

#endif
