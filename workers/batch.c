/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - see the header. A failure that is the fault of the work is counted in the database; the
 * relay publishes the work again when its pause is over, or it becomes a dead letter. Failures of
 * the database or the network are not counted.
 */
#include "workers/batch.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "domain/database/sqlstate.h"
#include "domain/intents/delivery.h"
#include "domain/limits.h"
#include "domain/text.h"
#include "store/dead_letters/claim_work.h"
#include "store/dead_letters/dead_letter_work.h"

enum {
    MAX_TROUBLES = 8, /* keys of a batch that may time out: each takes a second or more */
    /* a failed part is cut into quarters: as many attempts as with halves, with fewer keys */
    PARTS = 4,
    /* a part of so few keys is not cut again: that would cost as much as each key alone */
    MIN_PART = PARTS,
    /* failed parts of that size in a batch: then all other keys are tried alone */
    MAX_CULPRITS = 8,
    /* keys that fail alone in a batch: after so many each time the rest is released if new messages wait */
    FAILED_PER_LOOK = 16,
    MAX_FAILED = 128, /* then the rest is released in any case */
    /* how long keys run alone until the rest is put back if new messages wait: they should take CLAIM_TARGET_US */
    PUT_BACK_AFTER_US = 100000,
};

#define BURY "bury"

static int compare_work(const struct intent *a, const struct intent *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->table_id != b->table_id)
        return a->table_id < b->table_id ? -1 : 1;
    return entity_key_compare(&a->key, &b->key);
}

static int compare_messages(const void *a, const void *b)
{
    const struct queue_message *left = a, *right = b;

    return compare_work(&left->intent, &right->intent);
}

void batch_init(struct batch *batch, struct worker_ctx *ctx, struct queue_message *messages, size_t count)
{
    *batch = (struct batch){ .messages = messages, .items = ARENA_ARRAY(&ctx->arena, struct item, count) };
    if (count > 0)
        qsort(messages, count, sizeof(*messages), compare_messages);
    for (size_t i = 0; i < count; i++) {
        struct item *last = batch->item_count > 0 ? &batch->items[batch->item_count - 1] : NULL;

        if (!last || compare_work(&last->intent, &messages[i].intent) != 0) {
            last = &batch->items[batch->item_count++];
            last->intent = messages[i].intent;
            last->step = step_find(messages[i].intent.kind);
            last->first = i;
        } else {
            /* they would be those of one message of several: a search by key finds the intents of all */
            last->intent.ctids = (struct intent_ctids){ 0 };
        }
        last->count++;
        if (messages[i].deliveries > last->deliveries)
            last->deliveries = messages[i].deliveries;
    }
}

/*
 * The content of Redis is untrusted: a message whose key could not exist is dropped before the
 * database sees it.
 */
static bool is_usable(struct str part)
{
    return part.len <= LIMIT_KEY_BYTES && text_check(part, NULL, NULL) &&
           (part.len == 0 || !memchr(part.data, '\0', part.len));
}

static void drop_unusable(struct batch *batch)
{
    for (size_t i = 0; i < batch->item_count; i++) {
        struct item *item = &batch->items[i];

        if (!item->step)
            item->disposition = DISPOSITION_LEAVE;
        else if (!is_usable(item->intent.key.partition) || !is_usable(item->intent.key.row))
            item->disposition = DISPOSITION_DONE;
    }
}

/*
 * Whether a failure of this status can make the work a dead letter: failures of the database never
 * do.
 */
static bool is_fault_of_work(enum status status)
{
    return delivery_settle(status, DELIVERY_MAX_FAILURES, 0).verdict == DELIVERY_BURY;
}

/* Log a failed attempt: a dead letter always, other failures once per cause (log_repeat.h). */
static void log_failure(struct worker_ctx *ctx, const struct item *item, const struct error *err,
    int32_t failures, const char *then)
{
    char id[INTENT_ID_TEXT_BYTES];

    if (strcmp(then, BURY) != 0 && !log_repeat_failed(&ctx->outages.attempt, err->message, ctx->now_us()))
        return;
    log_event(LOG_WARN, "attempt_failed", log_text("step", item->step->name),
        log_text("intent", intent_id_format(item->intent.id, id)), log_number("bucket", item->intent.bucket),
        log_text("status", status_name(err->status)), log_text("sqlstate", err->sqlstate),
        log_number("failures", failures), log_text("then", then), log_text("why", err->message));
}

/*
 * Another transaction has the key's lock, or a block of its rows cannot be read: other keys may
 * succeed.
 */
