/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay.c - see the header. Published intents are not marked in the database: publishing twice is
 * harmless, and a mark would cost a row version per write.
 */
#include "workers/relay.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "base/log.h"
#include "domain/intents/retry_budget.h"
#include "store/intents/backlog_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/queue_work.h"
#include "store/intents/scan_reach.h"

enum {
    PASS_PAUSE_MS = 250,
    MORE_PAUSE_MS = 20, /* between passes while there is more to publish */
    LEASE_MS = 5000,
    RENEW_EVERY_MS = 1500,
    REPORT_EVERY_MS = 2000,
    LOOK_EVERY_MS = 500,
    WATERMARK_SHARE = 10, /* reading the oldest intents takes at most 1/10 of the time */
    COUNT_SHARE = 50,     /* counting the open intents takes at most 1/50 of the time */
    QUEUES_EVERY_MS = 500,
    MISSED_AFTER_MS = 1000, /* the server publishes younger intents itself */
    MAX_PER_RANGE = 512,
    REFUSED_PAUSE_MS = 10000,
    DUE_SHARE = 50,       /* looking for due retries takes at most 1/50 of the time */
    MAX_DUE_OF_EACH = 64, /* of one account in a look */
};

/* ---- the state that other threads read; changes are logged ---- */

static void set_mode(struct relay *relay, bool streaming, const char *why)
{
    int64_t now_us = relay->ctx->now_us();
    struct log_repeat ended;

    atomic_store(&relay->ctx->shared->streaming, streaming);
    if (!streaming && log_repeat_failed(&relay->queue_outage, why, now_us))
        log_event(LOG_WARN, "queue", log_text("queue_mode", "polling"), log_text("why", why),
            log_number("failures", relay->queue_outage.failures));
    if (streaming && (log_repeat_worked(&relay->queue_outage, now_us, &ended) || !relay->logged_mode))
        log_event(LOG_INFO, "queue", log_text("queue_mode", "streaming"));
    relay->logged_mode = true;
}

static enum status set_store_available(struct relay *relay, enum status status, const struct error *err)
{
    int64_t now_us = relay->ctx->now_us();
    bool available = status == STATUS_OK;
    struct log_repeat ended;

    atomic_store(&relay->ctx->shared->store_available, available);
    relay->store_available = available;
    if (!available && log_repeat_failed(&relay->store_outage, err->message, now_us))
        log_event(LOG_WARN, "database", log_text("database", "unavailable"),
            log_text("status", status_name(status)), log_text("sqlstate", err->sqlstate),
            log_text("why", err->message), log_number("failures", relay->store_outage.failures));
    if (available && (log_repeat_worked(&relay->store_outage, now_us, &ended) || !relay->logged_store))
        log_event(LOG_INFO, "database", log_text("database", "available"));
    relay->logged_store = true;
    if (!available)
        relay->next_leases_us = 0; /* so that the next pass asks the database */
    return status;
}

/* ---- leases and watermarks ---- */

static enum status renew_leases(struct relay *relay, struct error *err)
{
    struct worker_ctx *ctx = relay->ctx;
    bool held[LEASE_RANGES] = { false };

    if (ctx->now_us() < relay->next_leases_us)
        return STATUS_OK;
    TRY(lease_work_hold(ctx->store, LEASE_MS, held, err));
    relay->next_leases_us = ctx->now_us() + RENEW_EVERY_MS * 1000;
    for (int range = 0; range < LEASE_RANGES; range++) {
        relay->held[range] = held[range];
        atomic_store(&ctx->shared->held[range], held[range]);
    }
    return STATUS_OK;
}

/* Say what this worker does, for people who look at the service. */
static enum status report_worker(struct relay *relay, struct error *err)
{
    struct worker_ctx *ctx = relay->ctx;
    struct worker_shared *shared = ctx->shared;
    int64_t now_us = ctx->now_us();
    struct worker_report report;

    if (now_us < relay->next_report_us)
        return STATUS_OK;
    if (relay->started_us == 0)
        relay->started_us = now_us;
    metrics_report(shared, &report);
    report.running_s = (now_us - relay->started_us) / 1000000;
    TRY(lease_work_report(ctx->store, &report, err));
    relay->next_report_us = now_us + REPORT_EVERY_MS * 1000;
    return STATUS_OK;
}

/*
 * When to measure again: the pause is `share` times as long as the measurement that began at
 * began_us took.
 */
static int64_t next_look(const struct relay *relay, int64_t began_us, int64_t share)
{
    int64_t ended_us = relay->ctx->now_us(), pause_us = (ended_us - began_us) * share;

    return ended_us + (pause_us > LOOK_EVERY_MS * 1000 ? pause_us : LOOK_EVERY_MS * 1000);
}

