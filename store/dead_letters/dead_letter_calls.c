/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letter_calls.c - see the header.
 *
 *   redrive   BEGIN; fence; catalogue; [the transaction, DEAD -> PENDING or RUNNING]; the dead letter,
 *             DEAD -> RETRYING; the intent; marker; COMMIT
 *
 * If two callers redrive the same dead letter, the lock of its row decides: the second one finds it
 * RETRYING. A worker that finishes or gives up the key at the same time removes only the intents
 * that it has read. So the new intent stays open, its work is done once more, which does no harm,
 * and the dead letter follows from that work (guard G9).
 */
#include "store/dead_letters/dead_letter_calls.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/catalogue/table_name.h"
#include "domain/reason.h"
#include "store/session/attempt.h"
#include "store/session/intent_rows.h"
#include "store/sql.h"
#include "store/transactions/transaction_calls.h"

/* ---- list ---- */

static void filter_params(
    const struct operation_dead_letters *in, int64_t limit, struct arena *arena, struct pg_params *params)
{
    const struct dead_letter_filter *filter = &in->filter;
    struct pg_array ids;

    pg_array_init(&ids, arena, PG_INT8);
    for (size_t i = 0; i < filter->id_count; i++)
        pg_array_int8(&ids, filter->ids[i]);
    pg_params_init(params, arena);
    pg_add_int8(params, in->after);
    pg_add_int2(params, (int16_t)filter->state);
    pg_add_int2(params, filter->kind);
    pg_add_bytes(params, filter->account);
    pg_add_bytes(params, table_name_fold(filter->table, arena));
    pg_add_bytes(params, filter->cause);
    pg_add_array(params, &ids);
    pg_add_int4(params, filter->queue);
    pg_add_int4(params, filter->queues > 0 ? filter->queues : 1);
    pg_add_int8(params, limit);
}

enum dead_letter_column {
    DEAD_LETTER_ID,
    DEAD_LETTER_KIND,
    DEAD_LETTER_BUCKET,
    DEAD_LETTER_TABLE_ID,
    DEAD_LETTER_ACCOUNT,
    DEAD_LETTER_TABLE,
    DEAD_LETTER_PARTITION,
    DEAD_LETTER_ROW,
    DEAD_LETTER_INDEX,
    DEAD_LETTER_FAILURES,
    DEAD_LETTER_CAUSE,
    DEAD_LETTER_HISTORY,
    DEAD_LETTER_NOTE,
    DEAD_LETTER_FIRST_FAILED,
    DEAD_LETTER_LAST_FAILED,
};

static struct dead_letter_view read_dead_letter(const PGresult *rows, int row, struct arena *arena)
{
    return (struct dead_letter_view){
        .id = pg_int8(rows, row, DEAD_LETTER_ID),
        .kind = pg_int2(rows, row, DEAD_LETTER_KIND),
        .bucket = pg_int2(rows, row, DEAD_LETTER_BUCKET),
        .table_id = pg_int8(rows, row, DEAD_LETTER_TABLE_ID),
        .account = arena_copy(arena, pg_bytes(rows, row, DEAD_LETTER_ACCOUNT)),
        .table = arena_copy(arena, pg_bytes(rows, row, DEAD_LETTER_TABLE)),
        .key = { arena_copy(arena, pg_bytes(rows, row, DEAD_LETTER_PARTITION)),
            arena_copy(arena, pg_bytes(rows, row, DEAD_LETTER_ROW)) },
        .index = arena_copy(arena, pg_bytes(rows, row, DEAD_LETTER_INDEX)),
        .failures = pg_int4(rows, row, DEAD_LETTER_FAILURES),
        .cause = arena_copy(arena, pg_bytes(rows, row, DEAD_LETTER_CAUSE)),
        .history = arena_copy(arena, pg_bytes(rows, row, DEAD_LETTER_HISTORY)),
        .note = arena_copy(arena, pg_bytes(rows, row, DEAD_LETTER_NOTE)),
        .first_failed = pg_int8(rows, row, DEAD_LETTER_FIRST_FAILED),
        .last_failed = pg_int8(rows, row, DEAD_LETTER_LAST_FAILED),
    };
}

