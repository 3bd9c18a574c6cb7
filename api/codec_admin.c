/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_admin.c - see the header.
 */
#include "api/codec_admin.h"

#include "api/codec_entity.h"
#include "base/digits.h"
#include "base/wire.h"
#include "domain/account_id.h"
#include "domain/intents/intent.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"
#include "domain/ticks.h"

enum { MAX_RATE = 1000000 };

/*
 * Read the name of a queue, "q0" to "q<queues - 1>", as its number; -1 if the name is empty, which means any queue.
 */
static enum status queue_decode(
    struct str name, const char *field, int32_t queues, int32_t *out, struct error *err)
{
    uint64_t number;
    bool has_zeros = name.len > 2 && name.data[1] == '0';

    *out = -1;
    if (name.len == 0)
        return STATUS_OK;
    if (name.data[0] != 'q' || has_zeros ||
        !digits_parse_unsigned(str_from(name, 1), (uint64_t)queues - 1, &number))
        return reason_set(
            err, REASON_INVALID_INPUT, "%s is not a queue; the queues are q0 to q%d", field, queues - 1);
    *out = (int32_t)number;
    return STATUS_OK;
}

static enum status text_decode(
    ProtobufCBinaryData text, const char *field, struct str *out, struct error *err)
{
    *out = codec_str(text);
    if (out->len <= LIMIT_KEY_BYTES && text_check(*out, NULL, NULL) &&
        (out->len == 0 || !memchr(out->data, '\0', out->len)))
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT, "%s is longer than %d bytes, not UTF-8, or holds a NUL",
        field, LIMIT_KEY_BYTES);
}

enum status codec_admin_dead_letter_filter_decode(const Tavola__V1__DeadLetterFilter *filter, int32_t queues,
    struct dead_letter_filter *out, struct error *err)
{
    *out = (struct dead_letter_filter){ .state = DEAD_LETTER_DEAD, .queue = -1, .queues = queues };
    if (!filter)
        return STATUS_OK;
    if (filter->state < 0 || filter->state > TAVOLA__V1__DEAD_LETTER_STATE__DEAD_LETTER_STATE_DISCARDED)
        return reason_set(err, REASON_INVALID_INPUT, "filter.state is not a value of DeadLetterState");
    if (filter->kind < 0 || filter->kind > TAVOLA__V1__WORK_KIND__WORK_KIND_VISIT)
        return reason_set(err, REASON_INVALID_INPUT, "filter.kind is not a value of WorkKind");
    if (filter->state > 0)
        out->state = (enum dead_letter_state)filter->state;
    out->kind = (int16_t)filter->kind;
    TRY(text_decode(filter->account, "filter.account", &out->account, err));
    TRY(text_decode(filter->table, "filter.table", &out->table, err));
    TRY(text_decode(filter->cause, "filter.cause", &out->cause, err));
    return queue_decode(codec_str(filter->queue), "filter.queue", queues, &out->queue, err);
}

enum status codec_admin_dead_letters_decode(const int64_t *ids, size_t count,
    const Tavola__V1__DeadLetterFilter *filter, int32_t queues, struct operation_dead_letters *out,
    struct error *err)
{
    if (count == 0 && !filter)
        return codec_missing(
            err, "dead_letter_ids", "numbers of dead letters are needed unless filter is set");
    if (count > LIMIT_PAGE_ROWS)
        return reason_set(err, REASON_INVALID_INPUT, "dead_letter_ids has %zu entries, allowed are %d", count,
            LIMIT_PAGE_ROWS);
    TRY(codec_admin_dead_letter_filter_decode(filter, queues, &out->filter, err));
    out->filter.ids = (int64_t *)(uintptr_t)ids;
    out->filter.id_count = count;
    out->limit = LIMIT_PAGE_ROWS;
    return STATUS_OK;
}

