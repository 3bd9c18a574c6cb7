/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - see the header. Acknowledging comes last and only saves work: the intent is the record.
 */
#include "workers/loop.h"

#include "base/failpoint.h"
#include "base/log.h"
#include "domain/intents/claim_size.h"
#include "store/dead_letters/claim_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/queue_work.h"
#include "store/intents/scan_reach.h"
#include "workers/batch.h"
#include "workers/effects/effects.h"

enum {
    CLAIM_WAIT_MS = 500, /* a stop is noticed after at most that long */
    RECLAIM_EVERY_MS = 1000,
    SUSPECT_EVERY_MS = 1000,
    SUSPECT_AGAIN_MS = 5000, /* after waiting a second for a lock */
    POLL_PAUSE_MS = 100,
    LIMITED_EVERY_MS = 100, /* each look takes the permits of a tenth of a second */
    FIRST_FAILURE_PAUSE_MS = 50,
    LONGEST_FAILURE_PAUSE_MS = 2000,
    /* Keys are cheaper together, so a claim of them may last longer than one of work that runs alone. */
    TOGETHER_SHARE = 4,
    /*
     * Of a claim from the database. A scan finds the oldest intents first, so with fewer a locked key would hold up the
     * others of its bucket range.
     */
    MIN_POLLED = 8,
};

/* ---- getting messages ---- */

/* How many messages to claim. A consumer that waits for some listens to all streams, whatever that number is. */
static size_t claim_size(const struct loop *loop, bool waits)
{
    size_t max = (size_t)loop->ctx->shared->config->claim_batch,
           queues = (size_t)atomic_load(&loop->ctx->shared->queues.count),
           size = loop->claim_size > 0 ? loop->claim_size : max;

    return waits && size < queues ? (queues < max ? queues : max) : size;
}

static size_t polled_size(const struct loop *loop)
{
    size_t max = (size_t)loop->ctx->shared->config->claim_batch, size = claim_size(loop, false);
    size_t min = max < MIN_POLLED ? max : MIN_POLLED;

    return size > min ? size : min;
}

/* Claim messages that are there, in turns between the accounts, or else wait for some. */
static enum status claim_new(
    struct loop *loop, int64_t wait_ms, struct queue_message **messages, size_t *count, struct error *err)
{
    struct worker_ctx *ctx = loop->ctx;
    struct queue_take take = { .max_count = claim_size(loop, false), .arena = &ctx->arena };

    TRY(queue_claim(ctx->queue, &take, messages, count, err));
    if (*count > 0 || wait_ms == 0)
        return STATUS_OK;
    take.max_count = claim_size(loop, true);
    take.wait_ms = wait_ms;
    return queue_claim(ctx->queue, &take, messages, count, err);
}

static enum status claim_from_queue(
    struct loop *loop, int64_t wait_ms, struct queue_message **messages, size_t *count, struct error *err)
{
    struct worker_ctx *ctx = loop->ctx;
    const struct queue_take abandoned = {
        .max_count = claim_size(loop, false),
        .idle_ms = ctx->shared->config->visibility_s * 1000,
        .arena = &ctx->arena,
    };
    bool due = ctx->now_us() >= loop->next_reclaim_us;

    *count = 0;
    /* messages that come back again and again must not delay new ones */
    if (due && loop->reclaimed) {
        loop->reclaimed = false;
        TRY(claim_new(loop, 0, messages, count, err));
        if (*count > 0)
            return STATUS_OK;
    }
    if (due) {
        TRY(queue_reclaim(ctx->queue, &abandoned, messages, count, err));
        if (*count < abandoned.max_count)
            loop->next_reclaim_us = ctx->now_us() + RECLAIM_EVERY_MS * 1000;
        loop->reclaimed = *count > 0;
        if (loop->reclaimed)
            return STATUS_OK;
    }
    loop->reclaimed = false;
    return claim_new(loop, wait_ms, messages, count, err);
}

/* Whether the worker holds the bucket range, and this thread scans it. */
static bool is_mine(const struct worker_ctx *ctx, int range)
{
    int threads = (int)ctx->shared->config->threads;

    return range % threads == ctx->index % threads && atomic_load(&ctx->shared->held[range]);
}

/* The intents that one scan has found. */
struct finding {
    const struct scan_scope *scope; /* NULL: all work */
    struct intent *intents;
    size_t count, max;
};

