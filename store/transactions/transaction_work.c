/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_work.c - one step of a transaction, in one commit:
 *
 *   flight 1   BEGIN; fence; catalogue; lock the transaction's row; its trace, if that is wanted; if there is no
 *              row, or it has ended, stop
 *   flight 2   lock or create the entities of the next step, read them
 *   plan       the same as for any write
 *   flight 3   rows, intents, the step's outcome; after the last step delete the intent; marker; COMMIT
 *
 * The outcome commits with the effect (guard G14). So if a message comes twice, or late, the step
 * is found done, and values that clients have written since are never overwritten.
 *
 * A step whose effect is outside the database is a commit that notes the effect, the effect, and a commit with its
 * receipt: domain/transactions/effect.h.
 */
#include "store/transactions/transaction_work.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/entities/entity.h"
#include "domain/filter/filter.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/transactions/effect.h"
#include "domain/writes/held_blobs.h"
#include "store/entities/write_batch.h"
#include "store/entities/write_set.h"
#include "store/session/worker.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"
#include "store/transactions/blob_steps.h"
#include "store/transactions/effect_notes.h"
#include "store/transactions/step_trace.h"
#include "store/transactions/transaction_calls.h"

/* Columns of transaction_trace.sql. */
enum { TRACE_INTENT_ID, TRACE_BYTES };

struct step_work {
    const struct worker *store;
    const struct intent *intent;
    struct step_trace *trace; /* NULL: it is not wanted */
    bool finished;
    /* the effect to perform, and then to settle; its texts are in the arena */
    struct effect effect;
    bool has_effect;
    const struct receipt *receipt; /* of the effect, once it is performed */
    struct arena arena;
};

/*
 * The step that is being carried out. A move is two writes: the delete of its source and the upsert
 * of its destination.
 */
struct stepping {
    struct transaction transaction;
    const struct step *step;
    struct attempt attempt;
    struct write writes[2];
    struct operation operations[2];
    struct write_set set;
    bool has_trace;                    /* the call that submitted was traced */
    const struct trace_context *trace; /* of the step; NULL: it is not traced */
    int64_t now_us;
    struct str noted;        /* of the transaction's row; empty: nothing */
    struct effect_note note; /* of an effect that begins */
    const struct effects *effects;
    bool begins_effect; /* the entity is read, and stays as it is */
};

void transaction_work_use(struct worker *store, const struct effects *effects)
{
    store->effects = effects;
}

void worker_observe(struct worker *store,
    void (*intents_committed)(void *context, const struct intent *intents, size_t count), void *context)
{
    store->observer = (struct commit_observer){ intents_committed, context };
}

/* ---- flight 1 ---- */

static enum status send_by_key(
    struct session *session, const struct embedded *sql, const struct intent *intent, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, intent->key.partition, intent->key.row);
    return pg_send(&session->pg, sql, &params, err);
}

/* false: the submission was not traced. */
static bool read_trace(const PGresult *row, struct step_trace *trace)
{
    if (PQntuples(row) == 0 || !trace_context_load(pg_bytes(row, 0, TRACE_BYTES), &trace->submission))
        return false;
    trace->intent_us = intent_id_us(pg_intent_id(row, 0, TRACE_INTENT_ID));
    return true;
}

/* *found is false if there is no such transaction. */
static enum status lock_transaction(struct session *session, struct step_work *work,
    struct stepping *stepping, bool *found, struct error *err)
{
    const struct intent *intent = work->intent;
    PG_RESULT row = NULL;
    PG_RESULT trace = NULL;

