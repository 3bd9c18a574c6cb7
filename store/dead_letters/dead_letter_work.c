/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter_work.c - counts failures, and gives work up.
 *
 * Every function locks a row that work on the key locks too: the key's state row, the transaction's
 * row or, for copy rules, the intents themselves, which their work deletes. So no failure is
 * counted, and no key is given up, while another worker succeeds with it: a success removes the
 * key's intents, and nothing is counted for a key without an open intent.
 */
#include "store/dead_letters/dead_letter_work.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "store/indexes/source_keys.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"
#include "store/transactions/transaction_calls.h"

struct failing {
    const struct worker *store;
    const struct intent *intent;
    const struct error *cause; /* NULL if the key is given up */
    int64_t delay_ms;
    bool silent; /* count a delivery, not a failure */
    bool once;   /* set the count to at least one instead of raising it */
    int32_t count;

    /* The key as this attempt has locked it. */
    struct source_keys keys;
    struct pg_array buckets, ids; /* of the key's open intents */
    struct transaction transaction;
};

static bool is_transaction(const struct failing *failing)
{
    return failing->intent->kind == INTENT_TRANSACTION;
}

static bool is_of_rule(const struct failing *failing)
{
    return failing->intent->kind == INTENT_COPY || failing->intent->kind == INTENT_VISIT;
}

/* The bucket of work for a copy rule is not that of its table id. */
static int16_t bucket_of(const struct failing *failing)
{
    const struct intent *intent = failing->intent;

    if (is_of_rule(failing))
        return intent->bucket;
    return is_transaction(failing) ? transaction_calls_bucket(intent->key.row)
                                   : entity_key_bucket(intent->table_id, intent->key.partition);
}

/* Add the key's columns as the first five parameters of the dead letter statements. */
static void dead_letter_params(const struct failing *failing, struct arena *arena, struct pg_params *params)
{
    const struct intent *intent = failing->intent;

    pg_params_init(params, arena);
    pg_add_int2(params, intent->kind);
    pg_add_int8(params, intent->table_id);
    pg_add_bytes(params, intent->key.partition);
    pg_add_bytes(params, intent->key.row);
    pg_add_int2(params, bucket_of(failing));
}

/* ---- lock the key, and find its open intents ---- */

static enum status lock_transaction(
    struct session *session, struct failing *failing, bool *is_open, struct error *err)
{
    struct pg_params params;
    PG_RESULT row = NULL;
    int64_t now_us = 0;

    TRY(session_send_begin(session, err));
    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, failing->intent->key.partition, failing->intent->key.row);
    TRY(pg_send(&session->pg, &sql_transaction_lock, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, &now_us, err));
    TRY(pg_next(&session->pg, &row, err));
    TRY(pg_end(&session->pg, err));
    *is_open = PQntuples(row) > 0 &&
               !transaction_is_final((enum transaction_state)pg_int2(row, 0, TRANSACTION_COLUMN_STATE));
    if (!*is_open)
        return STATUS_OK;
    return transaction_calls_read_row(
        row, 0, failing->intent->key.partition, &session->arena, &failing->transaction, err);
}

/* Add the open intents. The batch has one key, so all of them belong to it. */
static void add_open_intents(struct failing *failing, const PGresult *intents)
{
    for (int i = 0; i < PQntuples(intents); i++) {
        pg_array_int2(&failing->buckets, failing->keys.keys[0].bucket);
        pg_array_intent_id(&failing->ids, pg_intent_id(intents, i, OPEN_INTENT_ID));
    }
}

static enum status lock_source_key(
    struct session *session, struct failing *failing, bool *is_open, struct error *err)
{
    PG_RESULT intents = NULL;

    source_keys_build(&failing->keys, session, &session->arena, failing->intent, 1);
    TRY(source_keys_begin(session, &failing->keys, NULL, err));
    TRY(source_keys_send_intents(
        session, source_keys_list(&failing->keys, NULL, &session->arena), &sql_intent_of_keys, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &intents, err));
    TRY(pg_end(&session->pg, err));
    add_open_intents(failing, intents);
    *is_open = PQntuples(intents) > 0;
    return STATUS_OK;
}

