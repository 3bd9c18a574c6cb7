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
};

void waiters_init(struct waiters *waiters);

/* An OPERATION_RUN_WAIT or OPERATION_TRANSACTION_WAIT. */
void waiters_add(struct waiters *waiters, struct operation *operation);

bool waiters_any(struct waiters *waiters);

/*
 * Take out those that are decided: finished, unknown, cancelled, or near their deadline. They come back as
 * a list, turned into the kind that gets the state as it is. With `all` everything comes back.
 */
struct operation *waiters_take(struct waiters *waiters, struct session *session, bool all);

#endif