Tavola__V1__DeadLetter *codec_admin_dead_letter_message(
    const struct dead_letter_view *dead_letter, const struct dead_letter_filter *filter, struct arena *arena)
{
    Tavola__V1__DeadLetter *out = ARENA_NEW(arena, Tavola__V1__DeadLetter);

    tavola__v1__dead_letter__init(out);
    out->dead_letter_id = dead_letter->id;
    out->kind = (Tavola__V1__WorkKind)dead_letter->kind;
    out->queue = codec_bytes(arena_format(arena, "q%d", dead_letter->bucket % filter->queues));
    out->account = codec_bytes(account_id_name(dead_letter->account));
    if (dead_letter->kind == INTENT_TRANSACTION) {
        out->transaction_id = codec_bytes(dead_letter->key.row);
    } else {
        out->table = codec_bytes(dead_letter->table);
        out->key = codec_entity_key_message(&dead_letter->key, arena);
        out->index = codec_bytes(dead_letter->index);
    }
    out->state = (Tavola__V1__DeadLetterState)filter->state;
    out->failures = dead_letter->failures;
    out->cause = codec_bytes(codec_text(dead_letter->cause, arena));
    out->history = codec_bytes(codec_text(dead_letter->history, arena));
    out->note = codec_bytes(dead_letter->note);
    out->first_failed = codec_timestamp(dead_letter->first_failed, arena);
    out->last_failed = codec_timestamp(dead_letter->last_failed, arena);
    return out;
}

Tavola__V1__CauseCount *codec_admin_cause_message(const struct cause_view *cause, struct arena *arena)
{
    Tavola__V1__CauseCount *out = ARENA_NEW(arena, Tavola__V1__CauseCount);

    tavola__v1__cause_count__init(out);
    out->cause = codec_bytes(codec_text(cause->cause, arena));
    out->count = cause->count;
    out->example = cause->example;
    out->first_failed = codec_timestamp(cause->first_failed, arena);
    out->last_failed = codec_timestamp(cause->last_failed, arena);
    return out;
}

/* ---- audit records ---- */

static enum status time_decode(
    const Google__Protobuf__Timestamp *time, const char *field, int64_t *out, struct error *err)
{
    if (!time || ticks_from_timestamp(time->seconds, time->nanos, out))
        return STATUS_OK;
    return reason_set(err, REASON_OUT_OF_RANGE_INPUT, "%s lies outside the years 1601 to 9999", field);
}

enum status codec_admin_audit_decode(
    const Tavola__V1__ListAuditRecordsRequest *request, struct operation_audit *out, struct error *err)
{
    out->until = TICKS_MAX;
    TRY(text_decode(request->account, "account", &out->account, err));
    TRY(time_decode(request->since, "since", &out->since, err));
    return time_decode(request->until, "until", &out->until, err);
}

Tavola__V1__AuditRecord *codec_admin_audit_message(const struct audit_view *view, struct arena *arena)
{
    Tavola__V1__AuditRecord *out = ARENA_NEW(arena, Tavola__V1__AuditRecord);

    tavola__v1__audit_record__init(out);
    out->audit_id = view->id;
    out->recorded = codec_timestamp(view->recorded, arena);
    out->account = codec_bytes(view->record.account);
    out->credential = (Tavola__V1__AuditCredential)view->record.credential;
    out->key = view->record.key;
    out->method = codec_bytes(view->record.method);
    out->target = codec_bytes(view->record.target);
    out->outcome = codec_bytes(view->record.outcome);
    out->left_out = view->record.left_out;
    return out;
}

Tavola__V1__RedriveDifference *codec_admin_difference_message(
    int64_t dead_letter_id, const struct dead_letter_difference *difference, struct arena *arena)
{
    Tavola__V1__RedriveDifference *out = ARENA_NEW(arena, Tavola__V1__RedriveDifference);

    tavola__v1__redrive_difference__init(out);
    out->dead_letter_id = dead_letter_id;
    out->missing = difference->missing;
    out->dangling = difference->dangling;
    out->mismatched = difference->mismatched;
    out->violations = difference->violations;
    out->steps = difference->steps;
    out->copies = difference->copies;
    out->dependents = difference->dependents;
    return out;
}

/* ---- queues ---- */

static enum status reshard_decode(
    const Tavola__V1__ControlQueueRequest *request, struct operation_queues *out, struct error *err)
{
    if (request->queue.len > 0 || request->kind != 0)
        return reason_set(err, REASON_INVALID_INPUT,
            "RESHARD changes all queues and kinds of work: leave queue and kind unset");
    if (request->shards < 1 || request->shards > MAX_QUEUES)
        return reason_set(
            err, REASON_OUT_OF_RANGE_INPUT, "shards is %d; allowed: 1 to %d", request->shards, MAX_QUEUES);
    *out = (struct operation_queues){ .queues = request->shards, .queue = -1, .action = QUEUE_RESHARD };
    return STATUS_OK;
}