static bool concerns_one_key(const struct error *err)
{
    return err->status == STATUS_TIMEOUT ||
           (err->status == STATUS_UNAVAILABLE && sqlstate_is_file_trouble(err->sqlstate));
}

/* If the failure does not concern one key, or too many keys fail, the database cannot be used. */
static void note_trouble(struct batch *batch, const struct error *err)
{
    if (!concerns_one_key(err) || ++batch->troubles == MAX_TROUBLES)
        batch->store_failed = true;
}

static enum disposition try_again(struct batch *batch, const struct error *err)
{
    note_trouble(batch, err);
    return DISPOSITION_AGAIN;
}

static enum disposition bury(struct batch *batch, struct worker_ctx *ctx, const struct item *item)
{
    struct error err = { 0 };

    if (dead_letter_work_bury(ctx->store, &item->intent, &err) != STATUS_OK)
        return try_again(batch, &err);
    metrics_count(ctx->shared, WORKER_BURIED, 1);
    return DISPOSITION_DONE;
}

static bool have_new_messages(struct worker_ctx *ctx)
{
    struct queue_state state;

    return atomic_load(&ctx->shared->streaming) && queue_inspect(ctx->queue, &state, NULL) == STATUS_OK &&
           state.length > state.pending;
}

static void note_failed(struct batch *batch, struct worker_ctx *ctx)
{
    if (++batch->failed % FAILED_PER_LOOK == 0)
        batch->gave_way = batch->failed == MAX_FAILED || have_new_messages(ctx);
}

/*
 * Count a failure and do what delivery_settle says, a retry not before the retry budget permits it.
 * DELIVERY_RETRY becomes DISPOSITION_DONE: the count and the time of the next attempt are in the
 * database, and the relay publishes the work then.
 */
static enum disposition count_failure(
    struct batch *batch, struct worker_ctx *ctx, const struct item *item, const struct error *cause)
{
    struct error err = { 0 };
    int32_t failures = 0;
    struct delivery delivery;
    int64_t permit_ms;

    note_failed(batch, ctx);
    if (dead_letter_work_count_failure(ctx->store, &item->intent, cause, &failures, &err) != STATUS_OK)
        return try_again(batch, &err);
    delivery = delivery_settle_cause(cause->status, ctx->failure_cause, failures, worker_random(ctx));
    log_failure(ctx, item, cause, failures, delivery.verdict == DELIVERY_BURY ? BURY : "retry");
    if (delivery.verdict == DELIVERY_BURY)
        return bury(batch, ctx, item);
    permit_ms = retry_budget_spend(&ctx->retries, ctx->now_us());
    if (permit_ms > delivery.retry_after_ms)
        delivery.retry_after_ms = permit_ms;
    if (dead_letter_work_retry_after(ctx->store, &item->intent, delivery.retry_after_ms, &err) != STATUS_OK)
        return try_again(batch, &err);
    metrics_count(ctx->shared, WORKER_RETRIED, 1);
    return DISPOSITION_DONE;
}

static bool is_suspect(const struct item *item)
{
    return item->deliveries > 1;
}

/*
 * The work may have killed the worker that had it, so its delivery is counted in the database
 * before it is tried again. DISPOSITION_OPEN: try it.
 */
static enum disposition count_delivery(struct batch *batch, struct worker_ctx *ctx, const struct item *item)
{
    struct error why = { 0 };
    int32_t before = 0;

    if (dead_letter_work_count_delivery(ctx->store, &item->intent, &before, &why) != STATUS_OK)
        return try_again(batch, &why);
    if (!delivery_is_hopeless(before))
        return DISPOSITION_OPEN;
    error_set(&why, STATUS_INTERNAL, "was begun %d times, and no worker reported its end", before);
    log_failure(ctx, item, &why, 0, BURY);
    return bury(batch, ctx, item);
}

/* The attempt ended without a crash: undo the count of its delivery. */
static void report_attempt(struct batch *batch, struct worker_ctx *ctx, const struct item *item)
{
    struct error err = { 0 };

    if (is_suspect(item) && !batch->store_failed &&
        dead_letter_work_report(ctx->store, &item->intent, &err) != STATUS_OK)
        note_trouble(batch, &err);
}

static void count_done(struct worker_ctx *ctx, const struct item *item)
{
    metrics_count(ctx->shared, item->step->counter, 1);
    queues_count_applied(&ctx->shared->queues, &item->intent, item->count);
    retry_budget_earn(&ctx->retries, 1);
}

