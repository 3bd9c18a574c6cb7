/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiters.h - operations that wait for something to be finished: state, not threads, and no connection is held.
 * One statement asks for all that are due, at most twenty times a second for each; those that have just come
 * are asked for at once. Reads that must be fresh are asked for soon at first, then ever more seldom.
 */
#ifndef STORE_LANES_WAITERS_H
#define STORE_LANES_WAITERS_H

#include <pthread.h>
#include <stdbool.h>

#include "domain/operations/operation.h"
#include "store/session/session.h"

struct waiters {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;  /* on the monotonic clock */
    struct operation *fresh; /* nobody has asked for them yet */
    struct operation *waiting;
    int64_t due_us; /* when one of `waiting` is to be asked for next; INT64_MAX: never */
    bool is_called; /* by waiters_wake */
    int64_t most, refused;
    int64_t count; /* of both lists, and of those that are being asked for */
};

/* No more than `most` wait at once. */
void waiters_init(struct waiters *waiters, int64_t most);
void waiters_cleanup(struct waiters *waiters);

/*
 * An OPERATION_JOB_WAIT, an OPERATION_TRANSACTION_WAIT, an OPERATION_CHANGES_WAIT, a read with wait_for_transaction,
 * or an OPERATION_LOOKUP that must be fresh. false: there is no
 * room, it is still the caller's.
 */
MUST_USE bool waiters_add(struct waiters *waiters, struct operation *operation);

/* How many wait, and how many were refused so far. */
void waiters_count(struct waiters *waiters, int64_t *waiting, int64_t *refused);

/* When somebody is to be asked for again: WAITERS_DECIDED is due then. */
int64_t waiters_due_us(struct waiters *waiters);

/* Wait until somebody has come or waiters_wake was called, ms at most. */
void waiters_pause(struct waiters *waiters, int64_t ms);
void waiters_wake(struct waiters *waiters);

enum waiters_which {
    WAITERS_NEW_AND_DECIDED, /* of those that have just come, the ones that are decided */
    WAITERS_DECIDED,         /* of all, the ones that are decided: finished, unknown, cancelled, or near their
                                deadline */
    WAITERS_ALL,             /* the server stops: all */
};

/*
 * Remove and return the ready operations, as a list. A *_WAIT has become the matching *_GET, which answers with the
 * state as it is. A read waits no more; if what it waited for will not come, does not come in time, or is unknown,
 * the read has failed: its error is set, and it is ready for done().
 */
struct operation *waiters_take(struct waiters *waiters, struct session *session, enum waiters_which which);

#endif