static void share_backlog(const struct relay *relay)
{
    struct worker_shared *shared = relay->ctx->shared;
    const struct backlog *backlog = &relay->backlog;

    atomic_store(&shared->lag_us, backlog->lag_us);
    atomic_store(&shared->open_intents, backlog->open_intents);
    for (int slot = 0; slot < QUEUE_SLOTS; slot++) {
        atomic_store(&shared->queues.open_intents[slot], backlog->work[slot].open_intents);
        atomic_store(&shared->queues.lag_us[slot], backlog->work[slot].lag_us);
    }
    log_event(LOG_DEBUG, "backlog", log_number("lag_ms", backlog->lag_us / 1000),
        log_number("open_intents", backlog->open_intents));
}

static enum status update_watermarks(struct relay *relay, struct error *err)
{
    struct worker_ctx *ctx = relay->ctx;
    int queues = atomic_load(&ctx->shared->queues.count);
    int64_t began_us = ctx->now_us();
    bool counts;

    if (began_us < relay->next_watermark_us)
        return STATUS_OK;
    if (queues != relay->backlog.queues)
        relay->next_count_us = 0;
    counts = began_us >= relay->next_count_us;
    relay->backlog.queues = queues;
    TRY(backlog_work_update(ctx->store, relay->held, counts, &relay->backlog, err));
    relay->looked_us = began_us;
    relay->next_watermark_us = next_look(relay, began_us, WATERMARK_SHARE);
    if (counts)
        relay->next_count_us = next_look(relay, began_us, COUNT_SHARE);
    share_backlog(relay);
    return STATUS_OK;
}

/* ---- queues ---- */

/*
 * After a change of the controls or of the number of queues, forget what was published: messages of
 * paused work were dropped, and messages may lie in a stream that no worker reads any more.
 */
static enum status read_controls(struct relay *relay, struct error *err)
{
    struct queues *queues = &relay->ctx->shared->queues;
    struct queue_control controls[QUEUE_SLOTS];
    struct queue_map map;
    bool any = false, resharded;

    TRY(queue_work_read_controls(relay->ctx->store, &map, controls, &any, err));
    resharded = queues_set_count(queues, map.queues);
    if (resharded)
        log_event(
            LOG_INFO, "queues", log_number("queues", map.queues), log_number("map_version", map.version));
    if (queues_set_controls(queues, controls, any) || resharded)
        recent_forget(&relay->recent);
    return STATUS_OK;
}

static enum status update_queues(struct relay *relay, struct error *err)
{
    struct applied *applied;
    size_t count;

    if (relay->ctx->now_us() < relay->next_queues_us)
        return STATUS_OK;
    relay->next_queues_us = relay->ctx->now_us() + QUEUES_EVERY_MS * 1000;
    arena_cleanup(&relay->ctx->arena);
    TRY(read_controls(relay, err));
    applied = ARENA_ARRAY(&relay->ctx->arena, struct applied, MAX_APPLIED);
    count = queues_take_applied(&relay->ctx->shared->queues, applied);
    return queue_work_add_applied(relay->ctx->store, applied, count, err);
}

/* ---- publishing ---- */

struct feeding {
    int64_t min_age_ms;
    size_t room;      /* the number of messages that may be published */
    bool more;        /* a bucket range may have further intents */
    bool refused;     /* Redis did not take the messages */
    struct error why; /* the cause, if refused */
};

/*
 * Leave out intents that were published a moment ago, because their work is under way, and paused and limited work,
 * which is not published.
 */
static size_t keep_publishable(struct relay *relay, struct intent *intents, size_t count)
{
    int64_t now_us = relay->ctx->now_us();
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        if (!recent_has(&relay->recent, &intents[i], now_us) &&
            queues_allow(&relay->ctx->shared->queues, &intents[i]))
            intents[kept++] = intents[i];
    }
    return kept;
}

/* Paused and limited work is left out: it is not published. */
static enum status scan_range(struct relay *relay, int range, bool rest_only, const struct feeding *feeding,
    struct intents_found *found, struct error *err)
{
    struct worker_ctx *ctx = relay->ctx;
    struct intent_scan what = { .range = range,
        .from_id = scan_marks_from(&relay->scan_marks, range, ctx->now_us()),
        .rest_only = rest_only,
        .min_age_ms = feeding->min_age_ms,
        .max = feeding->room < MAX_PER_RANGE ? feeding->room : MAX_PER_RANGE };
    struct scan_scope scope;