static enum disposition run_alone(struct batch *batch, struct worker_ctx *ctx, const struct item *item)
{
    struct error err = { 0 };
    enum status status;

    if (worker_is_stopping(ctx->shared) || batch->store_failed || batch->gave_way)
        return DISPOSITION_AGAIN;
    if (is_suspect(item)) {
        enum disposition disposition = count_delivery(batch, ctx, item);

        if (disposition != DISPOSITION_OPEN)
            return disposition;
    }
    ctx->failure_cause = DELIVERY_OF_WORK;
    ctx->left_rest = false;
    status = item->step->run(ctx, &item->intent, 1, &err);
    if (status == STATUS_OK) {
        if (!ctx->left_rest)
            count_done(ctx, item);
        return DISPOSITION_DONE;
    }
    if (is_fault_of_work(status))
        return count_failure(batch, ctx, item, &err);
    if (status != STATUS_CANCELLED)
        log_failure(ctx, item, &err, 0, "release");
    if (status == STATUS_TIMEOUT || status == STATUS_UNAVAILABLE)
        note_trouble(batch, &err);
    report_attempt(batch, ctx, item);
    return DISPOSITION_AGAIN;
}

/* Items of one step, which runs them in one transaction; intents[i] is that of items[i]. */
struct part {
    const struct message_step *step; /* NULL: items that will run alone, of several steps */
    struct item **items;
    struct intent *intents;
    size_t count;
};

static struct part part_cut(const struct part *part, size_t number)
{
    size_t first = part->count * number / PARTS, end = part->count * (number + 1) / PARTS;

    return (struct part){ part->step, part->items + first, part->intents + first, end - first };
}

/*
 * Leave the work of keys that have failed and whose next try is not due: their intents stay, and the relay publishes
 * them when it is due. Otherwise each write to a failing key would bring its next try forward. This is asked only when
 * an attempt with all keys has failed: so it costs nothing if all is well, and a write that mends its key is not late.
 */
static void leave_waiting(struct batch *batch, struct worker_ctx *ctx, struct part *part)
{
    bool *waiting = ARENA_ARRAY(&ctx->arena, bool, part->count);
    struct error err = { 0 };
    size_t kept = 0;

    if (claim_work_find_waiting(ctx->store, part->intents, part->count, waiting, &err) != STATUS_OK) {
        note_trouble(batch, &err);
        return;
    }
    for (size_t i = 0; i < part->count; i++) {
        part->items[i]->disposition = waiting[i] ? DISPOSITION_DONE : DISPOSITION_OPEN;
        part->items[i]->is_due = !waiting[i];
        part->items[kept] = part->items[i];
        part->intents[kept] = part->intents[i];
        kept += !waiting[i];
    }
    part->count = kept;
}

/*
 * Run the part in one transaction. If that fails by fault of the work, leave the keys that wait for
 * their next try, and run the others again. Without such keys run the quarters of the part, down to
 * parts of MIN_PART keys, whose items stay open.
 *
 * false: run no other part either; open items are then tried alone. The worker stops, the database
 * cannot be used, too many parts have failed, or a key is locked: the quarter with that key would
 * wait for the lock again.
 */
static bool run_part(struct batch *batch, struct worker_ctx *ctx, struct part *part)
{
    size_t count = part->count;
    struct error err = { 0 };
    enum status status;
    bool goes_on = true;

    if (worker_is_stopping(ctx->shared) || batch->store_failed)
        return false;
    status = part->step->run(ctx, part->intents, part->count, &err);
    for (size_t i = 0; i < part->count && status == STATUS_OK; i++) {
        part->items[i]->disposition = DISPOSITION_DONE;
        count_done(ctx, part->items[i]);
    }
    if (status == STATUS_OK) {
        outage_worked(&ctx->outages.batch, "batch", ctx->now_us());
        return true;
    }
    if (status == STATUS_UNAVAILABLE && !concerns_one_key(&err)) {
        outage_failed(&ctx->outages.batch, "batch", &err, ctx->now_us());
        batch->store_failed = true;
    }
    if (!is_fault_of_work(status))
        return false;
    if (!part->items[0]->is_due)
        leave_waiting(batch, ctx, part);
    if (part->count < count)
        return part->count == 0 || run_part(batch, ctx, part);
    if (part->count <= MIN_PART)
        return ++batch->culprits < MAX_CULPRITS;
    for (size_t i = 0; i < PARTS && goes_on; i++) {
        struct part cut = part_cut(part, i);

        goes_on = run_part(batch, ctx, &cut);
    }
    return goes_on;
}