enum status codec_admin_queue_control_decode(
    const Tavola__V1__ControlQueueRequest *request, struct operation_queues *out, struct error *err)
{
    if (request->control < TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_PAUSE ||
        request->control > TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_RESHARD)
        return codec_missing(err, "control", "PAUSE, RESUME, DRAIN, LIMIT_RATE or RESHARD");
    if (request->kind < 0 || request->kind > TAVOLA__V1__WORK_KIND__WORK_KIND_VISIT)
        return reason_set(err, REASON_INVALID_INPUT, "kind is not a value of WorkKind");
    if (request->rate < 0 || request->rate > MAX_RATE)
        return reason_set(err, REASON_OUT_OF_RANGE_INPUT, "rate is %lld; allowed: 0 to %d",
            (long long)request->rate, MAX_RATE);
    if (request->rate > 0 && request->control != TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_LIMIT_RATE)
        return reason_set(err, REASON_INVALID_INPUT, "rate may be set for LIMIT_RATE only");
    if (request->control == TAVOLA__V1__QUEUE_CONTROL__QUEUE_CONTROL_RESHARD)
        return reshard_decode(request, out, err);
    if (request->shards != 0)
        return reason_set(err, REASON_INVALID_INPUT, "shards may be set for RESHARD only");
    *out = (struct operation_queues){
        .kind = (int16_t)request->kind, .action = (enum queue_action)request->control, .rate = request->rate
    };
    return queue_decode(codec_str(request->queue), "queue", MAX_QUEUES, &out->queue, err);
}

static Tavola__V1__QueueWork *work_message(const struct queue_view *view, struct arena *arena)
{
    Tavola__V1__QueueWork *out = ARENA_NEW(arena, Tavola__V1__QueueWork);

    tavola__v1__queue_work__init(out);
    out->kind = (Tavola__V1__WorkKind)view->kind;
    out->state = (Tavola__V1__QueueState)view->state;
    out->rate_limit = view->control.rate;
    out->open_intents = view->open_intents;
    out->oldest_age = codec_duration(view->oldest_age_us, arena);
    out->applied_per_second = view->per_second;
    out->time_to_fresh =
        codec_duration(queue_control_time_to_fresh_us(view->open_intents, view->per_second), arena);
    return out;
}

static void write_worker(
    struct buf *out, uint32_t field, const struct worker_view *worker, struct arena *arena)
{
    Tavola__V1__WorkerState message = TAVOLA__V1__WORKER_STATE__INIT;
    struct str rest = worker->operations;
    size_t lines = 1;

    for (size_t i = 0; i < rest.len; i++)
        lines += rest.data[i] == '\n';
    message.operations = ARENA_ARRAY(arena, ProtobufCBinaryData, lines);
    while (rest.len > 0)
        message.operations[message.n_operations++] = codec_bytes(str_take(&rest, '\n'));
    message.name = codec_bytes(worker->name);
    message.started = codec_timestamp(ticks_from_unix_us(worker->started_us), arena);
    message.report_age = codec_duration(worker->report_age_us > 0 ? worker->report_age_us : 0, arena);
    message.threads = worker->threads;
    message.leases = worker->leases;
    message.claimed_keys = worker->claimed_keys;
    message.reconciled = worker->reconciled;
    message.stepped = worker->stepped;
    message.retried = worker->retried;
    message.buried = worker->buried;
    codec_pack(out, field, &message.base);
}

void codec_admin_queues_write(
    struct buf *out, uint32_t field, const struct outcome_queues *queues, struct arena *arena)
{
    for (size_t i = 0; i < queues->count;) {
        Tavola__V1__Queue message = TAVOLA__V1__QUEUE__INIT;
        Tavola__V1__QueueWork *work[WORK_KINDS];
        int32_t queue = queues->views[i].queue;

        message.name = codec_bytes(arena_format(arena, "q%d", queue));
        message.work = work;
        while (i < queues->count && queues->views[i].queue == queue)
            work[message.n_work++] = work_message(&queues->views[i++], arena);
        codec_pack(out, field, &message.base);
    }
    wire_write_scalar(out, field + 1, (uint64_t)queues->map.version);
    for (size_t i = 0; i < queues->worker_count; i++)
        write_worker(out, field + 2, &queues->workers[i], arena);
}