    TRY(session_send_begin(session, err));
    TRY(send_by_key(session, &sql_transaction_lock, intent, err));
    if (work->trace)
        TRY(send_by_key(session, &sql_transaction_trace, intent, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, &stepping->now_us, err));
    TRY(pg_next(&session->pg, &row, err));
    if (work->trace)
        TRY(pg_next(&session->pg, &trace, err));
    TRY(pg_end(&session->pg, err));
    stepping->has_trace = work->trace && read_trace(trace, work->trace);
    *found = PQntuples(row) > 0;
    if (!*found)
        return STATUS_OK;
    stepping->noted = arena_copy(&session->arena, pg_bytes(row, 0, TRANSACTION_COLUMN_EFFECT));
    return transaction_calls_read_row(
        row, 0, intent->key.partition, &session->arena, &stepping->transaction, err);
}

/* Send a statement about the transaction that the intent names. */
static enum status send_about(
    struct session *session, const struct embedded *sql, const struct intent *intent, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int2(&params, transaction_calls_bucket(intent->key.row));
    pg_add_bytes(&params, intent->key.partition);
    pg_add_bytes(&params, intent->key.row);
    return pg_send(&session->pg, sql, &params, err);
}

/* ---- the plan ---- */

/* Guard G24: the table that had the name when the transaction was submitted. */
struct step_target {
    struct str account, table;
    int64_t table_id;
};

static void prepare_write(
    struct stepping *stepping, int i, struct step_target target, struct write write, struct arena *arena)
{
    stepping->writes[i] = write;
    stepping->operations[i] = (struct operation){
        .kind = OPERATION_WRITE,
        .account = target.account.len > 0 ? target.account : stepping->transaction.account,
        .table = target.table,
        .arena = arena,
        .trace = stepping->trace,
        .in.write = { .writes = &stepping->writes[i],
            .count = 1,
            .atomic = true,
            .table_id = target.table_id },
    };
}

static void prepare(struct stepping *stepping, struct str worker, struct arena *arena)
{
    static const enum write_kind kinds[] = {
        [STEP_INSERT_OR_REPLACE] = WRITE_INSERT_OR_REPLACE,
        [STEP_INSERT_OR_MERGE] = WRITE_INSERT_OR_MERGE,
        [STEP_DELETE_IF_EXISTS] = WRITE_DELETE_IF_EXISTS,
        [STEP_MOVE] = WRITE_DELETE_IF_EXISTS,
        [STEP_WRITE_FILE] = WRITE_DELETE_IF_EXISTS,
        [STEP_APPEND_FILE] = WRITE_DELETE_IF_EXISTS,
        [STEP_PUT_BLOB] = WRITE_DELETE_IF_EXISTS,
        [STEP_DELETE_BLOB] = WRITE_DELETE_IF_EXISTS,
        [STEP_HTTP_CALL] = WRITE_DELETE_IF_EXISTS,
    };
    const struct step *step = stepping->step;

    stepping->attempt = (struct attempt){
        .step = stepping->transaction.steps_done,
        .worker = worker,
    };
    prepare_write(stepping, 0, (struct step_target){ step->account, step->table, step->table_id },
        (struct write){ .kind = kinds[step->kind],
            .key = step->key,
            .properties = step->properties,
            .condition = step->condition,
            .expires = step->expires },
        arena);
    if (step->kind != STEP_MOVE)
        return;
    prepare_write(stepping, 1, (struct step_target){ step->to_account, step->to_table, step->to_table_id },
        (struct write){ .kind = WRITE_INSERT_OR_REPLACE, .key = step->to_key }, arena);
    stepping->operations[0].next = &stepping->operations[1];
}

static void note_failure(struct attempt *attempt, const struct error *err)
{
    attempt->status = err->status;
    attempt->reason = str_of(err->reason ? err->reason : status_name(err->status));
    attempt->message = str_of(err->message);
}

static struct str etag_text(const struct plan_row *row, const struct row_state *state, struct arena *arena)
{
    char text[ETAG_BYTES];

    if (!state->live)
        return STR_EMPTY;
    return arena_copy(arena,
        str_of_bytes(text,
            etag_format((struct etag){ row->table->table_id, state->version, etag_key(&row->key) }, text)));
}