/* Scan one bucket range: its share or, with rest_only, more of what the share has left. */
static enum status scan_range(struct loop *loop, int range, bool rest_only, struct finding *finding)
{
    struct worker_ctx *ctx = loop->ctx;
    struct intent_scan what = { .range = range,
        .scope = finding->scope,
        .from_id = scan_marks_from(&loop->scan_marks, range, ctx->now_us()),
        .rest_only = rest_only,
        .max = finding->max - finding->count };
    struct intents_found found;

    TRY(lease_work_scan(ctx->store, &what, &loop->scan_marks.reach[range], &ctx->arena, &found, NULL));
    if (!rest_only)
        loop->scan_marks.low[range] = found.low_id;
    if (found.count > 0)
        memcpy(finding->intents + finding->count, found.intents, found.count * sizeof(*found.intents));
    finding->count += found.count;
    return STATUS_OK;
}

/*
 * Find open intents of this thread's bucket ranges: first a share of each range in turn, then more
 * of those with more.
 */
static size_t scan_ranges(struct loop *loop, const struct scan_scope *scope, struct intent *out, size_t max)
{
    struct finding finding = { .scope = scope, .intents = out, .max = max };
    int first = loop->first_range;
    bool rest_only = false, more = true;

    loop->first_range = (first + 1) % LEASE_RANGES;
    (void)scan_marks_follow(&loop->scan_marks, worker_connection(loop->ctx->store));
    for (; more && finding.count < max; rest_only = true) {
        more = false;
        for (int i = 0; i < LEASE_RANGES && finding.count < max; i++) {
            int range = (first + i) % LEASE_RANGES;

            if (!rest_only)
                scan_marks_reread(
                    /* the intents of the last scan are done, or still open */
                    &loop->scan_marks, range);
            if (!is_mine(loop->ctx, range) || (rest_only && loop->scan_marks.reach[range].open == 0))
                continue;
            if (scan_range(loop, range, rest_only, &finding) != STATUS_OK)
                return finding.count;
            more = more || loop->scan_marks.reach[range].open > 0;
        }
    }
    return finding.count;
}

/* Find work that has no rate limit. */
static size_t find_free(struct loop *loop, struct intent *out, size_t max)
{
    struct scan_scope scope;

    return scan_ranges(loop, queues_free_scope(&loop->ctx->shared->queues, &scope), out, max);
}

/*
 * Find work with a rate limit, as much as there are permits for; each kind of work of each queue in
 * turn.
 */
static size_t find_limited(struct loop *loop, struct intent *out, size_t max)
{
    const struct queues *queues = &loop->ctx->shared->queues;
    int first = loop->first_limited, first_range = loop->first_range;
    size_t total = 0;

    for (int looked = 0; looked < QUEUE_SLOTS && total < max; looked++) {
        int slot = (first + looked) % QUEUE_SLOTS;
        struct scan_scope scope = { .queues = atomic_load(&queues->count) };
        int64_t granted = 0;
        size_t found;

        if (queues_next_limited(queues, slot) != slot)
            continue;
        scope.until_us[slot] = INT64_MAX;
        loop->first_limited = slot + 1;
        loop->first_range = first_range;
        found = scan_ranges(loop, &scope, out + total, max - total);
        if (found == 0)
            continue;
        if (queue_work_take_permits(loop->ctx->store, slot / WORK_KINDS, slot % WORK_KINDS + 1,
                (int64_t)found, &granted, NULL) != STATUS_OK)
            break;
        total += (size_t)granted;
        if ((size_t)granted == found)
            loop->next_limited_us = 0; /* there may be more work, and more permits */
    }
    return total;
}

/* Those that failed come back after their visibility timeout. */
static void note_acknowledged(struct worker_ctx *ctx)
{
    struct error err = { 0 };

    if (queue_acknowledged(ctx->queue, &err) != STATUS_OK)
        outage_failed(&ctx->outages.acknowledge, "acknowledge", &err, ctx->now_us());
}

/* Acknowledge what was left for the next claim, since none follows soon. */
static void acknowledge_now(struct worker_ctx *ctx)
{
    queue_flush(ctx->queue);
    note_acknowledged(ctx);
}

static struct claim *claim_of(const struct loop *loop)
{
    return &loop->ctx->shared->claims[loop->ctx->index];
}

/*
 * false: the database cannot be used. A lock timeout is no failure: another worker has the key, so
 * the look for claims of dead workers is left for the next time, and other work does not wait for
 * it.
 */
