/*
 * waiters.h - operations that wait for something to be finished: state, not threads. One statement asks for
 * all of them, some ten times a second.
 */
#ifndef STORE_WAITERS_H
#define STORE_WAITERS_H

#include <pthread.h>
#include <stdbool.h>

#include "domain/operation.h"
#include "store/session.h"

struct waiters {
    pthread_mutex_t mutex;
    struct operation *first;
    int64_t count, most;
    int64_t refused;
};

/* No more than `most` wait at once. */
void waiters_init(struct waiters *waiters, int64_t most);

/* An OPERATION_RUN_WAIT or OPERATION_TRANSACTION_WAIT. false: there is no room, it is still the caller's. */
bool waiters_add(struct waiters *waiters, struct operation *operation);

/* How many wait, and how many were refused so far. */
void waiters_count(struct waiters *waiters, int64_t *waiting, int64_t *refused);

/*
 * Take out those that are decided: finished, unknown, cancelled, or near their deadline. They come back as
 * a list, turned into the kind that gets the state as it is. With `all` everything comes back.
 */
struct operation *waiters_take(struct waiters *waiters, struct session *session, bool all);

#endif