/*
 * The destination cannot be written, so undo the delete of the source, which keeps its unique
 * values.
 */
static void take_back(struct stepping *stepping, struct plan_row *source, const struct row_state *before)
{
    source->now = *before;
    if (stepping->set.owners)
        unique_owners_start(stepping->set.owners);
}

/*
 * Plan the upsert of the destination with the present state of the source; both writes are made, or
 * neither.
 */
static void plan_move(struct stepping *stepping, struct plan_row *source, struct write_clock clock)
{
    struct operation *remove = &stepping->operations[0], *put = &stepping->operations[1];
    struct attempt *attempt = &stepping->attempt;
    const struct row_state before = source->now;
    struct error *err = ARENA_NEW(remove->arena, struct error); /* the attempt borrows its message */

    stepping->writes[1].properties = before.properties;
    stepping->writes[1].expires = before.expires;
    write_plan_operation(remove, stepping->set.planned[0].rows, clock);
    if (remove->error) {
        note_failure(attempt, remove->error);
    } else if (!before.live) {
        attempt->reason = STR_LITERAL("SOURCE_ABSENT");
    } else if ((!stepping->set.planned[1].rows[0]->table->is_wide &&
                   property_list_check(before.properties, &stepping->step->to_key, err) != STATUS_OK) ||
               held_blobs_check_move(source, stepping->set.planned[1].rows[0], remove->arena, err) !=
                   STATUS_OK) {
        take_back(stepping, source, &before);
        note_failure(attempt, err);
    } else {
        write_plan_operation(put, stepping->set.planned[1].rows, clock);
        if (put->error) {
            take_back(stepping, source, &before);
            note_failure(attempt, put->error);
        }
    }
}

/*
 * Plan nothing but the condition, and make the content from the entity as it is now. The entity
 * stays as it is.
 */
static void plan_content(
    struct stepping *stepping, struct plan_row *row, struct write_clock clock, struct arena *arena)
{
    const struct row_state before = row->now;
    const struct entity entity = { .key = row->key,
        .timestamp = before.ts,
        .properties = before.properties,
        .expires = before.expires,
        .etag = { row->table->table_id, before.version, 0 } };
    struct operation *check = &stepping->operations[0];
    struct error *err = ARENA_NEW(arena, struct error);
    struct buf content;

    write_plan_operation(check, stepping->set.planned[0].rows, clock);
    take_back(stepping, row, &before);
    if (check->error) {
        note_failure(&stepping->attempt, check->error);
        return;
    }
    buf_init(&content, arena);
    if (before.live && before.properties.bytes.len <= LIMIT_EFFECT_ENTITY_BYTES)
        stepping->effects->write_entity(stepping->effects->context, &entity, &content);
    if (!before.live)
        reason_set(
            err, REASON_RESOURCE_NOT_FOUND, "the entity that the step takes as content does not exist");
    else if (content.len == 0 || content.len > LIMIT_EFFECT_ENTITY_BYTES)
        reason_set(err, REASON_ENTITY_TOO_LARGE, "the entity has more than %d bytes as JSON",
            LIMIT_EFFECT_ENTITY_BYTES);
    if (err->status != STATUS_OK)
        note_failure(&stepping->attempt, err);
    stepping->note.content = buf_str(&content);
    stepping->note.entity = entity.etag;
}

struct planning {
    struct session *session;
    struct stepping *stepping;
};

