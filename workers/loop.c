/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.c - see the header. Acknowledging comes last and only saves work: the intent is the record.
 */
#include "workers/loop.h"

#include "base/failpoint.h"
#include "base/log.h"
#include "store/dead_letters/claim_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/queue_work.h"
#include "store/intents/scan_reach.h"
#include "workers/batch.h"

enum {
    CLAIM_WAIT_MS = 500, /* also how soon a stop is noticed */
    RECLAIM_EVERY_MS = 1000,
    SUSPECT_EVERY_MS = 1000,
    SUSPECT_AGAIN_MS = 5000, /* after waiting a second for a lock */
    POLL_PAUSE_MS = 100,
    LIMITED_EVERY_MS = 100, /* a tenth of a second's permits at once */
    FIRST_FAILURE_PAUSE_MS = 50,
    LONGEST_FAILURE_PAUSE_MS = 2000,
};

/* ---- getting messages ---- */

static enum status take_from_queue(
    struct loop *loop, int64_t wait_ms, struct queue_message **messages, size_t *count, struct error *err)
{
    struct worker_ctx *ctx = loop->ctx;
    const struct worker_config *config = ctx->shared->config;
    const struct queue_take at_once = {
        .max_count = (size_t)config->claim_batch,
        .idle_ms = config->visibility_s * 1000,
        .arena = &ctx->arena,
    };
    struct queue_take waiting = at_once;
    bool due = ctx->now_us() >= loop->next_reclaim_us;

    waiting.wait_ms = wait_ms;
    *count = 0;
    if (due && loop->reclaimed) { /* what keeps coming back must not hold up what is new */
        loop->reclaimed = false;
        TRY(queue_claim(ctx->queue, &at_once, messages, count, err));
        if (*count > 0)
            return STATUS_OK;
    }
    if (due) {
        TRY(queue_reclaim(ctx->queue, &at_once, messages, count, err));
        if (*count < at_once.max_count)
            loop->next_reclaim_us = ctx->now_us() + RECLAIM_EVERY_MS * 1000;
        loop->reclaimed = *count > 0;
        if (loop->reclaimed)
            return STATUS_OK;
    }
    return queue_claim(ctx->queue, &waiting, messages, count, err);
}

/* A lane of this thread's share of those that this worker holds. */
static bool is_mine(const struct worker_ctx *ctx, int lane)
{
    int threads = (int)ctx->shared->config->threads;

    return lane % threads == ctx->index % threads && atomic_load(&ctx->shared->held[lane]);
}

/* What polling has found. */
struct finding {
    const struct scan_scope *scope; /* NULL: all work */
    struct intent *intents;
    size_t count, most;
};

/* A lane's share, or more of what is left of it. */
static enum status scan_lane(struct loop *loop, int lane, bool rest_only, struct finding *finding)
{
    struct worker_ctx *ctx = loop->ctx;
    struct intent_scan what = { .lane = lane,
        .scope = finding->scope,
        .from_id = scan_marks_from(&loop->scan_marks, lane, ctx->now_us()),
        .rest_only = rest_only,
        .most = finding->most - finding->count };
    struct intents_found found;

    TRY(lease_work_scan(ctx->store, &what, &loop->scan_marks.reach[lane], &ctx->arena, &found, NULL));
    if (!rest_only)
        loop->scan_marks.low[lane] = found.low_id;
    if (found.count > 0)
        memcpy(finding->intents + finding->count, found.intents, found.count * sizeof(*found.intents));
    finding->count += found.count;
    return STATUS_OK;
}