    what.scope = queues_free_scope(&ctx->shared->queues, &scope);
    TRY(lease_work_scan(ctx->store, &what, scan_marks_reach(&relay->scan_marks, range, ctx->now_us()),
        &ctx->arena, found, err));
    if (!rest_only)
        relay->scan_marks.low[range] = found->low_id;
    return STATUS_OK;
}

/* Publish what may be published of `found`, and leave that in it. false: a queue has not taken all of it. */
static bool publish_found(struct relay *relay, struct intents_found *found, struct feeding *feeding)
{
    struct worker_ctx *ctx = relay->ctx;
    size_t count = keep_publishable(relay, found->intents, found->count), published = 0;

    found->count = count;
    if (count == 0)
        return true;
    feeding->refused =
        queue_publish(ctx->queue, found->intents, count, &published, &feeding->why) != STATUS_OK;
    metrics_count(ctx->shared, WORKER_RELAYED, published);
    FAILPOINT("relay.after_publish");
    for (size_t i = 0; i < count && published == count; i++)
        recent_note(&relay->recent, &found->intents[i], ctx->now_us());
    log_event(LOG_DEBUG, "relayed", log_number("intents", (long long)count),
        log_number("published", (long long)published));
    return published == count;
}

/* Publish intents of one bucket range. If a stream is full, the bucket range is read again. */
static enum status publish_range(
    struct relay *relay, int range, bool rest_only, struct feeding *feeding, struct error *err)
{
    struct intents_found found;

    TRY(scan_range(relay, range, rest_only, feeding, &found, err));
    if (!publish_found(relay, &found, feeding))
        scan_marks_reread(&relay->scan_marks, range);
    feeding->room -= found.count;
    return STATUS_OK;
}

/*
 * Whether an intent of the bucket range may be old enough by now. A scan passes what was deleted since the last
 * vacuum, so while work is done within a second, none is made. An intent that the last look at the backlog could not
 * see is found by the next one.
 */
static bool may_be_missed(const struct relay *relay, int range, const struct feeding *feeding)
{
    int64_t age_us = relay->backlog.oldest_age_us[range], since_us = relay->ctx->now_us() - relay->looked_us;

    return age_us != BACKLOG_NO_AGE && age_us >= feeding->min_age_ms * 1000 - since_us;
}

/* Whether to scan the bucket range. */
static bool is_wanted(const struct relay *relay, int range, bool rest_only, const struct feeding *feeding)
{
    if (!relay->held[range])
        return false;
    if (rest_only)
        return relay->scan_marks.reach[range].open > 0;
    return may_be_missed(relay, range, feeding) ||
           scan_marks_start_is_due(&relay->scan_marks, range, relay->ctx->now_us());
}

/*
 * While enough messages wait, no bucket range is scanned. Retries that are due are published all the same, so that an
 * account's backlog does not hold up those of another account.
 */
static enum status publish_due(struct relay *relay, struct feeding *feeding, struct error *err)
{
    struct worker_ctx *ctx = relay->ctx;
    struct scan_scope scope;
    const struct retry_scan what = { .ranges = relay->held,
        .scope = queues_free_scope(&ctx->shared->queues, &scope),
        .max_of_each = MAX_DUE_OF_EACH,
        .max = MAX_PER_RANGE };
    int64_t began_us = ctx->now_us();
    struct intents_found found;
    enum status status;

    if (began_us < relay->next_due_us)
        return STATUS_OK;
    arena_cleanup(&ctx->arena);
    status = lease_work_find_retries(ctx->store, &what, &ctx->arena, &found, err);
    relay->next_due_us = next_look(relay, began_us, DUE_SHARE);
    TRY(status);
    (void)publish_found(relay, &found, feeding);
    return STATUS_OK;
}

/*
 * One bucket range after the other, from where the room ended the last time. *more: intents are
 * left.
 */
static enum status publish_round(
    struct relay *relay, bool rest_only, struct feeding *feeding, bool *more, struct error *err)
{
    int first = relay->next_range;

    *more = false;
    for (int i = 0; i < LEASE_RANGES && !feeding->refused; i++) {
        int range = (first + i) % LEASE_RANGES;

        if (!is_wanted(relay, range, rest_only, feeding))
            continue;
        if (feeding->room == 0) {
            relay->next_range = range;
            *more = true;
            break;
        }
        arena_cleanup(&relay->ctx->arena);
        TRY(publish_range(relay, range, rest_only, feeding, err));
        *more = *more || relay->scan_marks.reach[range].open > 0;
    }
    return STATUS_OK;
}

