/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recheck.h - calls whose credential was not signed by any key of the access snapshot. The account or the key
 * may be newer than the snapshot. Such calls wait, without a thread, until the monitor has read the accounts
 * again, and are then admitted or refused.
 *
 * All waiting calls share one reading, so a flood of unknown credentials costs one small statement every 100
 * ms. Unknown accounts and wrong keys wait equally long. At most RECHECK_MAX calls wait; further calls are
 * refused at once. While the server cannot reach the database, all such calls are refused at once.
 */
#ifndef SERVICE_ADMISSION_RECHECK_H
#define SERVICE_ADMISSION_RECHECK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct caller;
struct service;

enum { RECHECK_MAX = 256 };

/* A member of each call. All zero at first. The call must not end while it waits: call recheck_leave before. */
struct recheck_call {
    struct recheck_call *next;
    int64_t since_us; /* clock_monotonic_us; 0: the call has not waited */
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
 * Called when caller_identify has refused a caller. true: the call waits. The store's monitor calls `resume` once,
 * maybe before this function returns, unless the call leaves before; `resume` must identify the caller again and must
 * not block. false: the refusal is final, because the signer of the credential is known, the call has waited before, or
 * too many calls wait.
 */
bool recheck_wait(struct service *service, const struct caller *caller, struct recheck_call *call);

/*
 * End the wait of a call whose caller has gone. When this returns, the call is not in the list and no `resume` of it
 * runs; it may have been resumed before. Harmless for a call that has not waited. Not to be called by `resume`.
 */
void recheck_leave(struct recheck *recheck, struct recheck_call *call);

/* The monitor has read the accounts, or has failed: resume the calls that waited when it began. */
void recheck_resume(struct recheck *recheck, int64_t look_began_us);

#endif