/* Reads one row more than the limit, which says whether there are more. */
enum status dead_letter_calls_read(struct session *session, const struct operation *operation,
    struct outcome_dead_letters *out, struct error *err)
{
    const struct operation_dead_letters *in = &operation->in.dead_letters;
    struct pg_params params;
    PG_RESULT rows = NULL;

    *out = (struct outcome_dead_letters){ 0 };
    filter_params(in, (int64_t)in->limit + 1, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_dead_letter_list, &params, &rows, err));
    out->more = PQntuples(rows) > in->limit;
    out->count = out->more ? (size_t)in->limit : (size_t)PQntuples(rows);
    out->dead_letters = ARENA_ARRAY(operation->arena, struct dead_letter_view, out->count);
    for (size_t i = 0; i < out->count; i++)
        out->dead_letters[i] = read_dead_letter(rows, (int)i, operation->arena);
    if (out->more)
        out->position = out->dead_letters[out->count - 1].id;
    return STATUS_OK;
}

enum group_column { GROUP_CAUSE, GROUP_COUNT, GROUP_EXAMPLE, GROUP_FIRST_FAILED, GROUP_LAST_FAILED };

static enum status read_causes(struct session *session, const struct operation *operation,
    struct outcome_dead_letters *out, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    *out = (struct outcome_dead_letters){ 0 };
    filter_params(&operation->in.dead_letters, operation->in.dead_letters.limit, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_dead_letter_causes, &params, &rows, err));
    out->cause_count = (size_t)PQntuples(rows);
    out->causes = ARENA_ARRAY(operation->arena, struct cause_view, out->cause_count);
    for (int i = 0; i < PQntuples(rows); i++)
        out->causes[i] = (struct cause_view){
            .cause = arena_copy(operation->arena, pg_bytes(rows, i, GROUP_CAUSE)),
            .count = pg_int8(rows, i, GROUP_COUNT),
            .example = pg_int8(rows, i, GROUP_EXAMPLE),
            .first_failed = pg_int8(rows, i, GROUP_FIRST_FAILED),
            .last_failed = pg_int8(rows, i, GROUP_LAST_FAILED),
        };
    return STATUS_OK;
}

static enum status list_dead_letters(struct session *session, struct operation *operation, struct error *err)
{
    struct outcome_dead_letters *out = &operation->out.dead_letters;

    return operation->in.dead_letters.by_cause ? read_causes(session, operation, out, err)
                                               : dead_letter_calls_read(session, operation, out, err);
}

void dead_letter_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list_dead_letters);
}

/* ---- one dead letter ---- */

static bool is_transaction(const struct dead_letter_view *dead_letter)
{
    return dead_letter->kind == INTENT_TRANSACTION;
}

static enum status change_row(struct session *session, const struct embedded *sql,
    const struct pg_params *params, bool *changed, struct error *err)
{
    PG_RESULT result = NULL;

    TRY(pg_query(&session->pg, sql, params, &result, err));
    *changed = PQntuples(result) > 0;
    return STATUS_OK;
}

/*
 * Change the transaction's row, which comes first in the order of locks. A source key has no such
 * row: nothing is done.
 */
static enum status change_transaction(struct session *session, const struct dead_letter_view *dead_letter,
    const struct embedded *sql, bool *changed, struct error *err)
{
    struct pg_params params;

    *changed = true;
    if (!is_transaction(dead_letter))
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, dead_letter->key.partition, dead_letter->key.row);
    if (sql == &sql_transaction_finish)
        pg_add_int8(&params, clock_ticks());
    return change_row(session, sql, &params, changed, err);
}

struct intent dead_letter_calls_intent(const struct dead_letter_view *dead_letter)
{
    return (struct intent){ .bucket = dead_letter->bucket,
        .kind = dead_letter->kind,
        .table_id = dead_letter->table_id,
        .key = dead_letter->key };
}

