/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redrive_preview.c - see the header.
 */
#include "store/redrive_preview.h"

#include "store/copies/copy_visit.h"
#include "store/copies/copy_work.h"
#include "store/dead_letters/dead_letter_calls.h"
#include "store/indexes/reconcile.h"
#include "store/session/attempt.h"
#include "store/sql.h"
#include "store/transactions/transaction_calls.h"

static enum status preview_steps(struct session *session, const struct dead_letter_view *dead_letter,
    struct dead_letter_difference *out, struct error *err)
{
    struct transaction transaction;
    struct pg_params params;
    PG_RESULT stored = NULL;

    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, dead_letter->key.partition, dead_letter->key.row);
    TRY(pg_query(&session->pg, &sql_transaction_get, &params, &stored, err));
    if (PQntuples(stored) == 0)
        return STATUS_OK;
    TRY(transaction_calls_read_row(
        stored, 0, dead_letter->key.partition, &session->arena, &transaction, err));
    out->steps = (int64_t)transaction.step_count - transaction.steps_done;
    return STATUS_OK;
}

/* Of a copy rule. */
static enum status preview_copies(struct session *session, const struct intent *intent,
    struct dead_letter_difference *out, struct error *err)
{
    struct copy_counts counts;

    TRY(copy_work_preview(session, intent->table_id, &intent->key, &counts, err));
    out->copies = counts.written;
    out->violations = counts.refused;
    return STATUS_OK;
}

static enum status preview_visit(struct session *session, const struct intent *intent,
    struct dead_letter_difference *out, struct error *err)
{
    TRY(session_refresh(session, NULL, err));
    return copy_visit_left(session, intent, MAX_COUNTED_DEPENDENTS, &out->dependents, err);
}

/* *out is all zero. */
static enum status preview_one(struct session *session, const struct dead_letter_view *dead_letter,
    struct dead_letter_difference *out, struct error *err)
{
    const struct intent intent = dead_letter_calls_intent(dead_letter);

    switch ((enum intent_kind)dead_letter->kind) {
    case INTENT_RECONCILE:
        return reconcile_preview(session, &intent, out, err);
    case INTENT_TRANSACTION:
        return preview_steps(session, dead_letter, out, err);
    case INTENT_COPY:
        return preview_copies(session, &intent, out, err);
    case INTENT_VISIT:
        return preview_visit(session, &intent, out, err);
    }
    return STATUS_OK;
}

static enum status preview_changes(struct session *session, struct operation *operation, struct error *err)
{
    struct outcome_dead_letters *out = &operation->out.dead_letters;

    TRY(dead_letter_calls_read(session, operation, out, err));
    out->differences = ARENA_ARRAY(operation->arena, struct dead_letter_difference, out->count);
    for (size_t i = 0; i < out->count; i++) {
        const struct arena then = session->arena;

        TRY(preview_one(session, &out->dead_letters[i], &out->differences[i], err));
        arena_rewind(&session->arena, &then); /* what it has read may be large */
    }
    return STATUS_OK;
}

void redrive_preview_run(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, preview_changes);
}