static void plan(void *context)
{
    const struct planning *planning = context;
    struct session *session = planning->session;
    struct stepping *stepping = planning->stepping;
    struct write_clock clock = { .floor = session->catalogue->floor, .ticks = session->now_ticks };
    struct plan_row *first = stepping->set.planned[0].rows[0], *last = first;
    const struct row_state before = first->now;

    if (stepping->step->kind == STEP_MOVE) {
        last = stepping->set.planned[1].rows[0];
        plan_move(stepping, first, clock);
    } else if (stepping->begins_effect) {
        plan_content(stepping, first, clock, &session->arena);
    } else {
        write_plan_operation(&stepping->operations[0], stepping->set.planned[0].rows, clock);
        if (stepping->operations[0].error)
            note_failure(&stepping->attempt, stepping->operations[0].error);
    }
    stepping->attempt.etag_before = etag_text(first, &before, &session->arena);
    stepping->attempt.etag_after = etag_text(last, &last->now, &session->arena);
}

/*
 * Record with the outcome which intents the step leaves open, so that a call that waits for the
 * transaction can then wait for its index entries.
 */
static void note_left_open(struct session *session, struct stepping *stepping)
{
    struct consistency sum = { .epoch = session->catalogue->epoch, .account = STR_EMPTY, .id = STR_EMPTY };
    int16_t buckets[ARRAY_LEN(stepping->operations)];
    struct rule_work work[MAX_RULE_WORK];
    struct intent_block block = stepping->set.ids;

    for (size_t i = 0; i < stepping->set.row_count; i++) {
        struct plan_row *row = &stepping->set.rows[i];

        if (write_plan_needs_intent(row, &session->arena) || write_plan_rule_work(row, work) > 0)
            buckets[block.bucket_count++] = row->bucket;
    }
    if (block.bucket_count == 0)
        return;
    if (block.bucket_count == 2 && buckets[0] >= buckets[1]) {
        int16_t first = buckets[1];

        block.bucket_count = first == buckets[0] ? 1 : 2;
        buckets[1] = buckets[0];
        buckets[0] = first;
    }
    block.buckets = buckets;
    sum.blocks = &block;
    sum.block_count = 1;
    stepping->attempt.left_open = consistency_encode(&sum, &session->arena);
}

/*
 * The text of a condition compiled when the transaction was submitted. If this version of the
 * program cannot compile it, the step fails.
 */
static bool compile_condition(struct stepping *stepping, struct arena *arena)
{
    struct condition *condition = &stepping->writes[0].condition;
    struct error *err = ARENA_NEW(arena, struct error);

    if (filter_compile(condition->text, arena, &condition->filter, err) == STATUS_OK)
        return true;
    note_failure(&stepping->attempt, err);
    return false;
}

static void read_whole(struct plan_row *row)
{
    row->reads_properties = row->reads_all_parts = true;
}

/*
 * Lock, read, plan. Fails only if the database does; a failure of the step itself is recorded in
 * the timeline.
 */
static enum status decide(struct session *session, struct stepping *stepping, struct error *err)
{
    struct planning planning = { session, stepping };
    struct attempt attempt;

    if (!compile_condition(stepping, &session->arena))
        return STATUS_OK;
    session->now_ticks = clock_ticks();
    write_set_build(&stepping->set, session, &stepping->operations[0]);
    for (size_t i = 0; i < ARRAY_LEN(stepping->operations); i++)
        if (stepping->operations[i].error) {
            note_failure(&stepping->attempt, stepping->operations[i].error);
            return STATUS_OK;
        }
    if (stepping->step->kind == STEP_MOVE) {
        if (stepping->set.row_count == 1)
            return STATUS_OK; /* the source is the destination */
        read_whole(stepping->set.planned[0].rows[0]);
    }
    if (stepping->begins_effect)
        read_whole(stepping->set.planned[0].rows[0]);
    TRY(write_batch_lock_more(session, &stepping->set, err));
    stepping->set.ids = session_reserve_intents(session, stepping->now_us, stepping->set.intent_count);
    attempt = stepping->attempt;
    TRY(write_batch_lock_owners(session, &stepping->set, plan, &planning, err));
    stepping->attempt = attempt;
    plan(&planning);
    note_left_open(session, stepping);
    return STATUS_OK;
}

/* ---- flight 3 ---- */