static bool suspect_dead_claims(struct loop *loop, const struct claim_owner *owner)
{
    struct worker_ctx *ctx = loop->ctx;
    enum status status;

    if (ctx->now_us() < loop->next_suspicion_us)
        return true;
    status = claim_work_suspect_dead(ctx->store, owner, NULL);
    if (status != STATUS_OK && status != STATUS_TIMEOUT)
        return false;
    loop->next_suspicion_us =
        ctx->now_us() + (status == STATUS_OK ? SUSPECT_EVERY_MS : SUSPECT_AGAIN_MS) * 1000;
    return true;
}

/*
 * Polled work has no delivery count, so the claim is stored in the database first. Intents in the
 * claim of a dead worker come with deliveries = 2.
 */
static size_t claim_from_store(struct loop *loop,
    size_t (*find)(struct loop *loop, struct intent *out, size_t max), struct queue_message **messages)
{
    struct worker_ctx *ctx = loop->ctx;
    size_t max = polled_size(loop), count;
    struct intent *intents = ARENA_ARRAY(&ctx->arena, struct intent, max);
    bool *suspects = ARENA_ARRAY(&ctx->arena, bool, max);
    struct claim_owner owner = claim_owner(claim_of(loop));

    acknowledge_now(ctx);
    if (!suspect_dead_claims(loop, &owner))
        return 0;
    count = find(loop, intents, max);
    if (count == 0 || claim_work_take(ctx->store, &owner, intents, count, suspects, NULL) != STATUS_OK)
        return 0;
    *messages = ARENA_ARRAY(&ctx->arena, struct queue_message, count);
    for (size_t i = 0; i < count; i++)
        (*messages)[i] = (struct queue_message){ .intent = intents[i], .deliveries = suspects[i] ? 2 : 1 };
    return count;
}

static bool has_limited(const struct loop *loop)
{
    return queues_next_limited(&loop->ctx->shared->queues, 0) < QUEUE_SLOTS;
}

static size_t claim_limited(struct loop *loop, struct queue_message **messages)
{
    if (!has_limited(loop) || loop->ctx->now_us() < loop->next_limited_us)
        return 0;
    loop->next_limited_us = loop->ctx->now_us() + LIMITED_EVERY_MS * 1000;
    return claim_from_store(loop, find_limited, messages);
}

/*
 * Acknowledge messages of paused or limited work: the intents stay, and are found again when they
 * may be done.
 */
static size_t drop_held_back(struct worker_ctx *ctx, struct queue_message *messages, size_t count)
{
    struct queue_message *held = ARENA_ARRAY(&ctx->arena, struct queue_message, count);
    struct error err = { 0 };
    size_t kept = 0, dropped = 0;

    for (size_t i = 0; i < count; i++) {
        if (queues_allow(&ctx->shared->queues, &messages[i].intent))
            messages[kept++] = messages[i];
        else
            held[dropped++] = messages[i];
    }
    /* at once: the batch may take longer than their visibility timeout */
    if (dropped > 0 && queue_acknowledge(ctx->queue, held, dropped, &err) != STATUS_OK)
        outage_failed(&ctx->outages.acknowledge, "acknowledge", &err, ctx->now_us());
    return kept;
}

/* ---- settling messages ---- */

static size_t collect_messages(
    const struct batch *batch, enum disposition disposition, struct queue_message *out)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->item_count; i++) {
        const struct item *item = &batch->items[i];

        for (size_t j = 0; j < item->count && item->disposition == disposition; j++)
            out[count++] = batch->messages[item->first + j];
    }
    return count;
}

static bool has_done_any(const struct batch *batch)
{
    for (size_t i = 0; i < batch->item_count; i++) {
        if (batch->items[i].disposition == DISPOSITION_DONE)
            return true;
    }
    return false;
}

/* Those that are done, or have new messages, are acknowledged with the next claim. */
static void settle_messages(struct worker_ctx *ctx, const struct batch *batch, size_t message_count)
{
    struct queue_message *some = ARENA_ARRAY(&ctx->arena, struct queue_message, message_count);
    struct error err = { 0 };
    size_t count = collect_messages(batch, DISPOSITION_DONE, some);

    count += collect_messages(batch, DISPOSITION_PUT_BACK, some + count);
    queue_acknowledge_later(ctx->queue, some, count);
    FAILPOINT("worker.before_ack");
    count = collect_messages(batch, DISPOSITION_AGAIN, some);
    if (count > 0 && queue_release(ctx->queue, some, count, &err) != STATUS_OK)
        outage_failed(&ctx->outages.release_messages, "release_messages", &err, ctx->now_us());
}

/*
 * The batch was released for new messages: these come first, and the released ones right after them, since keys that
 * would not have failed are among them.
 */
static void reclaim_soon(struct loop *loop)
{
    loop->next_reclaim_us = 0;
    loop->reclaimed = true;
}

