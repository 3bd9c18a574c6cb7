/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_log.c - see the header.
 */
#include "service/admission/audit_log.h"

#include <stdlib.h>
#include <string.h>

#include "api/codec_error.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/random.h"
#include "domain/operations/audit_target.h"

enum { EVERY_US = 1000000, STORE_WITHIN_US = 10000000, MAX_WAITING = 256 };

#define PACKAGE "/tavola.v1."

void audit_log_init(struct audit_log *log)
{
    memset(log, 0, sizeof(*log));
    pthread_mutex_init(&log->lock, NULL);
    log->secret = random_bits();
}

void audit_log_cleanup(struct audit_log *log)
{
    pthread_mutex_destroy(&log->lock);
}

static enum audit_credential kind_of(const struct caller *caller)
{
    if (caller->presented.text.len == 0)
        return AUDIT_CREDENTIAL_NONE;
    switch (caller->presented.credential.kind) {
    case CREDENTIAL_TOKEN:
    case CREDENTIAL_SIGNED_REQUEST:
    case CREDENTIAL_BEARER:
        return AUDIT_CREDENTIAL_TOKEN;
    case CREDENTIAL_SIGNATURE:
    case CREDENTIAL_TABLE_SIGNATURE:
    case CREDENTIAL_ACCOUNT_SIGNATURE:
        break;
    }
    return AUDIT_CREDENTIAL_SIGNATURE;
}

static struct str method_of(const char *path)
{
    struct str method = str_of(path);

    return str_starts_with(method, STR_LITERAL(PACKAGE)) ? str_from(method, sizeof(PACKAGE) - 1) : method;
}

/*
 * The account of the record; empty unless the credential has been proven: before that, the account is only a
 * claim of the caller.
 */
static struct str proven_account(const struct caller *caller)
{
    if (!caller->authenticator) /* a server that stops identifies no caller */
        return STR_EMPTY;
    if (caller->authenticator->open)
        return caller->access.account;
    return caller->presented.generation ? caller->presented.credential.account : STR_EMPTY;
}

struct audit_record *audit_log_begin(
    const struct caller *caller, const char *path, const struct operation *operation, struct arena *arena)
{
    struct audit_record *record = ARENA_NEW(arena, struct audit_record);

    *record = (struct audit_record){ .call_id = (int64_t)(random_bits() >> 1),
        .account = arena_copy(arena, proven_account(caller)),
        .credential = kind_of(caller),
        .key = caller->presented.signer,
        .method = method_of(path),
        .target = operation ? audit_target_of(operation, arena) : STR_EMPTY,
        .outcome = STR_LITERAL("OK") };
    return record;
}

/* ---- records without a commit of their own ---- */

/*
 * Draw one record from the account's bucket. false: the bucket is empty. *left_out: the number of earlier
 * calls without a record, which this record counts.
 */
static bool draw(struct audit_log *log, struct str account, int64_t *left_out)
{
    int64_t now_us = clock_monotonic_us();
    struct audit_slot *slot = &log->slots[hash_slot(log->secret, account, AUDIT_SLOTS)];
    bool has_room;

    pthread_mutex_lock(&log->lock);
    has_room = atomic_load(&log->waiting) < MAX_WAITING &&
               token_bucket_draw(&slot->bucket, now_us, (int64_t)AUDIT_BURST * EVERY_US, EVERY_US);
    *left_out = slot->left_out;
    slot->left_out = has_room ? 0 : slot->left_out + 1;
    pthread_mutex_unlock(&log->lock);
    return has_room;
}

/* A drawn record was not stored: the account's next one counts it, and those that it would have counted. */
static void put_back(struct audit_log *log, struct str account, int64_t left_out)
{
    pthread_mutex_lock(&log->lock);
    log->slots[hash_slot(log->secret, account, AUDIT_SLOTS)].left_out += left_out;
    pthread_mutex_unlock(&log->lock);
}

/* An operation that the server itself runs to store a record. */
struct noting {
    struct operation operation;
    struct arena arena;
    struct audit_log *log;
};

static const char *text_of(struct str text, struct arena *arena)
{
    return arena_format(arena, "%.*s", STR_ARG(text)).data;
}

static void noted(struct operation *operation)
{
    struct noting *noting = CONTAINER_OF(operation, struct noting, operation);

    if (operation->status != STATUS_OK) {
        atomic_fetch_add(&noting->log->left_out, 1);
        put_back(noting->log, operation->account, operation->in.audit.record.left_out + 1);
        log_event(LOG_WARN, "audit_record_lost",
            log_text("method", text_of(operation->in.audit.record.method, operation->arena)),
            log_text("account", text_of(operation->account, operation->arena)),
            log_text("why", operation->error->message));
    }
    atomic_fetch_sub(&noting->log->waiting, 1);
    arena_cleanup(&noting->arena);
    free(noting);
}

static struct noting *noting_new(struct audit_log *log, const struct audit_record *record)
{
    struct noting *noting = xcalloc(1, sizeof(*noting));
    struct audit_record *copy = &noting->operation.in.audit.record;

    arena_init(&noting->arena);
    noting->log = log;
    noting->operation = (struct operation){ .kind = OPERATION_AUDIT_STORE,
        .account = arena_copy(&noting->arena, record->account),
        .arena = &noting->arena,
        .deadline_us = clock_monotonic_us() + STORE_WITHIN_US,
        .done = noted };
    *copy = *record;
    copy->account = noting->operation.account;
    copy->method = arena_copy(&noting->arena, record->method);
    copy->target = arena_copy(&noting->arena, record->target);
    return noting;
}

static struct str outcome_of(const struct error *err, struct arena *arena)
{
    return err ? arena_copy(arena, str_of(codec_error_reason(err))) : STR_LITERAL("OK");
}

void audit_log_note(
    struct audit_log *log, struct store *store, const struct audit_record *record, const struct error *err)
{
    struct noting *noting;
    int64_t left_out;

    if (!draw(log, record->account, &left_out)) {
        atomic_fetch_add(&log->left_out, 1);
        return;
    }
    noting = noting_new(log, record);
    noting->operation.in.audit.record.outcome = outcome_of(err, &noting->arena);
    noting->operation.in.audit.record.left_out = left_out;
    /*
     * A commit whose outcome is unknown may have stored the record with its number. Use the same number
     * again, so that the record is stored once.
     */
    if (err && err->status == STATUS_MAYBE_DONE && record->number > 0)
        noting->operation.in.audit.record.number--;
    atomic_fetch_add(&log->waiting, 1);
    store_submit(store, &noting->operation);
}