static void advance(struct stepping *stepping, struct arena *arena)
{
    struct transaction *transaction = &stepping->transaction;

    stepping->attempt.ended = clock_ticks();
    transaction_note_attempt(transaction, &stepping->attempt, arena);
    if (stepping->attempt.status != STATUS_OK)
        transaction->state = TRANSACTION_FAILED;
    else if ((size_t)++transaction->steps_done == transaction->step_count)
        transaction->state = TRANSACTION_DONE;
    else
        transaction->state = TRANSACTION_RUNNING;
}

/* The intents of the step's writes continue the trace below the step's span. */
static void begin_span(struct step_trace *trace, struct stepping *stepping)
{
    trace->span = span_below(&trace->submission, "transaction step", SPAN_INTERNAL, trace->random);
    trace->is_first = stepping->transaction.attempt_count == 0;
    stepping->trace = &trace->span.context;
}

static void end_span(struct step_trace *trace, const struct stepping *stepping)
{
    const struct attempt *attempt = &stepping->attempt;
    struct buf failure;

    span_add_text(&trace->span, "tavola.table", arena_copy(trace->arena, stepping->step->table));
    span_add_number(&trace->span, "tavola.step", attempt->step + 1);
    span_add_number(&trace->span, "tavola.steps", (int64_t)stepping->transaction.step_count);
    trace->is_traced = true;
    if (attempt->status != STATUS_OK) {
        buf_init(&failure, trace->arena);
        buf_append(&failure, attempt->reason);
        buf_append_byte(&failure, '\0');
        trace->span.failure = buf_str(&failure).data;
    }
}

static enum status commit_step(
    struct session *session, struct stepping *stepping, struct step_work *work, struct error *err)
{
    const struct commit_observer *observer = &work->store->observer;
    struct intent *intents = ARENA_ARRAY(&session->arena, struct intent, stepping->set.intent_count);
    size_t intent_count = 0;

    advance(stepping, &session->arena);
    work->finished = transaction_is_final(stepping->transaction.state);
    if (stepping->set.row_count > 0)
        TRY(write_batch_send_changes(session, &stepping->set, intents, &intent_count, err));
    FAILPOINT_TRY("step.before_record", err);
    TRY(transaction_calls_send_update(
        session, &stepping->transaction, work->finished ? stepping->attempt.ended : 0, err));
    TRY(send_about(session, &sql_transaction_dead_letter_delete, work->intent, err));
    if (work->finished)
        TRY(send_about(session, &sql_transaction_intent_delete, work->intent, err));
    FAILPOINT_TRY("step.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("step.after_commit");
    if (stepping->trace)
        end_span(work->trace, stepping);
    if (intent_count > 0 && observer->intents_committed)
        observer->intents_committed(observer->context, intents, intent_count);
    return STATUS_OK;
}

/* ---- effects outside the database ---- */

/* Hand the effect to the caller of this unit of work, whose arena outlives the session's. */
static void hand_out(const struct stepping *stepping, const struct effect_note *note, struct step_work *work)
{
    const struct effect effect = { .account = stepping->transaction.account,
        .transaction_id = stepping->transaction.id,
        .step = *stepping->step,
        .note = *note };

    work->effect = effect_copy(&effect, &work->arena);
    work->has_effect = true;
}

/* An append needs a range of its file. If it cannot have one, the attempt fails. */
static enum status reserve_range(struct session *session, struct stepping *stepping, struct error *err)
{
    const struct transaction *transaction = &stepping->transaction;
    const struct step *step = stepping->step;
    struct str content = transaction_step_has_entity(step) ? stepping->note.content : step->content;
    const struct appended_range range = { transaction->account, step->path, content.len };
    struct error *refusal = ARENA_NEW(&session->arena, struct error);