/*
 * Choose the size of the next claim, unless this one has waited for a lock, which says nothing of the work of others.
 * Reclaimed messages that meet a lock again leave others a second.
 */
static void note_claim(struct loop *loop, const struct batch *batch, size_t count, bool reclaimed)
{
    if (batch->gave_way)
        reclaim_soon(loop);
    else if (reclaimed && batch->troubles > 0)
        loop->next_reclaim_us = loop->ctx->now_us() + RECLAIM_EVERY_MS * 1000;
    if (batch->troubles == 0)
        loop->claim_size = claim_size_next(claim_size(loop, false), count - batch->put_back,
            batch->alone_us + batch->together_us / TOGETHER_SHARE,
            (size_t)loop->ctx->shared->config->claim_batch);
}

/* If the release fails, the work of the claim comes as suspect later: no harm is done. */
static void release_claim(struct loop *loop)
{
    struct claim_owner owner = claim_owner(claim_of(loop));
    struct error err = { 0 };

    if (claim_work_release(loop->ctx->store, &owner, &err) != STATUS_OK)
        outage_failed(&loop->ctx->outages.release_claim, "release_claim", &err, loop->ctx->now_us());
}

/* ---- turns ---- */

/*
 * Each failure in a row doubles the pause, with jitter, so that workers do not load a database in
 * trouble.
 */
static void pause_after_failure(struct loop *loop)
{
    int64_t pause = loop->failure_pause_ms ? loop->failure_pause_ms : FIRST_FAILURE_PAUSE_MS;

    loop->failure_pause_ms = pause * 2 < LONGEST_FAILURE_PAUSE_MS ? pause * 2 : LONGEST_FAILURE_PAUSE_MS;
    (void)worker_pause(loop->ctx, pause / 2 + (int64_t)(worker_random(loop->ctx) % (uint64_t)pause));
}

size_t loop_turn(struct loop *loop)
{
    struct worker_ctx *ctx = loop->ctx;
    bool streaming = atomic_load(&ctx->shared->streaming);
    struct queue_message *messages = NULL;
    struct batch batch;
    /* A consumer that also polls limited work must not wait long for messages. */
    int64_t wait_ms = has_limited(loop) ? LIMITED_EVERY_MS : CLAIM_WAIT_MS;
    size_t count = 0, taken;
    bool from_queue;

    arena_cleanup(&ctx->arena);
    queue_set_shards(ctx->queue, atomic_load(&ctx->shared->queues.count));
    from_queue = false;
    count = claim_limited(loop, &messages);
    if (count == 0) {
        from_queue = claim_from_queue(loop, streaming ? wait_ms : 0, &messages, &count, NULL) == STATUS_OK;
        note_acknowledged(ctx);
        taken = count;
        if (from_queue)
            count = drop_held_back(ctx, messages, count);
        if (!from_queue || (!streaming && taken == 0)) {
            from_queue = false;
            count = claim_from_store(loop, find_free, &messages);
            if (count == 0)
                (void)worker_pause(ctx, POLL_PAUSE_MS);
        }
    }
    if (count == 0)
        return 0;

    metrics_count(ctx->shared, from_queue ? WORKER_CLAIMED : WORKER_POLLED, count);
    FAILPOINT("worker.after_claim");
    ctx->calls_us = 0;
    ctx->polled = !from_queue;
    batch_init(&batch, ctx, messages, count);
    claim_fill(claim_of(loop), messages, count, from_queue, ctx->now_us());
    batch_run(&batch, ctx);
    claim_empty(claim_of(loop));
    if (from_queue)
        settle_messages(ctx, &batch, count);
    else
        release_claim(loop);
    note_claim(loop, &batch, count, from_queue && loop->reclaimed);
    if (batch.store_failed || !has_done_any(&batch)) {
        acknowledge_now(ctx);
        pause_after_failure(loop);
    } else {
        loop->failure_pause_ms = 0;
    }
    return count;
}

/* Publish the intents that a step has made. */
static void publish_intents(void *context, const struct intent *intents, size_t count)
{
    (void)worker_publish(context, intents, count);
}

void *loop_thread(void *argument)
{
    struct loop loop = { .ctx = argument };
    struct effects effects;

    effects = effects_of(loop.ctx);
    worker_observe(loop.ctx->store, publish_intents, loop.ctx);
    transaction_work_use(loop.ctx->store, &effects);
    while (!worker_is_stopping(loop.ctx->shared))
        loop_turn(&loop);
    acknowledge_now(loop.ctx);
    return NULL;
}
