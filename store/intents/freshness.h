/*
 * freshness.h - whether what reads wait for has come: their consistency tokens, their bound on staleness, and for reads
 * of the latest that not too much is open. Asked for many of them at once.
 */
#ifndef STORE_INTENTS_FRESHNESS_H
#define STORE_INTENTS_FRESHNESS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* The most source keys with something open that a look-up of the latest reads around. */
enum { FRESH_MOST_OPEN = 1000 };

enum fresh_answer {
    FRESH_OPEN, /* not yet: err says what is missing */
    FRESH_NOW,
    FRESH_NEVER, /* it will not come by itself: err */
};

struct fresh_wait {
    struct operation
        *operation; /* an OPERATION_LOOKUP. Its tokens of transactions that have ended become those of
                                    their steps */
    enum fresh_answer answer;
    struct error err;
};

/* Connects where that is needed. Fails with the database; then all answers are open, and say so. */
MUST_USE enum status fresh_ask(
    struct session *session, struct fresh_wait *waits, size_t count, struct error *err);

#endif
