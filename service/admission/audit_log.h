/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_log.h - the records of administrative calls, as calls make them.
 *
 * A call that changes something commits its record with the change (store/session/audit_row.h). All others are recorded
 * here, after their answer is known, by an operation of the server's own. So that no caller can fill the database with
 * refused calls, an account gets at most AUDIT_BURST such records at once and one a second on average; what is left out is
 * counted, and the next record of the account has the number.
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

enum { AUDIT_BURST = 20, AUDIT_SLOTS = 256 };

struct audit_slot {
    struct token_bucket bucket; /* of AUDIT_BURST records, in microseconds */
    int64_t left_out;
};

struct audit_log {
    pthread_mutex_t lock; /* of slots */
    uint64_t secret;      /* accounts are spread over slots by a hash that no caller knows */
    struct audit_slot slots[AUDIT_SLOTS];
    atomic_int waiting;
    atomic_llong left_out; /* calls without a record, since the start */
};

void audit_log_init(struct audit_log *log);
void audit_log_cleanup(struct audit_log *log);

/*
 * The record of a call, in the arena: the caller, as far as its credential has been proven, the method ("/tavola.v1.X/Y") and
 * what the operation names. operation: NULL if the request was not read.
 */
struct audit_record *audit_log_begin(
    const struct caller *caller, const char *path, const struct operation *operation, struct arena *arena);

/*
 * The call has ended, and no commit carries its record. err: NULL if it ended with OK. If the outcome of a commit is not
 * known and the commit did take effect, the record that it carries stays.
 */
void audit_log_note(
    struct audit_log *log, struct store *store, const struct audit_record *record, const struct error *err);

#endif
