/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freshness.h - whether the indexes are as fresh as waiting look-ups require: by their consistency
 * tokens, their bound on staleness and, for look-ups of the latest, by the number of open source
 * keys. One call asks for many look-ups.
 */
#ifndef STORE_INTENTS_FRESHNESS_H
#define STORE_INTENTS_FRESHNESS_H

#include "domain/operations/operation.h"

struct session;

/* The maximum number of open source keys up to which a look-up of the latest is answered. */
enum { FRESHNESS_MAX_OPEN = 1000 };

enum freshness_answer {
    FRESHNESS_OPEN, /* not reached yet; err says what is missing */
    FRESHNESS_NOW,
    FRESHNESS_NEVER, /* will not be reached by waiting; err says why */
};

struct freshness_wait {
    /*
     * an OPERATION_LOOKUP; its tokens of transactions that have ended are replaced by those of
     * their steps
     */
    struct operation *operation;
    bool is_strong; /* the look-up uses a strong index; set by freshness_ask */
    enum freshness_answer answer;
    struct error err;
};

/*
 * Ask for all waits. Connects if there is no connection. If the database cannot be used, the call
 * fails, and every answer is FRESHNESS_OPEN with that error.
 */
MUST_USE enum status freshness_ask(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err);

/*
 * The part of the question that short look-ups ask. Among the waits whose answer is FRESHNESS_NOW,
 * those whose tokens name intents that are not done get another answer. is_strong must be set, and
 * no token may name a transaction.
 */
MUST_USE enum status freshness_ask_blocks(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err);

/* Whether the lag is within max_staleness; true if max_staleness is not set. */
bool freshness_is_recent(const struct freshness *freshness, const struct lag *lag);

#endif