enum locked_column { LOCKED_INTENT };

/* The work deletes the intents that it has done, so who has locked them decides. */
static enum status lock_rule_work(
    struct session *session, struct failing *failing, bool *is_open, struct error *err)
{
    struct pg_params params;
    PG_RESULT intents = NULL;

    dead_letter_params(failing, &session->arena, &params);
    TRY(session_begin_statement(session, &sql_intent_lock, &params, &intents, err));
    for (int i = 0; i < PQntuples(intents); i++) {
        pg_array_int2(&failing->buckets, failing->intent->bucket);
        pg_array_intent_id(&failing->ids, pg_intent_id(intents, i, LOCKED_INTENT));
    }
    *is_open = PQntuples(intents) > 0;
    return STATUS_OK;
}

static bool was_made_here(const struct source_key *key)
{
    return key->applied == 0;
}

static enum status lock_key(
    struct session *session, struct failing *failing, bool *is_open, struct error *err)
{
    pg_array_init(&failing->buckets, &session->arena, PG_INT2);
    pg_array_init(&failing->ids, &session->arena, PG_UUID);
    if (is_of_rule(failing))
        return lock_rule_work(session, failing, is_open, err);
    return is_transaction(failing) ? lock_transaction(session, failing, is_open, err)
                                   : lock_source_key(session, failing, is_open, err);
}

static enum status commit_change(struct session *session, struct failing *failing, struct error *err)
{
    if (!is_transaction(failing) && !is_of_rule(failing))
        TRY(source_keys_send_state_delete(session, &failing->keys, was_made_here, err));
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

/* ---- counting ---- */

static struct str describe(const struct error *cause, struct arena *arena)
{
    return arena_format(arena, "%s%s%s: %s", cause->reason ? cause->reason : status_name(cause->status),
        cause->sqlstate[0] ? " " : "", cause->sqlstate, cause->message);
}

/* Add the attempt to the transaction's timeline, in the commit that counts it. */
static enum status send_attempt(struct session *session, struct failing *failing, struct error *err)
{
    const struct error *cause = failing->cause;
    struct attempt attempt = {
        .step = failing->transaction.steps_done,
        .worker = failing->store->worker,
        .started = failing->store->step_began,
        .ended = clock_ticks(),
        .status = cause->status,
        .reason = str_of(cause->reason ? cause->reason : status_name(cause->status)),
        .message = str_of(cause->message),
    };

    if (attempt.started == 0)
        attempt.started = attempt.ended;
    transaction_note_attempt(&failing->transaction, &attempt, &session->arena);
    return transaction_calls_send_update(session, &failing->transaction, 0, err);
}

/* Count a failure or a delivery of the key, and store its cause. */
static enum status count_attempt(struct session *session, void *context, struct error *err)
{
    struct failing *failing = context;
    struct pg_params params;
    PG_RESULT counted = NULL;
    bool is_open = false;