/*
 * First a share of every bucket, so that a bucket with a large backlog delays no other; then the
 * rest, while there is room.
 */
static enum status publish_ranges(struct relay *relay, struct feeding *feeding, struct error *err)
{
    bool more;

    TRY(publish_round(relay, false, feeding, &more, err));
    while (more && feeding->room > 0 && !feeding->refused)
        TRY(publish_round(relay, true, feeding, &more, err));
    feeding->more = more;
    return STATUS_OK;
}

/*
 * After a crash of the database, work may be open again that was done, and whose messages were
 * published.
 */
static void forget_on_reconnect(struct relay *relay)
{
    if (scan_marks_follow(&relay->scan_marks, worker_connection(relay->ctx->store)))
        recent_forget(&relay->recent);
}

/*
 * If Redis has no epoch, it has lost everything: publish all open intents, from the start, of any
 * age.
 */
static void begin_refill(struct relay *relay, bool has_epoch, struct feeding *feeding)
{
    if (!has_epoch && !relay->refilling) {
        scan_marks_forget(&relay->scan_marks);
        recent_forget(&relay->recent);
    }
    relay->refilling = !has_epoch;
    if (!has_epoch)
        feeding->min_age_ms = 0;
}

static void end_refill(struct relay *relay)
{
    struct error err = { 0 };

    if (queue_set_epoch(relay->ctx->queue, &err) == STATUS_OK)
        relay->refilling = false;
    else
        set_mode(relay, false, err.message);
}

/*
 * Publish while fewer unclaimed messages wait in the streams than one claim takes. During a refill,
 * and while there is a backlog, publish more at once, but in portions, so that new work does not
 * wait for the whole backlog. The epoch is set at the end of a refill, so that another relay begins
 * it again if this one dies.
 *
 * If Redis is full, publishing pauses for ten seconds: a few settled messages would give it room
 * for a moment only.
 */
static enum status feed_queue(struct relay *relay, bool *more, struct error *err)
{
    struct worker_ctx *ctx = relay->ctx;
    struct queue_state state;
    struct feeding feeding = { .min_age_ms = MISSED_AFTER_MS };
    enum status status;
    bool has_room;

    if (ctx->now_us() < relay->refused_until_us)
        return STATUS_OK;
    queue_set_shards(ctx->queue, atomic_load(&ctx->shared->queues.count));
    status = queue_inspect(ctx->queue, &state, &feeding.why);
    if (status != STATUS_OK) {
        set_mode(relay, false, feeding.why.message);
        if (status == STATUS_LIMIT)
            relay->refused_until_us = ctx->now_us() + REFUSED_PAUSE_MS * 1000;
        return STATUS_OK;
    }
    forget_on_reconnect(relay);
    begin_refill(relay, state.has_epoch, &feeding);
    feeding.room = retry_budget_refill_room(state.length - state.pending + state.released,
        ctx->shared->config->claim_batch, relay->refilling || relay->behind);
    has_room = feeding.room > 0;
    if (has_room) {
        TRY(publish_ranges(relay, &feeding, err));
        relay->behind = feeding.more;
    } else {
        TRY(publish_due(relay, &feeding, err));
    }
    set_mode(relay, !feeding.refused, feeding.why.message);
    if (feeding.refused)
        relay->refused_until_us = ctx->now_us() + REFUSED_PAUSE_MS * 1000;
    else if (relay->refilling && has_room && !feeding.more)
        end_refill(relay);
    *more = relay->behind && !feeding.refused;
    return STATUS_OK;
}

/* ---- passes ---- */

static enum status run_pass(struct relay *relay, bool *more, struct error *err)
{
    TRY(renew_leases(relay, err));
    TRY(report_worker(relay, err));
    TRY(update_watermarks(relay, err));
    TRY(update_queues(relay, err));
    return feed_queue(relay, more, err);
}

bool relay_pass(struct relay *relay)
{
    struct error err = { 0 };
    bool more = false;

    return set_store_available(relay, run_pass(relay, &more, &err), &err) == STATUS_OK && more;
}

void *relay_thread(void *argument)
{
    struct relay *relay = xcalloc(1, sizeof(*relay));
    struct error err = { 0 };
    bool more = false;

    relay->ctx = argument;
    while (worker_pause(relay->ctx, more ? MORE_PAUSE_MS : PASS_PAUSE_MS))
        more = relay_pass(relay);
    if (relay->store_available && lease_work_release(relay->ctx->store, &err) != STATUS_OK)
        log_event(LOG_WARN, "release_leases", log_text("status", status_name(err.status)),
            log_text("why", err.message));
    free(relay);
    return NULL;
}
