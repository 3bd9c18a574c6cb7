/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recheck.h - calls with a token that no account known here has signed: the account, or the key, may be newer than
 * what this server knows. They wait, as state, until the monitor has looked at the accounts once more, and are then
 * admitted or refused.
 *
 * All that wait share one look, so a flood of unknown tokens costs a small statement every 100 ms. Unknown accounts and
 * wrong keys wait alike. At most RECHECK_MAX calls wait; what comes beside them is refused at once, and so is
 * everybody while the database cannot be reached.
 */
#ifndef SERVICE_ADMISSION_RECHECK_H
#define SERVICE_ADMISSION_RECHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct caller;
struct service;

enum { RECHECK_MAX = 256 };

/* Part of a call, zeroed at first. The call must not end while it waits. */
struct recheck_call {
    struct recheck_call *next;
    int64_t since_us; /* clock_monotonic_us; 0: it has not waited */
    void (*resume)(struct recheck_call *call);
};

struct recheck {
    pthread_mutex_t lock;
    struct recheck_call *first;
    int count;
};

void recheck_init(struct recheck *recheck);
void recheck_cleanup(struct recheck *recheck);

/*
 * For a caller whom caller_identify has refused. true: the call waits, and `resume` is called once, by the store's
 * monitor, maybe before this returns; it identifies the caller again and must not block. false: the refusal stands -
 * the token was not merely unknown, the call has waited already, or too many wait.
 */
bool recheck_wait(struct service *service, const struct caller *caller, struct recheck_call *call);

/* The monitor has looked at the accounts, or has failed to: resume what had come when the look began. */
void recheck_resume(struct recheck *recheck, int64_t look_began_us);

#endif