    failing->count = 0;
    TRY(lock_key(session, failing, &is_open, err));
    if (!is_open) {
        pg_recover(&session->pg); /* rolls back: another worker has done the work */
        return STATUS_OK;
    }
    dead_letter_params(failing, &session->arena, &params);
    pg_add_bytes(&params, describe(failing->cause, &session->arena));
    if (failing->silent)
        pg_add_bool(&params, failing->once);
    TRY(pg_query(&session->pg, failing->silent ? &sql_dead_letter_deliver : &sql_dead_letter_count, &params,
        &counted, err));
    if (is_transaction(failing) && !failing->silent)
        TRY(send_attempt(session, failing, err));
    FAILPOINT_TRY("dead_letter.before_count", err);
    TRY(commit_change(session, failing, err));
    failing->count = pg_int4(counted, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

enum status dead_letter_work_count_failure(struct worker *store, const struct intent *intent,
    const struct error *cause, int32_t *failures, struct error *err)
{
    struct failing failing = { .store = store, .intent = intent, .cause = cause };

    TRY(worker_attempt(store, count_attempt, &failing, err));
    store->step_began = 0;
    *failures = failing.count;
    return STATUS_OK;
}

static enum status count_delivery(
    struct worker *store, const struct intent *intent, bool once, int32_t *count, struct error *err)
{
    struct error cause = { 0 };
    struct failing failing = {
        .store = store, .intent = intent, .cause = &cause, .silent = true, .once = once
    };

    error_set(&cause, STATUS_INTERNAL, "work has begun, and no worker has reported its end");
    TRY(worker_attempt(store, count_attempt, &failing, err));
    *count = failing.count;
    return STATUS_OK;
}

enum status dead_letter_work_count_delivery(
    struct worker *store, const struct intent *intent, int32_t *before, struct error *err)
{
    int32_t count = 0;

    TRY(count_delivery(store, intent, false, &count, err));
    *before = count > 0 ? count - 1 : 0;
    return STATUS_OK;
}

enum status dead_letter_work_suspect(struct worker *store, const struct intent *intent, struct error *err)
{
    int32_t count;

    return count_delivery(store, intent, true, &count, err);
}

static enum status report_key(struct session *session, void *context, struct error *err)
{
    struct failing *failing = context;
    struct pg_params params;
    PG_RESULT result = NULL;

    dead_letter_params(failing, &session->arena, &params);
    return pg_query(&session->pg, &sql_dead_letter_report, &params, &result, err);
}

enum status dead_letter_work_report(struct worker *store, const struct intent *intent, struct error *err)
{
    struct failing failing = { .intent = intent };

    return worker_attempt(store, report_key, &failing, err);
}

static enum status retry_after(struct session *session, void *context, struct error *err)
{
    struct failing *failing = context;
    struct pg_params params;
    PG_RESULT result = NULL;

    dead_letter_params(failing, &session->arena, &params);
    pg_add_int8(&params, failing->delay_ms);
    return pg_query(&session->pg, &sql_dead_letter_retry, &params, &result, err);
}

enum status dead_letter_work_retry_after(
    struct worker *store, const struct intent *intent, int64_t delay_ms, struct error *err)
{
    struct failing failing = { .intent = intent, .delay_ms = delay_ms };

    return worker_attempt(store, retry_after, &failing, err);
}

/* ---- giving up ---- */

static enum status send_transaction_end(struct session *session, struct failing *failing, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, failing->intent->key.partition, failing->intent->key.row);
    TRY(pg_send(&session->pg, &sql_transaction_bury, &params, err));
    pg_params_init(&params, &session->arena);
    pg_add_int2(&params, transaction_calls_bucket(failing->intent->key.row));
    pg_add_bytes(&params, failing->intent->key.partition);
    pg_add_bytes(&params, failing->intent->key.row);
    return pg_send(&session->pg, &sql_transaction_intent_delete, &params, err);
}

static enum status send_intent_delete(struct session *session, struct failing *failing, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &failing->buckets);
    pg_add_array(&params, &failing->ids);
    return pg_send(&session->pg, &sql_intent_delete, &params, err);
}

static enum status bury_key(struct session *session, void *context, struct error *err)
{
    struct failing *failing = context;
    struct pg_params params;
    bool is_open = false;

    TRY(lock_key(session, failing, &is_open, err));
    if (!is_open && !is_transaction(failing)) {
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    if (is_open) {
        dead_letter_params(failing, &session->arena, &params);
        pg_add_array(&params, &failing->ids);
        TRY(pg_send(&session->pg, &sql_dead_letter_bury, &params, err));
    }
    if (is_transaction(failing)) /* an intent whose transaction has ended is removed too */
        TRY(send_transaction_end(session, failing, err));
    else
        TRY(send_intent_delete(session, failing, err));
    FAILPOINT_TRY("dead_letter.before_bury", err);
    TRY(commit_change(session, failing, err));
    FAILPOINT("dead_letter.after_bury");
    return STATUS_OK;
}

enum status dead_letter_work_bury(struct worker *store, const struct intent *intent, struct error *err)
{
    struct failing failing = { .intent = intent };

    return worker_attempt(store, bury_key, &failing, err);
}