/* Open intents of this thread's lanes: a share of each, in turn, then more of those that have more. */
static size_t scan_lanes(struct loop *loop, const struct scan_scope *scope, struct intent *out, size_t most)
{
    struct finding finding = { .scope = scope, .intents = out, .most = most };
    int first = loop->first_lane++ % LEASE_RANGES;
    bool rest_only = false, more = true;

    (void)scan_marks_follow(&loop->scan_marks, worker_connection(loop->ctx->store));
    for (; more && finding.count < most; rest_only = true) {
        more = false;
        for (int i = 0; i < LEASE_RANGES && finding.count < most; i++) {
            int lane = (first + i) % LEASE_RANGES;

            if (!rest_only)
                scan_marks_reread(
                    &loop->scan_marks, lane); /* what was found the last time is done, or open */
            if (!is_mine(loop->ctx, lane) || (rest_only && loop->scan_marks.reach[lane].open == 0))
                continue;
            if (scan_lane(loop, lane, rest_only, &finding) != STATUS_OK)
                return finding.count;
            more = more || loop->scan_marks.reach[lane].open > 0;
        }
    }
    return finding.count;
}

/* Work that may be done as fast as it goes. */
static size_t find_free(struct loop *loop, struct intent *out, size_t most)
{
    const struct queues *queues = &loop->ctx->shared->queues;
    struct scan_scope scope;

    if (!atomic_load(&queues->controlled))
        return scan_lanes(loop, NULL, out, most);
    queues_free_scope(queues, &scope);
    return scan_lanes(loop, &scope, out, most);
}

/* Work that is limited, as much of it as there are permits for; each kind of each queue in turn. */
static size_t find_limited(struct loop *loop, struct intent *out, size_t most)
{
    const struct queues *queues = &loop->ctx->shared->queues;
    size_t total = 0;

    for (int slot = queues_next_limited(queues, 0); slot < QUEUE_SLOTS && total < most;
         slot = queues_next_limited(queues, slot + 1)) {
        struct scan_scope scope = { .queues = atomic_load(&queues->count) };
        int64_t granted = 0;
        size_t found;

        scope.until_us[slot] = INT64_MAX;
        found = scan_lanes(loop, &scope, out + total, most - total);
        if (found == 0)
            continue;
        if (queue_work_take_permits(loop->ctx->store, slot / WORK_KINDS, slot % WORK_KINDS + 1,
                (int64_t)found, &granted, NULL) != STATUS_OK)
            break;
        total += (size_t)granted;
        if ((size_t)granted == found)
            loop->next_limited_us = 0; /* there is more, and it may be done */
    }
    return total;
}

static struct hand *claim_of(const struct loop *loop)
{
    return &loop->ctx->shared->hands[loop->ctx->index];
}

/*
 * false: the database cannot be used. A lock timeout is no failure: another worker has the key, so the look for
 * claims of dead workers is left for the next time, and other work does not wait for it.
 */
static bool look_at_dead_hands(struct loop *loop, const struct claim_owner *owner)
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
 * Nothing counts how often polled work is begun, so what is in hand is written down first: what is found in the
 * hand of a dead worker comes as delivered again.
 */
static size_t take_from_store(struct loop *loop,
    size_t (*find)(struct loop *loop, struct intent *out, size_t most), struct queue_message **messages)
{
    struct worker_ctx *ctx = loop->ctx;
    size_t most = (size_t)ctx->shared->config->claim_batch, count;
    struct intent *intents = ARENA_ARRAY(&ctx->arena, struct intent, most);
    bool *suspects = ARENA_ARRAY(&ctx->arena, bool, most);
    struct claim_owner owner = claim_owner(claim_of(loop));

    if (!look_at_dead_hands(loop, &owner))
        return 0;
    count = find(loop, intents, most);
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

static size_t take_limited(struct loop *loop, struct queue_message **messages)
{
    if (!has_limited(loop) || loop->ctx->now_us() < loop->next_limited_us)
        return 0;
    loop->next_limited_us = loop->ctx->now_us() + LIMITED_EVERY_MS * 1000;
    return take_from_store(loop, find_limited, messages);
}

/* What may not be worked on now is forgotten here: its intents stay, and come again when they may. */
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
    if (dropped > 0 && queue_acknowledge(ctx->queue, held, dropped, &err) != STATUS_OK)
        outage_failed(&ctx->outages.acknowledge, "acknowledge", &err, ctx->now_us());
    return kept;
}

/* ---- giving them back ---- */

