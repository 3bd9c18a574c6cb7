/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_calls.c - see the header. If the same id is submitted twice at the same time, the
 * primary key makes the second submission wait for the first; then it reads the first one's row.
 */
#include "store/transactions/transaction_calls.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/session/attempt.h"
#include "store/session/intent_rows.h"
#include "store/session/resolve.h"
#include "store/sql.h"

int16_t transaction_calls_bucket(struct str id)
{
    return entity_key_bucket(0, id);
}

void transaction_calls_add_key(struct pg_params *params, struct str account, struct str id)
{
    pg_add_bytes(params, account);
    pg_add_bytes(params, id);
    pg_add_int2(params, transaction_calls_bucket(id));
}

enum status transaction_calls_read_row(const PGresult *result, int row, struct str account,
    struct arena *arena, struct transaction *out, struct error *err)
{
    struct transaction read = {
        .id = arena_copy(arena, pg_bytes(result, row, TRANSACTION_COLUMN_ID)),
        .account = account,
        .state = (enum transaction_state)pg_int2(result, row, TRANSACTION_COLUMN_STATE),
        .steps_done = pg_int4(result, row, TRANSACTION_COLUMN_STEPS_DONE),
        .submitted = pg_int8(result, row, TRANSACTION_COLUMN_SUBMITTED),
        .revision = pg_int8(result, row, TRANSACTION_COLUMN_REVISION),
    };
    struct str steps = arena_copy(arena, pg_bytes(result, row, TRANSACTION_COLUMN_STEPS));
    struct str timeline = arena_copy(arena, pg_bytes(result, row, TRANSACTION_COLUMN_TIMELINE));

    if (!transaction_decode_steps(steps, arena, &read.steps, &read.step_count) ||
        !transaction_decode_timeline(timeline, arena, &read.timeline, &read.attempt_count))
        return error_set(err, STATUS_INTERNAL, "transaction %.*s cannot be read", STR_ARG(read.id));
    *out = read;
    return STATUS_OK;
}

enum status transaction_calls_send_update(
    struct session *session, const struct transaction *transaction, int64_t finished, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, transaction->account, transaction->id);
    pg_add_int2(&params, (int16_t)transaction->state);
    pg_add_int4(&params, transaction->steps_done);
    pg_add_bytes(&params,
        transaction_encode_timeline(transaction->timeline, transaction->attempt_count, &session->arena));
    pg_add_int8(&params, finished);
    return pg_send(&session->pg, &sql_transaction_update, &params, err);
}

/*
 * Send a statement with the parameters bucket, account and id, which deletes rows of a transaction
 * that has ended.
 */
static enum status send_end(struct session *session, const struct embedded *sql,
    const struct transaction *transaction, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int2(&params, transaction_calls_bucket(transaction->id));
    pg_add_bytes(&params, transaction->account);
    pg_add_bytes(&params, transaction->id);
    return pg_send(&session->pg, sql, &params, err);
}

/* ---- submit ---- */

struct submission {
    const struct commit_observer *observer;
};

static void add_touched(struct pg_params *params, const struct transaction *transaction, struct arena *arena)
{
    struct pg_array digests;
    int64_t *touched;
    size_t count = transaction_touched(transaction, arena, &touched);

    pg_array_init(&digests, arena, PG_INT8);
    for (size_t i = 0; i < count; i++)
        pg_array_int8(&digests, touched[i]);
    pg_add_array(params, &digests);
}

static int64_t table_id_of(const struct session *session, struct str own, struct str account, struct str name)
{
    const struct table *table = catalogue_find(session->catalogue, account.len > 0 ? account : own, name);

    return table ? table->table_id : 0;
}

/*
 * Guard G24: bind each step to the table that has the name now, not to a later one. A table that
 * does not exist is refused later.
 */
static void bind_steps(const struct session *session, struct operation *operation)
{
    const struct transaction *transaction = &operation->in.transaction.transaction;
    struct str own = operation->account;

    for (size_t i = 0; i < transaction->step_count; i++) {
        struct step *step = &transaction->steps[i];

        if (!transaction_step_has_entity(step))
            continue;
        step->table_id = table_id_of(session, own, step->account, step->table);
        if (step->kind == STEP_MOVE)
            step->to_table_id = table_id_of(session, own, step->to_account, step->to_table);
    }
}

static enum status send_submission(
    struct session *session, const struct operation *operation, struct error *err)
{
    const struct transaction *transaction = &operation->in.transaction.transaction;
    struct pg_params params;