/* Each dead letter is changed in a transaction of its own, with its own audit record. */
static void name_dead_letter(struct session *session, const struct dead_letter_view *dead_letter)
{
    if (!session->audit)
        return;
    session->audit->target = arena_format(&session->arena, "dead letter %lld", (long long)dead_letter->id);
    session->audit->is_due = true;
}

/*
 * *done is false if another caller has changed the dead letter first, or if the work is done or
 * deleted.
 */
static enum status redrive_one(struct session *session, const struct dead_letter_view *dead_letter,
    struct str reason, bool *done, struct error *err)
{
    struct intent intent = dead_letter_calls_intent(dead_letter);
    struct pg_params params;
    int64_t now_us = 0;

    (void)reason; /* only a discard has a reason */
    TRY(session_begin(session, &now_us, err));
    TRY(change_transaction(session, dead_letter, &sql_transaction_revive, done, err));
    if (*done) {
        pg_params_init(&params, &session->arena);
        pg_add_int8(&params, dead_letter->id);
        TRY(change_row(session, &sql_dead_letter_redrive, &params, done, err));
    }
    if (!*done) {
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    name_dead_letter(session, dead_letter);
    intent.id = session_intent_id(session, now_us);
    TRY(intent_rows_send(session, &intent, 1, err));
    FAILPOINT_TRY("redrive.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("redrive.after_commit");
    return STATUS_OK;
}

static enum status discard_one(struct session *session, const struct dead_letter_view *dead_letter,
    struct str reason, bool *done, struct error *err)
{
    struct pg_params params;
    int64_t now_us = 0;

    TRY(session_begin(session, &now_us, err));
    TRY(change_transaction(session, dead_letter, &sql_transaction_finish, done, err));
    if (*done) {
        pg_params_init(&params, &session->arena);
        pg_add_int8(&params, dead_letter->id);
        pg_add_bytes(&params, reason);
        TRY(change_row(session, &sql_dead_letter_discard, &params, done, err));
    }
    if (!*done) {
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    name_dead_letter(session, dead_letter);
    FAILPOINT_TRY("discard.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("discard.after_commit");
    return STATUS_OK;
}

/* ---- many ---- */

typedef enum status dead_letter_change(struct session *session, const struct dead_letter_view *dead_letter,
    struct str reason, bool *done, struct error *err);

/*
 * The dead letters that all attempts so far have changed. A later attempt reads only those that are
 * left.
 */
struct changes {
    dead_letter_change *change;
    struct dead_letter_view *dead_letters;
    size_t count;
};

static enum status change_all(
    struct session *session, struct operation *operation, void *context, struct error *err)
{
    struct changes *changes = context;
    struct outcome_dead_letters found;

    TRY(dead_letter_calls_read(session, operation, &found, err));
    for (size_t i = 0; i < found.count && changes->count < (size_t)operation->in.dead_letters.limit; i++) {
        bool done = false;

        TRY(changes->change(session, &found.dead_letters[i], operation->in.dead_letters.reason, &done, err));
        if (done)
            changes->dead_letters[changes->count++] = found.dead_letters[i];
    }
    operation->out.dead_letters = (struct outcome_dead_letters){ .dead_letters = changes->dead_letters,
        .count = changes->count,
        .more = found.more,
        .position = found.position };
    return STATUS_OK;
}

static void run_changes(struct session *session, struct operation *operation, dead_letter_change *change)
{
    struct changes changes = { .change = change,
        .dead_letters = ARENA_ARRAY(
            operation->arena, struct dead_letter_view, (size_t)operation->in.dead_letters.limit) };

    attempt_operation_with(session, operation, change_all, &changes);
    if (operation->audit)
        /* The target that name_dead_letter has set lies in the session's arena, which ends here. */
        operation->audit->target = STR_EMPTY;
}

void dead_letter_calls_redrive(struct session *session, struct operation *operation)
{
    run_changes(session, operation, redrive_one);
}

void dead_letter_calls_discard(struct session *session, struct operation *operation)
{
    run_changes(session, operation, discard_one);
}