static size_t collect(const struct batch *batch, enum disposition disposition, struct queue_message *out)
{
    size_t count = 0;

    for (size_t i = 0; i < batch->item_count; i++) {
        const struct item *item = &batch->items[i];

        for (size_t j = 0; j < item->count && item->disposition == disposition; j++)
            out[count++] = batch->messages[item->first + j];
    }
    return count;
}

static bool anything_done(const struct batch *batch)
{
    for (size_t i = 0; i < batch->item_count; i++) {
        if (batch->items[i].disposition == DISPOSITION_DONE)
            return true;
    }
    return false;
}

/* A message whose settling failed comes again after its visibility timeout. */
static void settle_messages(struct worker_ctx *ctx, const struct batch *batch, size_t message_count)
{
    struct queue_message *some = ARENA_ARRAY(&ctx->arena, struct queue_message, message_count);
    struct error err = { 0 };
    size_t count = collect(batch, DISPOSITION_DONE, some);

    if (count > 0 && queue_acknowledge(ctx->queue, some, count, &err) != STATUS_OK)
        outage_failed(&ctx->outages.acknowledge, "acknowledge", &err, ctx->now_us());
    FAILPOINT("worker.after_ack");
    count = collect(batch, DISPOSITION_AGAIN, some);
    if (count > 0 && queue_hand_back(ctx->queue, some, count, &err) != STATUS_OK)
        outage_failed(&ctx->outages.hand_back, "hand_back", &err, ctx->now_us());
}

/* A hand that stays filled makes its work suspect, no worse. */
static void put_down(struct loop *loop)
{
    struct claim_owner owner = claim_owner(claim_of(loop));
    struct error err = { 0 };

    if (claim_work_release(loop->ctx->store, &owner, &err) != STATUS_OK)
        outage_failed(&loop->ctx->outages.put_down, "put_down", &err, loop->ctx->now_us());
}

/* ---- turns ---- */

/* Each failure in a row doubles the pause, with jitter; the database needs no help to be busy. */
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
    /* Who has to look after limited work must not wait for messages for long. */
    int64_t wait_ms = has_limited(loop) ? LIMITED_EVERY_MS : CLAIM_WAIT_MS;
    size_t count = 0, taken;
    bool from_queue;

    arena_cleanup(&ctx->arena);
    queue_set_shards(ctx->queue, atomic_load(&ctx->shared->queues.count));
    from_queue = false;
    count = take_limited(loop, &messages);
    if (count == 0) {
        from_queue = take_from_queue(loop, streaming ? wait_ms : 0, &messages, &count, NULL) == STATUS_OK;
        taken = count;
        if (from_queue)
            count = drop_held_back(ctx, messages, count);
        if (!from_queue || (!streaming && taken == 0)) {
            from_queue = false;
            count = take_from_store(loop, find_free, &messages);
            if (count == 0)
                (void)worker_pause(ctx, POLL_PAUSE_MS);
        }
    }
    if (count == 0)
        return 0;

    metrics_count(ctx->shared, from_queue ? WORKER_CLAIMED : WORKER_POLLED, count);
    FAILPOINT("worker.after_claim");
    batch_init(&batch, ctx, messages, count);
    claim_fill(claim_of(loop), messages, count, from_queue, ctx->now_us());
    batch_run(&batch, ctx);
    claim_empty(claim_of(loop));
    if (from_queue)
        settle_messages(ctx, &batch, count);
    else
        put_down(loop);
    if (batch.store_failed || !anything_done(&batch))
        pause_after_failure(loop);
    else
        loop->failure_pause_ms = 0;
    return count;
}

/* A step's own intents, as the server does it after a write: hints, lost without harm. */
static void publish(void *context, const struct intent *intents, size_t count)
{
    struct worker_ctx *ctx = context;
    size_t published;

    if (atomic_load(&ctx->shared->streaming) &&
        queue_publish(ctx->queue, intents, count, &published, NULL) != STATUS_OK)
        log_write(LOG_DEBUG, "hints_not_published", NULL);
}

void *loop_thread(void *argument)
{
    struct loop loop = { .ctx = argument };

    worker_observe(loop.ctx->store, publish, loop.ctx);
    while (!worker_is_stopping(loop.ctx->shared))
        loop_turn(&loop);
    return NULL;
}