    if (step->kind != STEP_APPEND_FILE)
        return STATUS_OK;
    TRY(effect_notes_reserve(session, &range, &stepping->note, refusal, err));
    if (refusal->status != STATUS_OK)
        note_failure(&stepping->attempt, refusal);
    return STATUS_OK;
}

/*
 * Guard G15: what the effect will be is committed before it is performed. A note of an earlier
 * attempt stands: its effect may have been performed.
 */
static enum status note_effect(
    struct session *session, struct stepping *stepping, struct step_work *work, struct error *err)
{
    struct effect_note noted;

    if (effect_note_decode(stepping->noted, &session->arena, &noted) &&
        noted.step == stepping->transaction.steps_done) {
        hand_out(stepping, &noted, work);
        pg_recover(&session->pg); /* rolls back: nothing was written */
        return STATUS_OK;
    }
    stepping->note.step = stepping->transaction.steps_done;
    if (transaction_step_has_entity(stepping->step)) {
        stepping->begins_effect = true;
        TRY(decide(session, stepping, err));
        if (stepping->attempt.status != STATUS_OK)
            return commit_step(session, stepping, work, err);
        TRY(write_batch_send_removals(session, &stepping->set, err));
    }
    TRY(reserve_range(session, stepping, err));
    if (stepping->attempt.status != STATUS_OK)
        return commit_step(session, stepping, work, err);
    TRY(effect_notes_send(session, &stepping->transaction, &stepping->note, err));
    FAILPOINT_TRY("effect.before_note", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("effect.after_note");
    hand_out(stepping, &stepping->note, work);
    return STATUS_OK;
}

/* ---- blobs ---- */

/*
 * A blob that is deleted has its name in the database, whatever keeps its chunks: the step is one commit, without an
 * effect beside it.
 */
static enum status delete_blob(
    struct session *session, struct stepping *stepping, struct step_work *work, struct error *err)
{
    const struct blob_step blob = { stepping->transaction.account, stepping->step, &session->arena };
    struct error *refusal = ARENA_NEW(&session->arena, struct error); /* the attempt borrows its message */

    TRY(blob_steps_delete(session, &blob, &stepping->attempt, refusal, err));
    if (refusal->status != STATUS_OK)
        note_failure(&stepping->attempt, refusal);
    return commit_step(session, stepping, work, err);
}

/* Plan the delete of the entity, if it still is what the effect was made of. */
static enum status plan_end(
    struct session *session, struct stepping *stepping, const struct step_work *work, struct error *err)
{
    stepping->attempt.receipt = *work->receipt;
    if (!stepping->step->deletes_entity)
        return STATUS_OK;
    stepping->writes[0].condition =
        (struct condition){ .kind = CONDITION_MATCHES, .etag = work->effect.note.entity };
    return decide(session, stepping, err);
}

/* ---- a step ---- */

static enum status drop_intent(struct session *session, struct step_work *work, struct error *err)
{
    work->finished = true;
    TRY(send_about(session, &sql_transaction_intent_delete, work->intent, err));
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

/*
 * Lock the transaction and prepare its next step. *stands is false if it has ended, which is
 * settled.
 */
static enum status begin_step(struct session *session, struct stepping *stepping, struct step_work *work,
    bool *stands, struct error *err)
{
    struct transaction *transaction = &stepping->transaction;

    *stands = false;
    TRY(lock_transaction(session, work, stepping, stands, err));
    *stands = *stands && !transaction_is_final(transaction->state);
    if (!*stands)
        return drop_intent(session, work, err);
    if (transaction->steps_done < 0 || (size_t)transaction->steps_done >= transaction->step_count)
        return error_set(err, STATUS_INTERNAL, "transaction %.*s has %d of %zu steps done and has not ended",
            STR_ARG(transaction->id), transaction->steps_done, transaction->step_count);
    stepping->step = &transaction->steps[transaction->steps_done];
    if (stepping->has_trace)
        begin_span(work->trace, stepping);
    stepping->effects = work->store->effects;
    prepare(stepping, work->store->worker, &session->arena);
    stepping->attempt.started = work->store->step_began;
    return STATUS_OK;
}

static enum status take_step(struct session *session, void *context, struct error *err)
{
    struct step_work *work = context;
    struct stepping stepping = { 0 };
    bool stands;

