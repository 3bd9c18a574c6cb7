/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiters.h - operations that wait for an event before they run. A waiting operation holds neither
 * a thread nor a connection.
 *
 * One statement asks the database about all waits of one kind that are due. A new wait is asked about at
 * once, and then again after a quarter of the time that it has waited: for freshness after 3 to 250 ms, for
 * jobs and transactions after 50 to 250, for changes after 50. Intervals of 50 ms and more end at the same
 * moments for all, so that they share the statement.
 */
#ifndef STORE_LANES_WAITERS_H
#define STORE_LANES_WAITERS_H

#include <pthread.h>
#include <stdbool.h>

#include "base/fair_shares.h"
#include "domain/operations/operation.h"

struct session;

struct waiter;

struct waiters {
    pthread_mutex_t mutex;
    pthread_cond_t arrived; /* on the monotonic clock */
    bool stopped;           /* no operation is added any more */
    struct waiter *fresh;   /* the database has not been asked about these yet */
    struct waiter *waiting;
    /* when the database must be asked about one of `waiting` next; INT64_MAX: never */
    int64_t due_us;
    int64_t refused;
    int64_t count; /* of both lists, and of the waiters that waiters_take is asking about */
    struct fair_shares shares;
};

/*
 * At most max_count operations of one account wait at once, fewer when others wait
 * (base/fair_shares.h), and fewer when their questions are expensive: tokens with many buckets.
 */
void waiters_init(struct waiters *waiters, int64_t max_count);
void waiters_cleanup(struct waiters *waiters);

/*
 * Whether the operation must wait before it runs: see operation_waits_for. If its freshness was
 * reached before, it need not wait again.
 */
bool waiters_must_wait(const struct operation *operation);

/*
 * Add an operation that must wait. false: the account has no room, or waiters_stop was called, and the
 * operation still belongs to the caller.
 */
MUST_USE bool waiters_add(struct waiters *waiters, struct operation *operation);

/* Refuse all operations from now on. Those that were added are left for waiters_take. */
void waiters_stop(struct waiters *waiters);

/* The number of waiting operations, and the number of operations refused so far. */
void waiters_count(struct waiters *waiters, int64_t *waiting, int64_t *refused);

/*
 * When the database must be asked again: call waiters_take with WAITERS_DECIDED then. INT64_MAX:
 * nothing waits.
 */
int64_t waiters_due_us(struct waiters *waiters);

/* Block until an operation is added, for at most ms milliseconds. */
void waiters_pause(struct waiters *waiters, int64_t ms);

enum waiters_which {
    /* of the operations added since the last call, those whose wait has ended */
    WAITERS_NEW_AND_DECIDED,
    /*
     * of all operations, those whose wait has ended: by the event, because the event cannot come,
     * by cancellation, or because the deadline is near
     */
    WAITERS_DECIDED,
    WAITERS_ALL, /* all operations: the server stops */
};

/*
 * Remove and return the ready operations, as a list. A *_WAIT has become the kind that answers with
 * the state as it is. A read waits no more. If the event that the read waited for will not come,
 * does not come in time, or is unknown, the read has failed: its error is set, and it is ready for
 * done().
 */
struct operation *waiters_take(struct waiters *waiters, struct session *session, enum waiters_which which);

#endif