static bool is_of_part(const struct item *item, const struct part *part)
{
    if (item->disposition != DISPOSITION_OPEN || is_suspect(item))
        return false;
    return part->step ? item->step == part->step : item->step->together && !item->is_due;
}

/* The open items of the step, without suspects. step NULL: see run_open. */
static struct part collect_part(
    const struct batch *batch, struct worker_ctx *ctx, const struct message_step *step)
{
    struct part all = { .step = step,
        .items = ARENA_ARRAY(&ctx->arena, struct item *, batch->item_count),
        .intents = ARENA_ARRAY(&ctx->arena, struct intent, batch->item_count) };

    for (size_t i = 0; i < batch->item_count; i++) {
        if (!is_of_part(&batch->items[i], &all))
            continue;
        all.items[all.count] = &batch->items[i];
        all.intents[all.count++] = batch->items[i].intent;
    }
    return all;
}

static void run_together(struct batch *batch, struct worker_ctx *ctx, const struct message_step *step)
{
    struct part all = collect_part(batch, ctx, step);

    if (all.count > 0)
        (void)run_part(batch, ctx, &all);
}

/*
 * The size of a claim follows from what the work of the last one took. If this work takes much longer, such as calls
 * of a host that hangs, the work of other accounts that came meanwhile must not wait for all of it. The time of waiting
 * for a lock says nothing about the work.
 */
static bool must_put_back(struct batch *batch, struct worker_ctx *ctx)
{
    int64_t now_us = ctx->now_us();

    if (ctx->polled || batch->store_failed || batch->gave_way || batch->troubles > 0 ||
        worker_is_stopping(ctx->shared) || now_us - batch->looked_us < PUT_BACK_AFTER_US)
        return false;
    batch->looked_us = now_us;
    return have_new_messages(ctx);
}

/*
 * Publish the open items again: they wait for the turn of their account then. If the queue does not take all of them,
 * they are released. So are suspects: only their own messages tell that they were begun before.
 */
static void put_back(struct batch *batch, struct worker_ctx *ctx)
{
    struct intent *rest = ARENA_ARRAY(&ctx->arena, struct intent, batch->item_count);
    size_t count = 0;
    bool is_taken;

    for (size_t i = 0; i < batch->item_count; i++) {
        const struct item *item = &batch->items[i];

        if (item->disposition != DISPOSITION_OPEN || is_suspect(item))
            continue;
        rest[count] = item->intent;
        rest[count++].account = worker_account_of(ctx->store, item->intent.table_id);
    }
    is_taken = worker_publish(ctx, rest, count);
    for (size_t i = 0; i < batch->item_count; i++) {
        struct item *item = &batch->items[i];

        if (item->disposition != DISPOSITION_OPEN)
            continue;
        item->disposition = is_taken && !is_suspect(item) ? DISPOSITION_PUT_BACK : DISPOSITION_AGAIN;
        batch->put_back += item->count;
    }
}

/* Run the open items one by one. Those of an attempt that a lock has ended were not asked about yet. */
static void run_open(struct batch *batch, struct worker_ctx *ctx)
{
    struct part unasked = collect_part(batch, ctx, NULL);

    if (unasked.count > 0 && !batch->store_failed && !worker_is_stopping(ctx->shared))
        leave_waiting(batch, ctx, &unasked);
    batch->looked_us = ctx->now_us();
    for (size_t i = 0; i < batch->item_count; i++) {
        struct item *item = &batch->items[i];

        if (item->disposition == DISPOSITION_OPEN && must_put_back(batch, ctx))
            put_back(batch, ctx);
        if (item->disposition == DISPOSITION_OPEN)
            item->disposition = run_alone(batch, ctx, item);
        if (item->disposition == DISPOSITION_AGAIN || item->disposition == DISPOSITION_PUT_BACK)
            metrics_count(ctx->shared, WORKER_RELEASED, 1);
    }
}

void batch_run(struct batch *batch, struct worker_ctx *ctx)
{
    int64_t begun_us = ctx->now_us(), open_us;

    drop_unusable(batch);
    for (size_t i = 0; i < step_count; i++) {
        if (steps[i].together)
            run_together(batch, ctx, &steps[i]);
    }
    open_us = ctx->now_us();
    run_open(batch, ctx);
    batch->together_us = open_us - begun_us;
    batch->alone_us = ctx->now_us() - open_us;
}