    TRY(begin_step(session, &stepping, work, &stands, err));
    if (!stands)
        return STATUS_OK;
    if (stepping.step->kind == STEP_DELETE_BLOB)
        return delete_blob(session, &stepping, work, err);
    if (transaction_step_is_effect(stepping.step)) {
        if (!stepping.effects)
            return error_set(err, STATUS_UNIMPLEMENTED, "this worker has no effects outside the database");
        return note_effect(session, &stepping, work, err);
    }
    TRY(decide(session, &stepping, err));
    return commit_step(session, &stepping, work, err);
}

/*
 * The blob's name is pointed to the content that the effect has put, in the commit of the receipt: so a late worker's
 * content is never current. The name is locked before the entity.
 */
static enum status plan_put(
    struct session *session, struct stepping *stepping, const struct step_work *work, struct error *err)
{
    const struct blob_step blob = { stepping->transaction.account, stepping->step, &session->arena };
    struct error *refusal = ARENA_NEW(&session->arena, struct error); /* the attempt borrows its message */
    struct blob_slot slot;

    TRY(blob_steps_lock(session, &blob, &slot, refusal, err));
    if (refusal->status != STATUS_OK)
        note_failure(&stepping->attempt, refusal);
    else
        TRY(plan_end(session, stepping, work, err));
    if (stepping->attempt.status != STATUS_OK)
        return blob_steps_leave(session, &blob, &slot, err);
    return blob_steps_point(session, &blob, &slot, work->receipt, err);
}

/*
 * Guard G17: settle only the step that was noted. If another worker has settled it, its receipt
 * stands, and this worker's is of the same effect.
 */
static enum status settle_effect(struct session *session, void *context, struct error *err)
{
    struct step_work *work = context;
    struct stepping stepping = { 0 };
    bool stands;

    TRY(begin_step(session, &stepping, work, &stands, err));
    if (!stands)
        return STATUS_OK;
    if (stepping.transaction.steps_done != work->effect.note.step) {
        pg_recover(&session->pg); /* rolls back: nothing was written */
        return STATUS_OK;
    }
    TRY(stepping.step->kind == STEP_PUT_BLOB ? plan_put(session, &stepping, work, err)
                                             : plan_end(session, &stepping, work, err));
    if (stepping.step->kind == STEP_APPEND_FILE)
        TRY(effect_notes_send_settled(session, stepping.transaction.account, stepping.step->path,
            work->receipt->offset + work->receipt->size, err));
    return commit_step(session, &stepping, work, err);
}

/* Carry out a step up to its end; with an effect outside the database that is a commit before and one after it. */
static enum status run_step(struct worker *store, struct step_work *work, struct error *err)
{
    const struct effects *effects = store->effects;
    struct receipt receipt = { 0 };

    TRY(worker_attempt(store, take_step, work, err));
    if (!work->has_effect)
        return STATUS_OK;
    TRY(effects->perform(effects->context, &work->effect, &work->arena, &receipt, err));
    FAILPOINT("effect.before_settle");
    work->receipt = &receipt;
    return worker_attempt(store, settle_effect, work, err);
}

enum status transaction_work_step(struct worker *store, const struct intent *intent, struct step_trace *trace,
    bool *finished, struct error *err)
{
    struct step_work work = { .store = store, .intent = intent, .trace = trace };
    enum status status;

    arena_init(&work.arena);
    store->step_began = clock_ticks();
    status = run_step(store, &work, err);
    arena_cleanup(&work.arena);
    TRY(status);
    store->step_began = 0;
    *finished = work.finished;
    return STATUS_OK;
}
