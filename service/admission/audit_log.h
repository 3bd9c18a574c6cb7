/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_log.h - the audit records of administrative calls.
 *
 * A call that changes something commits its record with the change (store/session/audit_row.h). The record of
 * any other call is stored here, when its result is known, by an operation that the server runs. So that a
 * caller cannot fill the database with refused calls, an account gets at most AUDIT_BURST such records at
 * once and one per second on average. Calls without a record are counted, and the account's next record has
 * their number.
 */
#ifndef SERVICE_ADMISSION_AUDIT_LOG_H
#define SERVICE_ADMISSION_AUDIT_LOG_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/token_bucket.h"
#include "domain/operations/operation.h"
#include "service/admission/caller.h"
#include "store/store.h"

enum { AUDIT_BURST = 20, AUDIT_SLOTS = 4096 };

struct audit_slot {
    struct token_bucket bucket; /* of AUDIT_BURST records; its unit is the microsecond */
    int64_t left_out;
};

struct audit_log {
    pthread_mutex_t lock; /* guards slots */
    /* keys the hash that selects an account's slot, so that no caller can choose its slot */
    uint64_t secret;
    struct audit_slot slots[AUDIT_SLOTS];
    atomic_int waiting;
    atomic_llong left_out; /* calls without a record since the start */
};

void audit_log_init(struct audit_log *log);
void audit_log_cleanup(struct audit_log *log);

/*
 * Make the record of a call, in the arena: the caller, as far as its credential has been proven, the method
 * ("/tavola.v1.X/Y") and the target of the operation. operation: NULL if the request was not read.
 */
struct audit_record *audit_log_begin(
    const struct caller *caller, const char *path, const struct operation *operation, struct arena *arena);

/*
 * Store the record of a call that has ended and whose record no commit has stored. err: NULL if the call
 * ended with OK. If the outcome of a commit is unknown and the commit took effect, the record that it has
 * stored stays as it is.
 */
void audit_log_note(
    struct audit_log *log, struct store *store, const struct audit_record *record, const struct error *err);

#endif