    TRY(session_send_begin(session, err));
    pg_params_init(&params, &session->arena);
    pg_add_int2(&params, transaction_calls_bucket(transaction->id));
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, transaction->id);
    pg_add_bytes(
        &params, transaction_encode_steps(transaction->steps, transaction->step_count, &session->arena));
    pg_add_bytes(&params, transaction_encode_timeline(NULL, 0, &session->arena));
    pg_add_int8(&params, session->now_ticks);
    add_touched(&params, transaction, &session->arena);
    TRY(pg_send(&session->pg, &sql_transaction_insert, &params, err));

    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, operation->account, transaction->id);
    TRY(pg_send(&session->pg, &sql_transaction_get, &params, err));
    return pg_sync(&session->pg, err);
}

static enum status commit_submission(struct session *session, const struct operation *operation,
    int64_t now_us, const struct commit_observer *observer, struct error *err)
{
    struct str id = operation->in.transaction.transaction.id;
    struct intent intent = { .bucket = transaction_calls_bucket(id),
        .kind = INTENT_TRANSACTION,
        .key = { .partition = operation->account, .row = id },
        .trace = operation->trace };

    intent.id = session_intent_id(session, now_us);
    TRY(intent_rows_send(session, &intent, 1, err));
    FAILPOINT_TRY("submit.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("submit.after_commit");
    observer->intents_committed(observer->context, &intent, 1);
    return STATUS_OK;
}

static enum status check_same_steps(struct session *session, const struct operation *operation,
    const struct transaction *stored, struct error *err)
{
    const struct transaction *submitted = &operation->in.transaction.transaction;

    if (transaction_same_steps(
            stored->steps, stored->step_count, submitted->steps, submitted->step_count, &session->arena))
        return STATUS_OK;
    return reason_set(err, REASON_TRANSACTION_ID_REUSED,
        "a transaction %.*s with other steps was submitted before", STR_ARG(submitted->id));
}

/* A table that a step names. */
struct step_table {
    struct str account, table; /* account empty: the submission's */
    size_t index;              /* the number of the step */
};

/* The table of a step must exist and be writable, also for the holder of a signature. */
static enum status check_table(const struct session *session, const struct operation *submission,
    const struct step_table *wanted, const struct table **out, struct error *err)
{
    const struct operation write = { .kind = OPERATION_WRITE,
        .account = wanted->account.len > 0 ? wanted->account : submission->account,
        .table = wanted->table,
        .signed_at = submission->signed_at };

    if (resolve_writable(session, &write, out, err) == STATUS_OK)
        return STATUS_OK;
    error_add_meta_int(err, "operation_index", (int64_t)wanted->index);
    return error_in_element(err, "steps", wanted->index);
}

/* The step is bound to the table, whose entities are wide or not for ever. */
static enum status check_size(
    const struct step *step, const struct table *table, size_t index, struct error *err)
{
    enum status status = table->is_wide
                             ? property_list_check_wide(step->properties, (struct property_rest){ 0 }, err)
                             : property_list_check(step->properties, &step->key, err);

    if (status == STATUS_OK)
        return STATUS_OK;
    error_add_meta_int(err, "operation_index", (int64_t)index);
    return error_in_element(err, "steps", index);
}

/*
 * Refuse at once a transaction that can never succeed. The transaction has entered the fence, so
 * the catalogue is the current one.
 */
static enum status check_tables(
    const struct session *session, const struct operation *operation, struct error *err)
{
    const struct transaction *transaction = &operation->in.transaction.transaction;

    for (size_t i = 0; i < transaction->step_count; i++) {
        const struct step *step = &transaction->steps[i];
        const struct table *table;

        if (!transaction_step_has_entity(step))
            continue;
        TRY(check_table(
            session, operation, &(struct step_table){ step->account, step->table, i }, &table, err));
        TRY(check_size(step, table, i, err));
        if (step->kind == STEP_MOVE)
            TRY(check_table(session, operation, &(struct step_table){ step->to_account, step->to_table, i },
                &table, err));
    }
    return STATUS_OK;
}

/* Workers of older versions cannot read steps with blobs. */
static enum status check_blob_steps(
    struct session *session, const struct transaction *transaction, struct error *err)
{
    PG_RESULT may = NULL;
    size_t i = 0;

    while (i < transaction->step_count && !transaction_step_is_blob(&transaction->steps[i]))
        i++;
    if (i == transaction->step_count)
        return STATUS_OK;
    TRY(pg_query(&session->pg, &sql_database_may_hold_blobs, NULL, &may, err));
    if (pg_bool(may, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    (void)reason_set(err, REASON_STEP_NOT_CONFIGURED,
        "step %zu is about a blob: workers of older versions may still run (tavola migrate --refuse-older)",
        i);
    error_add_meta_int(err, "operation_index", (int64_t)i);
    return err->status;
}

/* The transaction's id without the mark of a signature. */
static struct str unscoped_id(const struct operation *operation)
{
    struct str id = operation->in.transaction.transaction.id;

    return str_of_bytes(id.data, id.len - operation->in.transaction.id_scope_bytes);
}

/*
 * A version without scoped ids may have stored this transaction of a signature under the unscoped
 * id. It is the same transaction if it has the same steps; otherwise another caller of the account
 * has used the id. To be removed with the version after the next.
 */
static enum status find_unscoped(
    struct session *session, struct operation *operation, struct transaction **out, struct error *err)
{
    const struct transaction *in = &operation->in.transaction.transaction;
    struct transaction *found = ARENA_NEW(operation->arena, struct transaction);
    struct pg_params params;
    PG_RESULT stored = NULL;

    *out = NULL;
    if (operation->in.transaction.id_scope_bytes == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, operation->account, unscoped_id(operation));
    TRY(pg_query(&session->pg, &sql_transaction_get, &params, &stored, err));
    if (PQntuples(stored) == 0)
        return STATUS_OK;
    TRY(transaction_calls_read_row(stored, 0, operation->account, operation->arena, found, err));
    if (transaction_same_steps(found->steps, found->step_count, in->steps, in->step_count, &session->arena))
        *out = found;
    return STATUS_OK;
}

static enum status submit(
    struct session *session, struct operation *operation, void *context, struct error *err)
{
    const struct submission *submission = context;
    struct outcome_transaction *out = &operation->out.transaction;
    struct transaction *found = ARENA_NEW(operation->arena, struct transaction);
    struct transaction *earlier;
    PG_RESULT inserted = NULL;
    PG_RESULT stored = NULL;
    int64_t now_us = 0;

    session->now_ticks = clock_ticks();
    bind_steps(session, operation);
    TRY(find_unscoped(session, operation, &earlier, err));
    if (earlier) {
        *out = (struct outcome_transaction){ .transactions = earlier, .count = 1 };
        return STATUS_OK;
    }
    TRY(send_submission(session, operation, err));
    TRY(session_take_begin(session, &now_us, err));
    TRY(pg_next(&session->pg, &inserted, err));
    TRY(pg_next(&session->pg, &stored, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(stored) == 0)
        return error_set(err, STATUS_UNAVAILABLE, "the transaction was purged meanwhile");
    TRY(transaction_calls_read_row(stored, 0, operation->account, operation->arena, found, err));
    if (PQntuples(inserted) > 0) {
        TRY(check_tables(
            /* a repeat returns the same transaction, even if its tables were deleted since */
            session, operation, err));
        TRY(check_blob_steps(session, &operation->in.transaction.transaction, err));
        TRY(commit_submission(session, operation, now_us, submission->observer, err));
    } else {
        TRY(check_same_steps(session, operation, found, err));
        pg_recover(&session->pg); /* rolls back: nothing was written */
    }
    *out = (struct outcome_transaction){ .transactions = found, .count = 1 };
    return STATUS_OK;
}

void transaction_calls_submit(
    struct session *session, struct operation *operation, const struct commit_observer *observer)
{
    struct transaction in = operation->in.transaction.transaction;
    struct submission submission = { observer };
    struct error err = { 0 };

    in.id = unscoped_id(operation);

    /*
     * Rows of ended transactions are purged after some time, so a transaction with an older id
     * could run twice.
     */
    if (transaction_check(&in, &err) != STATUS_OK ||
        transaction_id_check_age(in.id, clock_ticks(), LIMIT_TRANSACTION_RETENTION_S, &err) != STATUS_OK) {
        operation_fail(operation, &err);
        return;
    }
    attempt_operation_with(session, operation, submit, &submission);
}

/* ---- get ---- */

static enum status get(struct session *session, struct operation *operation, struct error *err)
{
    struct str id = operation->in.transaction.transaction.id;
    struct transaction *found = ARENA_NEW(operation->arena, struct transaction);
    struct pg_params params;
    PG_RESULT stored = NULL;

    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, operation->account, id);
    TRY(pg_query(&session->pg, &sql_transaction_get, &params, &stored, err));
    if (PQntuples(stored) == 0)
        return reason_set(err, REASON_TRANSACTION_NOT_FOUND, "there is no transaction %.*s", STR_ARG(id));
    TRY(transaction_calls_read_row(stored, 0, operation->account, operation->arena, found, err));
    operation->out.transaction = (struct outcome_transaction){ .transactions = found, .count = 1 };
    return STATUS_OK;
}

void transaction_calls_get(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, get);
}

/* ---- cancel ---- */

static enum status lock_to_cancel(
    struct session *session, const struct operation *operation, struct transaction *out, struct error *err)
{
    struct str id = operation->in.transaction.transaction.id;
    struct pg_params params;
    PG_RESULT row = NULL;
    int64_t now_us = 0;

    TRY(session_send_begin(session, err));
    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, operation->account, id);
    TRY(pg_send(&session->pg, &sql_transaction_lock, &params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, &now_us, err));
    TRY(pg_next(&session->pg, &row, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(row) == 0)
        return reason_set(err, REASON_TRANSACTION_NOT_FOUND, "there is no transaction %.*s", STR_ARG(id));
    return transaction_calls_read_row(row, 0, operation->account, operation->arena, out, err);
}

static enum status commit_cancel(struct session *session, struct transaction *transaction, struct error *err)
{
    transaction->state = TRANSACTION_CANCELLED;
    transaction->revision++;
    TRY(transaction_calls_send_update(session, transaction, clock_ticks(), err));
    TRY(send_end(session, &sql_transaction_dead_letter_delete, transaction, err));
    TRY(send_end(session, &sql_transaction_intent_delete, transaction, err));
    FAILPOINT_TRY("cancel.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("cancel.after_commit");
    return STATUS_OK;
}

/* Guard G14: worker and caller both lock the row; the first one to hold the lock decides. */
static enum status cancel(struct session *session, struct operation *operation, struct error *err)
{
    struct transaction *found = ARENA_NEW(operation->arena, struct transaction);

    TRY(lock_to_cancel(session, operation, found, err));
    if (found->state == TRANSACTION_CANCELLED)
        pg_recover(&session->pg); /* rolls back: the transaction was cancelled before */
    else if (found->state == TRANSACTION_PENDING)
        TRY(commit_cancel(session, found, err));
    else if (found->state == TRANSACTION_DEAD)
        return reason_set(err, REASON_TRANSACTION_STARTED,
            "transaction %.*s was given up with %d of %zu steps done: it is a dead letter, which an operator "
            "redrives or discards",
            STR_ARG(found->id), found->steps_done, found->step_count);
    else
        return reason_set(err, REASON_TRANSACTION_STARTED,
            "%d of %zu steps of transaction %.*s are done%s: it could be cancelled only before its first "
            "step",
            found->steps_done, found->step_count, STR_ARG(found->id),
            transaction_is_final(found->state) ? " and it has ended" : "");
    operation->out.transaction = (struct outcome_transaction){ .transactions = found, .count = 1 };
    return STATUS_OK;
}

void transaction_calls_cancel(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, cancel);
}

/* ---- list ---- */

static const struct embedded *list_statement(const struct operation_transaction *in, struct pg_params *params)
{
    if (!in->by_key && in->only == 0)
        return &sql_transaction_list;
    pg_add_int2(params, (int16_t)in->only);
    if (!in->by_key)
        return &sql_transaction_list_state;
    pg_add_int8(params, in->key_digest);
    return &sql_transaction_list_key;
}

/* The columns of all statements transaction_list*. */
enum listed_column { LISTED_ID, LISTED_STATE, LISTED_STEPS_DONE, LISTED_SUBMITTED, LISTED_REVISION };

static enum status list(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_transaction *in = &operation->in.transaction;
    struct outcome_transaction out = { 0 };
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, in->after);
    pg_add_int8(&params, (int64_t)in->limit + 1);
    TRY(pg_query(&session->pg, list_statement(in, &params), &params, &rows, err));
    out.more = PQntuples(rows) > in->limit;
    out.count = out.more ? (size_t)in->limit : (size_t)PQntuples(rows);
    out.transactions = ARENA_ARRAY(operation->arena, struct transaction, out.count);
    for (size_t i = 0; i < out.count; i++)
        out.transactions[i] = (struct transaction){
            .id = arena_copy(operation->arena, pg_bytes(rows, (int)i, LISTED_ID)),
            .account = operation->account,
            .state = (enum transaction_state)pg_int2(rows, (int)i, LISTED_STATE),
            .steps_done = pg_int4(rows, (int)i, LISTED_STEPS_DONE),
            .submitted = pg_int8(rows, (int)i, LISTED_SUBMITTED),
            .revision = pg_int8(rows, (int)i, LISTED_REVISION),
        };
    if (out.more)
        out.position = out.transactions[out.count - 1].id;
    operation->out.transaction = out;
    return STATUS_OK;
}

void transaction_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list);
}
