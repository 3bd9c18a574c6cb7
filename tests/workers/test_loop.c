/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of workers/loop.c, batch.c and relay.c: a real Redis, and in the database's place the functions
 * below, which stand in for store/session/worker.h. Turns are run one by one, on a clock of the test's own.
 */
#include "workers/effects/put_blob.h"
#include "workers/loop.h"

#include <check.h>
#include <stdio.h>

#include "domain/intents/delivery.h"
#include "domain/limits.h"
#include "store/background/sweep.h"
#include "store/blobs/stray_remove.h"
#include "store/connection/stalled_sessions.h"
#include "store/copies/copy_visit.h"
#include "store/dead_letters/claim_work.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/indexes/reconcile.h"
#include "store/intents/backlog_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/queue_work.h"
#include "store/intents/scan_reach.h"
#include "store/job_work.h"
#include "store/transactions/transaction_work.h"
#include "tests/support/redis_server.h"
#include "workers/lease_renewal.h"
#include "workers/relay.h"

enum { MAX_ROWS = 6000 };

/* ---- the database: the calls that it got, and its answers ---- */

static struct fake {
    bool down;
    int32_t failures; /* the next count returns this less one */
    int steps_left;   /* of every transaction and visit */
    int64_t step_us;  /* what each of these takes */
    int copied;       /* dependents of copy rules */
    bool stop_after_step;
    struct intent open[MAX_ROWS]; /* intents that a scan of bucket range 0 finds */
    size_t open_count;
    size_t due_count;      /* the first of these, whose keys have failed and are tried again now */
    int64_t oldest_age_us; /* of the open intents, as the backlog says */

    char reconciled[16384]; /* rows, each behind a space, calls separated by "|" */
    int reconciles;         /* calls, including failed ones */
    int waited;             /* for locks that other transactions hold */
    int64_t lock_us;        /* how long each time */
    int steps, counted, delayed, buried, scans, scans_from_start, due_looks;
    int ranges_scanned, first_scanned; /* bucket ranges; the test resets the number before a scan */
    int begun, claimed, renewed, released, looked_for_dead, looked_for_waiting;
    bool due_has_scope;
    bool reconciled_before_hand, dead_hand_is_locked;
    void (*meanwhile)(void); /* what happens during a call */
    int64_t scan_age_ms, connection;
    bool controlled;
    struct queue_control control; /* of every queue */
    int64_t permits;
    char cause[ERROR_MESSAGE_BYTES];
} fake;

static struct worker_shared shared;
static int64_t now_us;

static void fake_step(void)
{
    fake.steps++;
    now_us += fake.step_us;
    if (fake.meanwhile)
        fake.meanwhile();
}

static enum status fake_down(struct error *err)
{
    return fake.down ? error_set(err, STATUS_UNAVAILABLE, "no database") : STATUS_OK;
}

enum status worker_open(const char *postgres, const char *worker, struct worker **out, struct error *err)
{
    (void)postgres, (void)worker, (void)err;
    *out = NULL;
    return STATUS_OK;
}

void worker_remember(struct worker *store, struct remembered *remembered)
{
    (void)store, (void)remembered;
}

void worker_collect_traces(struct worker *store, struct taken_traces *traces)
{
    (void)store, (void)traces;
}

enum status worker_look_at_history(struct worker *store, struct error *err)
{
    (void)store;
    return fake_down(err);
}

enum status gauges_read(struct worker *store, struct gauges *out, struct error *err)
{
    (void)store, (void)out;
    return fake_down(err);
}

enum status stray_remove_round(struct worker *store, struct stray_round *round, struct error *err)
{
    (void)store, (void)round;
    return fake_down(err);
}

void worker_share_catalogue(struct worker *store, struct shared_catalogue *catalogue)
{
    (void)store, (void)catalogue;
}

void worker_use_chunks(struct worker *store, const struct chunk_stores *chunks)
{
    (void)store, (void)chunks;
}

enum status put_blob_perform(struct worker *store, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err)
{
    (void)store;
    (void)effect;
    (void)arena;
    (void)receipt;
    (void)err;
    return STATUS_OK;
}

struct shared_catalogue *shared_catalogue_new(void)
{
    return NULL;
}

void shared_catalogue_free(struct shared_catalogue *catalogue)
{
    (void)catalogue;
}

struct remembered *remembered_new(void)
{
    return NULL;
}

void remembered_free(struct remembered *remembered)
{
    (void)remembered;
}

bool remembered_wants_hint(struct remembered *remembered)
{
    (void)remembered;
    return false;
}

void remembered_offer(struct remembered *remembered, struct str hint)
{
    (void)remembered, (void)hint;
}

bool remembered_hint(struct remembered *remembered, struct arena *arena, struct str *out)
{
    (void)remembered, (void)arena, (void)out;
    return false;
}

bool remembered_take_raise(struct remembered *remembered, int64_t *epoch)
{
    (void)remembered, (void)epoch;
    return false;
}

struct str worker_account_of(const struct worker *store, int64_t table_id)
{
    (void)store, (void)table_id;
    return STR_EMPTY;
}

int64_t worker_connection(const struct worker *store)
{
    (void)store;
    return fake.connection;
}

void transaction_work_use(struct worker *store, const struct effects *effects)
{
    (void)store, (void)effects;
}

void worker_observe(struct worker *store,
    void (*intents_committed)(void *context, const struct intent *intents, size_t count), void *context)
{
    (void)store;
    (void)intents_committed;
    (void)context;
}

void worker_close(struct worker *store)
{
    (void)store;
}

static bool has_word(struct str row, const char *word)
{
    return memmem(row.data, row.len, word, strlen(word)) != NULL;
}

static enum status fake_io_error(struct error *err)
{
    (void)error_set(err, STATUS_UNAVAILABLE, "could not read block 7");
    if (err)
        memcpy(err->sqlstate, "58030", sizeof(err->sqlstate));
    return STATUS_UNAVAILABLE;
}

/* Rows with "bad" in their key cannot be reconciled, those with "slow" or "block" not now; all or nothing. */
enum status reconcile_keys(struct worker *store, const struct intent *intents, size_t count, bool force,
    struct reconcile_counts *counts, struct error *err)
{
    size_t len = strlen(fake.reconciled);

    (void)store, (void)counts;
    ck_assert(!force);
    fake.reconciles++;
    if (fake.meanwhile)
        fake.meanwhile();
    TRY(fake_down(err));
    for (size_t i = 0; i < count; i++) {
        if (has_word(intents[i].key.row, "bad"))
            return error_set(err, STATUS_INTERNAL, "a bad row");
        if (has_word(intents[i].key.row, "block")) {
            fake.waited++;
            return fake_io_error(err);
        }
        if (has_word(intents[i].key.row, "slow")) {
            fake.waited++;
            now_us += fake.lock_us;
            return error_set(err, STATUS_TIMEOUT, "a lock");
        }
    }
    for (size_t i = 0; i < count; i++)
        len += (size_t)snprintf(
            fake.reconciled + len, sizeof(fake.reconciled) - len, " %.*s", STR_ARG(intents[i].key.row));
    snprintf(fake.reconciled + len, sizeof(fake.reconciled) - len, "|");
    return STATUS_OK;
}

enum status transaction_work_step(struct worker *store, const struct intent *intent, struct step_trace *trace,
    bool *finished, struct error *err)
{
    (void)store, (void)intent, (void)trace;
    TRY(fake_down(err));
    fake_step();
    *finished = --fake.steps_left <= 0;
    if (fake.stop_after_step)
        worker_stop(&shared);
    return STATUS_OK;
}

enum status copy_work_keys(struct worker *store, const struct intent *intents, size_t count,
    struct copy_counts *counts, struct error *err)
{
    (void)store, (void)intents;
    TRY(fake_down(err));
    fake.copied += (int)count;
    counts->written += (int64_t)count;
    return STATUS_OK;
}

enum status copy_visit_step(struct worker *store, struct copy_turn *turn, struct error *err)
{
    (void)store;
    TRY(fake_down(err));
    fake_step();
    turn->is_over = --fake.steps_left <= 0;
    if (fake.stop_after_step)
        worker_stop(&shared);
    return STATUS_OK;
}

enum status dead_letter_work_count_failure(struct worker *store, const struct intent *intent,
    const struct error *cause, int32_t *failures, struct error *err)
{
    (void)store, (void)intent;
    TRY(fake_down(err));
    fake.counted++;
    snprintf(fake.cause, sizeof(fake.cause), "%s", cause->message);
    *failures = ++fake.failures;
    return STATUS_OK;
}

enum status dead_letter_work_count_delivery(
    struct worker *store, const struct intent *intent, int32_t *before, struct error *err)
{
    (void)store, (void)intent;
    TRY(fake_down(err));
    *before = fake.begun++;
    return STATUS_OK;
}

enum status dead_letter_work_report(struct worker *store, const struct intent *intent, struct error *err)
{
    (void)store, (void)intent;
    TRY(fake_down(err));
    fake.begun = 0;
    return STATUS_OK;
}

enum status claim_work_take(struct worker *store, const struct claim_owner *owner,
    const struct intent *intents, size_t count, bool *suspects, struct error *err)
{
    (void)store;
    TRY(fake_down(err));
    ck_assert_str_eq(owner->consumer, "w-consumer0");
    ck_assert_int_gt(owner->duration_ms, 0);
    fake.claimed = (int)count;
    fake.reconciled_before_hand = fake.reconciled[0] != '\0';
    for (size_t i = 0; i < count; i++)
        suspects[i] = str_starts_with(intents[i].key.row, STR_LITERAL("suspect"));
    return STATUS_OK;
}

enum status claim_work_find_waiting(
    struct worker *store, const struct intent *intents, size_t count, bool *waiting, struct error *err)
{
    (void)store;
    TRY(fake_down(err));
    fake.looked_for_waiting++;
    for (size_t i = 0; i < count; i++)
        waiting[i] = has_word(intents[i].key.row, "waits");
    return STATUS_OK;
}

enum status claim_work_renew(struct worker *store, const struct claim_owner *owner, struct error *err)
{
    (void)store, (void)owner;
    TRY(fake_down(err));
    fake.renewed++;
    return STATUS_OK;
}

enum status claim_work_release(struct worker *store, const struct claim_owner *owner, struct error *err)
{
    (void)store, (void)owner;
    TRY(fake_down(err));
    fake.claimed = 0;
    fake.released++;
    return STATUS_OK;
}

enum status claim_work_suspect_dead(struct worker *store, const struct claim_owner *owner, struct error *err)
{
    (void)store, (void)owner;
    TRY(fake_down(err));
    fake.looked_for_dead++;
    return fake.dead_hand_is_locked ? error_set(err, STATUS_TIMEOUT, "a lock") : STATUS_OK;
}

enum status dead_letter_work_retry_after(
    struct worker *store, const struct intent *intent, int64_t delay_ms, struct error *err)
{
    (void)store, (void)intent;
    ck_assert_int_gt(delay_ms, 0);
    TRY(fake_down(err));
    fake.delayed++;
    return STATUS_OK;
}

enum status dead_letter_work_bury(struct worker *store, const struct intent *intent, struct error *err)
{
    (void)store, (void)intent;
    TRY(fake_down(err));
    fake.buried++;
    return STATUS_OK;
}

enum status lease_work_report(struct worker *store, const struct worker_report *report, struct error *err)
{
    (void)store, (void)report, (void)err;
    return STATUS_OK;
}

enum status lease_work_hold(
    struct worker *store, int64_t lease_ms, bool held[LEASE_RANGES], struct error *err)
{
    (void)store, (void)lease_ms;
    TRY(fake_down(err));
    memset(held, true, LEASE_RANGES);
    return STATUS_OK;
}

enum status lease_work_release(struct worker *store, struct error *err)
{
    (void)store;
    return fake_down(err);
}

/* As the statements do it, but one slot after another. */
static bool is_found(const struct intent *intent, const struct intent_scan *what, struct intent_id after)
{
    if (what->scope && intent_id_us(intent->id) >=
                           what->scope->until_us[queue_slot(
                               queue_control_queue_of(intent->bucket, what->scope->queues), intent->kind)])
        return false;
    return intent_id_is_none(after) ? !what->rest_only : intent_id_compare(intent->id, after) > 0;
}

enum status lease_work_scan(struct worker *store, const struct intent_scan *what, struct scan_reach *reach,
    struct arena *arena, struct intents_found *out, struct error *err)
{
    struct scan_answer answer = {
        .max = what->max, .share = scan_reach_share(reach, what->rest_only, what->max), .by_kind = what->scope
    };
    struct intent *found = ARENA_ARRAY(arena, struct intent, what->max);
    size_t counts[RANGE_SLOTS] = { 0 };

    (void)store;
    TRY(fake_down(err));
    fake.first_scanned = fake.ranges_scanned++ == 0 ? what->range : fake.first_scanned;
    fake.scans += what->range == 0;
    fake.scans_from_start += what->range == 0 && !what->rest_only && intent_id_is_none(what->from_id);
    fake.scan_age_ms = what->min_age_ms;
    for (size_t i = 0; what->range == 0 && i < fake.open_count && answer.count < what->max; i++) {
        int place = scan_reach_slot(fake.open[i].bucket, what->scope ? fake.open[i].kind : 0);

        if (is_found(&fake.open[i], what, reach->after[place]) && counts[place]++ < answer.share)
            found[answer.count++] = fake.open[i];
    }
    answer.intents = found;
    scan_reach_note(reach, &answer);
    *out = (struct intents_found){ .intents = found, .count = answer.count };
    out->low_id = intent_id_of(0, 0, 1);
    return STATUS_OK;
}

enum status lease_work_find_retries(struct worker *store, const struct retry_scan *what, struct arena *arena,
    struct intents_found *out, struct error *err)
{
    (void)store;
    TRY(fake_down(err));
    fake.due_has_scope = what->scope != NULL;
    fake.due_looks++;
    out->count = fake.due_count;
    out->intents = ARENA_ARRAY(arena, struct intent, out->count);
    memcpy(out->intents, fake.open, out->count * sizeof(*out->intents));
    return STATUS_OK;
}

enum status backlog_work_update(struct worker *store, const bool held[LEASE_RANGES], bool counts,
    struct backlog *backlog, struct error *err)
{
    (void)store, (void)held, (void)counts;
    backlog->open_intents = (int64_t)fake.open_count;
    for (int range = 0; range < LEASE_RANGES; range++)
        backlog->oldest_age_us[range] =
            range == 0 && fake.open_count > 0 ? fake.oldest_age_us : BACKLOG_NO_AGE;
    return fake_down(err);
}

/* ---- queues ---- */

enum status queue_work_read_controls(struct worker *store, struct queue_map *map,
    struct queue_control out[MAX_QUEUES * WORK_KINDS], bool *any, struct error *err)
{
    (void)store;
    *map = (struct queue_map){ .version = 1, .queues = 2 };
    for (int slot = 0; slot < MAX_QUEUES * WORK_KINDS; slot++)
        out[slot] = fake.controlled ? fake.control : (struct queue_control){ .intents_before_us = INT64_MAX };
    *any = fake.controlled;
    return fake_down(err);
}

enum status queue_work_take_permits(
    struct worker *store, int queue, int kind, int64_t wanted, int64_t *granted, struct error *err)
{
    (void)store, (void)queue, (void)kind, (void)err;
    *granted = wanted < fake.permits ? wanted : fake.permits;
    fake.permits -= *granted;
    return STATUS_OK;
}

enum status queue_work_add_applied(
    struct worker *store, const struct applied *applied, size_t count, struct error *err)
{
    (void)store, (void)applied, (void)count, (void)err;
    return STATUS_OK;
}

enum status job_work_run(struct worker *store, bool *worked, struct error *err)
{
    (void)store;
    *worked = false;
    return fake_down(err);
}

enum status worker_end_stalled(struct worker *store, struct stalled_sessions *out, struct error *err)
{
    (void)store, (void)out;
    return fake_down(err);
}

enum status sweep_run(struct worker *store, const struct sweep_ages *ages, struct sweep_counts *counts,
    bool *more, struct error *err)
{
    (void)store, (void)ages, (void)counts;
    *more = false;
    return fake_down(err);
}

/* ---- a worker of one thread ---- */

static struct redis_server server;
static struct worker_config config;
static struct worker_ctx ctx;
static struct worker_ctx relay_ctx;
static struct loop loop;
static struct relay relay;
static struct queue *client; /* publishes, and claims as another consumer */

static int64_t test_now(void)
{
    return now_us;
}

static void open_client(void)
{
    struct queue_options options = {
        .redis.url = server.url, .consumer = "another", .shards = 2, .max_messages = 1000
    };

    ck_assert_int_eq(queue_open(&options, &client, NULL), STATUS_OK);
}

static void given_a_worker(void)
{
    struct error err = { 0 };

    redis_server_start(&server);
    memset(&fake, 0, sizeof(fake));
    fake.oldest_age_us = 2000000;
    fake.step_us = 500;
    config = (struct worker_config){
        .redis.url = server.url, .name = "w", .threads = 1, .claim_batch = 16, .visibility_s = 1000
    };
    worker_shared_init(&shared, &config);
    ck_assert_msg(worker_ctx_init(&ctx, &shared, 0, WORKER_CONSUMER, &err) == STATUS_OK, "%s", err.message);
    ck_assert_msg(worker_ctx_init(&relay_ctx, &shared, 0, "r", &err) == STATUS_OK, "%s", err.message);
    ctx.now_us = relay_ctx.now_us = test_now;
    now_us = 1000 * 1000 * 1000;
    loop = (struct loop){ .ctx = &ctx };
    relay = (struct relay){ .ctx = &relay_ctx };
    open_client();
    relay_pass(&relay);
    fake.scans_from_start = 0;
    now_us += 1000 * 1000; /* the next pass scans everything again */
}

static void the_worker_goes(void)
{
    queue_close(client);
    worker_ctx_cleanup(&ctx);
    worker_ctx_cleanup(&relay_ctx);
    worker_shared_cleanup(&shared);
    redis_server_stop(&server);
}

static struct intent an_intent(enum intent_kind kind, const char *row)
{
    struct intent intent = { .bucket = 1,
        .id = intent_id_of(0, 0, 5),
        .kind = (int16_t)kind,
        .table_id = 7,
        .key = { .partition = STR_LITERAL("p"), .row = str_of(row) } };

    return intent;
}

static void publish(enum intent_kind kind, const char *row)
{
    struct intent intent = an_intent(kind, row);
    size_t published = 0;

    ck_assert_int_eq(queue_publish(client, &intent, 1, &published, NULL), STATUS_OK);
    ck_assert_uint_eq(published, 1);
}

static struct queue_state inspect(void)
{
    struct queue_state state = { 0 };

    ck_assert_int_eq(queue_inspect(client, &state, NULL), STATUS_OK);
    return state;
}

/* As if the consumer had begun another turn, which acknowledges what the last one has done. */
static void check_queue(int64_t length, int64_t pending)
{
    struct queue_state state;

    queue_flush(loop.ctx->queue);
    ck_assert_int_eq(queue_acknowledged(loop.ctx->queue, NULL), STATUS_OK);
    state = inspect();
    ck_assert_int_eq(state.length, length);
    ck_assert_int_eq(state.pending, pending);
}

/* The messages that another consumer gets after a release; returns the deliveries of the first one. */
static int64_t reclaim(int64_t idle_ms, size_t want)
{
    struct queue_message *messages = NULL;
    size_t count = 0;

    ck_assert_int_eq(
        queue_reclaim(client,
            &(struct queue_take){ .max_count = 100, .idle_ms = idle_ms, .arena = &relay_ctx.arena },
            &messages, &count, NULL),
        STATUS_OK);
    ck_assert_uint_eq(count, want);
    return messages[0].deliveries;
}

/* ---- consumers ---- */

START_TEST(a_key_is_reconciled_then_acknowledged)
{
    publish(INTENT_RECONCILE, "a");

    ck_assert_uint_eq(loop_turn(&loop), 1);

    ck_assert_str_eq(fake.reconciled, " a|");
    check_queue(0, 0);
}
END_TEST

/* In one round trip; without one, before anything that may take long. */
START_TEST(a_batch_is_acknowledged_with_the_next_claim)
{
    publish(INTENT_RECONCILE, "a");
    loop_turn(&loop);
    ck_assert_int_eq(inspect().pending, 1);
    publish(INTENT_RECONCILE, "b");
    loop_turn(&loop);
    ck_assert_int_eq(inspect().pending, 1);

    atomic_store(&shared.streaming, false); /* then it polls, and may rest */
    loop_turn(&loop);
    ck_assert_int_eq(inspect().pending, 0);
}
END_TEST

START_TEST(messages_of_one_key_are_one_piece_of_work)
{
    for (int i = 0; i < 5; i++) {
        publish(INTENT_RECONCILE, "b");
        publish(INTENT_RECONCILE, "a");
    }

    ck_assert_uint_eq(loop_turn(&loop), 10);

    ck_assert_str_eq(fake.reconciled, " a b|");
    check_queue(0, 0);
}
END_TEST

START_TEST(a_failing_key_is_counted_and_delays_no_other_key)
{
    publish(INTENT_RECONCILE, "a");
    publish(INTENT_RECONCILE, "bad");
    publish(INTENT_RECONCILE, "c");

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, " a| c|");
    ck_assert_int_eq(fake.counted, 1);
    ck_assert_int_eq(fake.delayed, 1);
    ck_assert_int_eq(fake.buried, 0);
    ck_assert_str_eq(fake.cause, "a bad row");
    check_queue(0, 0);
}
END_TEST

/* Otherwise each write to a key that fails would bring its next try forward. */
START_TEST(a_key_whose_next_try_is_not_due_is_left)
{
    publish(INTENT_RECONCILE, "a");
    publish(INTENT_RECONCILE, "bad-waits");
    publish(INTENT_RECONCILE, "c");

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, " a c|");
    ck_assert_int_eq(fake.reconciles, 2); /* with it, then without it */
    ck_assert_int_eq(fake.counted, 0);
    check_queue(0, 0);
}
END_TEST

START_TEST(a_key_that_is_not_due_and_succeeds_with_others_is_done)
{
    publish(INTENT_RECONCILE, "a");
    publish(INTENT_RECONCILE, "waits");

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, " a waits|");
    ck_assert_int_eq(fake.looked_for_waiting, 0);
}
END_TEST

/* The lock of another key ends the attempt with all keys; then each is tried alone. */
START_TEST(a_key_that_is_not_due_is_left_behind_a_lock)
{
    publish(INTENT_RECONCILE, "slow");
    publish(INTENT_RECONCILE, "waits-bad");

    loop_turn(&loop);

    ck_assert_int_eq(fake.waited, 2);
    ck_assert_int_eq(fake.counted, 0);
    check_queue(1, 1);
}
END_TEST

static void publish_row(int number, const char *what)
{
    char row[16];

    snprintf(row, sizeof(row), "%02d%s", number, what);
    publish(INTENT_RECONCILE, row);
}

/* One claim, its keys in the order of their numbers; bad and slow are such numbers, or -1. */
static void publish_64(int bad, int bad_too, int slow, int slow_too)
{
    config.claim_batch = 64;
    for (int i = 0; i < 64; i++)
        publish_row(i, i == bad || i == bad_too ? "bad" : i == slow || i == slow_too ? "slow" : "");
}

/* One claim; the keys that fail come first. */
static void publish_64_of_which_fail(int bad)
{
    config.claim_batch = 64;
    for (int i = 0; i < 64; i++)
        publish_row(i, i < bad ? "bad" : "");
}

static void check_reconciled(int keys)
{
    int found = 0;

    for (const char *at = fake.reconciled; *at; at++)
        found += *at == ' ';
    ck_assert_int_eq(found, keys);
    ck_assert_int_eq(atomic_load(&shared.queues.applied_total[queue_slot(1, INTENT_RECONCILE)]), keys);
}

/* Of 64 and of 16 keys the quarters are tried, and of 4 keys each alone. */
START_TEST(a_culprit_is_found_by_quarters)
{
    static const int culprits[] = { 0, 21, 63 };

    publish_64(culprits[_i], -1, -1, -1);

    ck_assert_uint_eq(loop_turn(&loop), 64);

    ck_assert_int_eq(fake.reconciles, 1 + 4 * 2 + 4);
    check_reconciled(63);
    ck_assert_int_eq(fake.counted, 1);
    ck_assert_int_eq(fake.delayed, 1);
    check_queue(0, 0);
}
END_TEST

START_TEST(two_culprits_are_found_by_quarters)
{
    publish_64(5, 60, -1, -1);

    loop_turn(&loop);

    ck_assert_int_eq(fake.reconciles, 1 + 4 + 2 * (4 + 4));
    check_reconciled(62);
    ck_assert_int_eq(fake.counted, 2);
    check_queue(0, 0);
}
END_TEST

/* The failing keys are among the first 32 only; then each of the 64 runs alone. */
START_TEST(many_culprits_are_not_searched_for)
{
    publish_64_of_which_fail(62);

    loop_turn(&loop);

    ck_assert_int_eq(fake.reconciles, 1 + 2 * (1 + 4) + 64);
    check_reconciled(2);
    ck_assert_int_eq(fake.counted, 62);
    check_queue(0, 0);
}
END_TEST

/* If all keys that fail together were tried one by one at once, new messages would wait for all of them. */
START_TEST(after_many_failures_the_rest_goes_back_and_comes_after_what_is_new)
{
    char row[16];

    config.claim_batch = 200;
    for (int i = 0; i < 200; i++) {
        snprintf(row, sizeof(row), "bad%d", i);
        publish(INTENT_RECONCILE, row);
    }
    loop_turn(&loop);
    ck_assert_int_eq(fake.counted, 128);
    check_queue(72, 72);

    publish(INTENT_RECONCILE, "new");
    loop_turn(&loop);
    ck_assert_str_eq(fake.reconciled, " new|");
    now_us += 1000 * 1000;
    loop_turn(&loop);
    ck_assert_int_eq(fake.counted, 200);
    check_queue(0, 0);
}
END_TEST

static void publish_new_once(void)
{
    fake.meanwhile = NULL;
    publish(INTENT_RECONCILE, "new");
}

/* Keys that would not have failed come back as soon as what was new is done: the clock stands still. */
START_TEST(while_something_new_waits_fewer_failures_send_the_rest_back)
{
    publish_64_of_which_fail(63);
    fake.meanwhile = publish_new_once;

    loop_turn(&loop);
    ck_assert_int_eq(fake.counted, 16);
    ck_assert_str_eq(fake.reconciled, "");
    loop_turn(&loop);
    ck_assert_str_eq(fake.reconciled, " new|");
    loop_turn(&loop);
    ck_assert_str_eq(fake.reconciled, " new| 63|");
    ck_assert_int_eq(fake.counted, 63);
    check_queue(0, 0);
}
END_TEST

static void publish_new(void)
{
    publish(INTENT_RECONCILE, "new");
}

/* Work that takes longer than its claim was made for; `count` messages, which are claimed together. */
static void publish_slow_work(size_t count)
{
    static const char *const rows[] = { "a", "b", "c", "d" };

    fake.step_us = 150 * 1000;
    fake.steps_left = 1;
    for (size_t i = 0; i < count; i++)
        publish(INTENT_TRANSACTION, rows[i]);
}

START_TEST(while_something_new_waits_the_rest_of_slow_work_is_put_back)
{
    publish_slow_work(4);
    fake.meanwhile = publish_new_once;

    ck_assert_uint_eq(loop_turn(&loop), 4);
    ck_assert_int_eq(fake.steps, 1);
    check_queue(3 + 1, 0);
    while (loop_turn(&loop) > 0)
        continue;
    ck_assert_int_eq(fake.steps, 4);
    ck_assert_str_eq(fake.reconciled, " new|");
    check_queue(0, 0);
}
END_TEST

/* Otherwise what comes behind locked keys would be put back as often as it is claimed with one. */
START_TEST(nothing_is_put_back_behind_a_locked_key)
{
    publish_64(-1, -1, 20, 40);
    fake.lock_us = 1000 * 1000;
    fake.meanwhile = publish_new;

    loop_turn(&loop);

    ck_assert_ptr_nonnull(strstr(fake.reconciled, " 63"));
}
END_TEST

/* Only its own message tells that it was begun before. */
START_TEST(a_suspect_behind_slow_work_is_released)
{
    struct queue_message *messages;
    size_t count;

    publish_slow_work(2);
    ck_assert_int_eq(queue_claim(client, &(struct queue_take){ .max_count = 2, .arena = &relay_ctx.arena },
                         &messages, &count, NULL),
        STATUS_OK);
    ck_assert_uint_eq(count, 2);
    config.visibility_s = 0;
    fake.meanwhile = publish_new_once;

    ck_assert_uint_eq(loop_turn(&loop), 2);

    ck_assert_int_eq(fake.steps, 1);
    check_queue(1 + 1, 1);
    ck_assert_int_eq(reclaim(0, 1), 2);
}
END_TEST

START_TEST(slow_work_is_not_put_back_for_nothing)
{
    publish_slow_work(4);

    ck_assert_uint_eq(loop_turn(&loop), 4);
    ck_assert_int_eq(fake.steps, 4);
    check_queue(0, 0);
}
END_TEST

START_TEST(failures_have_their_turns_however_much_is_new)
{
    publish_64_of_which_fail(63);
    fake.meanwhile = publish_new;

    for (int turn = 0; turn < 4; turn++) {
        ck_assert_int_eq(fake.counted, 16 * turn);
        loop_turn(&loop);
        loop_turn(&loop);
    }
    ck_assert_int_eq(fake.counted, 63);
    ck_assert_ptr_nonnull(strstr(fake.reconciled, " 63"));
}
END_TEST

START_TEST(a_lock_is_not_waited_for_by_quarters)
{
    publish_64(-1, -1, 21, -1);

    loop_turn(&loop);

    ck_assert_int_eq(fake.waited, 1 + 1); /* together, then alone */
    check_reconciled(63);
    ck_assert_int_eq(fake.counted, 0);
    check_queue(1, 1);
}
END_TEST

START_TEST(the_first_lock_ends_the_search_for_culprits)
{
    publish_64(3, -1, 20, 40);

    loop_turn(&loop);

    ck_assert_int_eq(fake.waited, 1 + 2);
    check_reconciled(61);
    ck_assert_int_eq(fake.counted, 1);
    check_queue(2, 2);
}
END_TEST

static void stopped_in_the_first_quarter(void)
{
    if (fake.reconciles == 2)
        worker_stop(&shared);
}

START_TEST(a_stop_between_quarters_hands_the_others_back)
{
    publish_64(63, -1, -1, -1);
    fake.meanwhile = stopped_in_the_first_quarter;

    loop_turn(&loop);

    ck_assert_int_eq(fake.reconciles, 2);
    check_reconciled(16);
    ck_assert_int_eq(fake.counted, 0);
    check_queue(48, 48);
    ck_assert_int_eq(reclaim(1000, 48), 1);
}
END_TEST

static void down_in_the_first_quarter(void)
{
    fake.down = fake.reconciles == 2;
}

START_TEST(a_database_lost_between_quarters_is_asked_no_more)
{
    publish_64(0, -1, -1, -1);
    fake.meanwhile = down_in_the_first_quarter;

    loop_turn(&loop);

    ck_assert_int_eq(fake.reconciles, 2);
    ck_assert_int_eq(fake.counted, 0);
    check_queue(64, 64);
}
END_TEST

START_TEST(after_the_last_failure_it_is_buried)
{
    fake.failures = DELIVERY_MAX_FAILURES - 1;
    publish(INTENT_RECONCILE, "bad");

    loop_turn(&loop);

    ck_assert_int_eq(fake.buried, 1);
    ck_assert_int_eq(fake.delayed, 0);
    check_queue(0, 0);
}
END_TEST

START_TEST(a_lock_held_elsewhere_is_not_counted)
{
    publish(INTENT_RECONCILE, "a");
    publish(INTENT_RECONCILE, "slow");

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, " a|");
    ck_assert_int_eq(fake.counted, 0);
    check_queue(1, 1);
    ck_assert_int_eq(reclaim(1000, 1), 1);
}
END_TEST

START_TEST(not_every_lock_is_waited_for)
{
    char row[8];

    for (int i = 0; i < 12; i++) {
        snprintf(row, sizeof(row), "slow%d", i);
        publish(INTENT_RECONCILE, row);
    }

    loop_turn(&loop);

    ck_assert_int_eq(fake.waited, 1 + 8); /* together first */
    check_queue(12, 12);
}
END_TEST

/* One block that cannot be read says nothing about other blocks, until many cannot be read. */
START_TEST(keys_beside_an_unreadable_block_are_done)
{
    publish(INTENT_RECONCILE, "a");
    publish(INTENT_RECONCILE, "block");
    publish(INTENT_RECONCILE, "c");

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, " a| c|");
    ck_assert_int_eq(fake.counted, 0);
    ck_assert_int_eq(fake.buried, 0);
    check_queue(1, 1);
}
END_TEST

START_TEST(not_every_unreadable_block_is_tried)
{
    char row[16];

    for (int i = 0; i < 12; i++) {
        snprintf(row, sizeof(row), "block%d", i);
        publish(INTENT_RECONCILE, row);
    }

    loop_turn(&loop);

    ck_assert_int_eq(fake.waited, 1 + 8); /* together first */
    ck_assert_int_eq(fake.counted, 0);
    check_queue(12, 12);
}
END_TEST

/* The message can be taken over at any time, and each time it costs the thread a second. */
START_TEST(what_keeps_coming_back_holds_up_nothing_new)
{
    publish(INTENT_RECONCILE, "slow");
    loop_turn(&loop);
    now_us += 2000 * 1000;
    loop_turn(&loop);
    ck_assert_int_eq(fake.waited, 2 * 2); /* each time together, then alone */
    now_us += 2000 * 1000;
    publish(INTENT_RECONCILE, "new");

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, " new|");
    ck_assert_int_eq(fake.waited, 2 * 2);
    loop_turn(&loop);
    ck_assert_int_eq(fake.waited, 3 * 2);
}
END_TEST

/* A claim that has waited for a lock says nothing of what the work of others takes. */
START_TEST(behind_a_lock_as_much_is_claimed_as_before)
{
    char row[8];

    fake.lock_us = 1000 * 1000;
    publish(INTENT_RECONCILE, "slow");
    loop_turn(&loop);
    loop_turn(&loop);
    ck_assert_int_eq(fake.waited, 4);
    for (int i = 0; i < 10; i++) {
        snprintf(row, sizeof(row), "new%d", i);
        publish(INTENT_RECONCILE, row);
    }

    ck_assert_uint_eq(loop_turn(&loop), 10);
    publish(INTENT_RECONCILE, "more");
    ck_assert_uint_eq(loop_turn(&loop), 1);
    ck_assert_int_eq(fake.waited, 4);
    now_us += 1000 * 1000;
    ck_assert_uint_eq(loop_turn(&loop), 1);
    ck_assert_int_eq(fake.waited, 6);
}
END_TEST

START_TEST(without_a_database_messages_are_handed_back_uncounted)
{
    fake.down = true;
    publish(INTENT_RECONCILE, "a");
    publish(INTENT_RECONCILE, "b");

    loop_turn(&loop);

    ck_assert_int_eq(fake.counted, 0);
    check_queue(2, 2);
    ck_assert_int_eq(reclaim(1000, 2), 1);
}
END_TEST

START_TEST(a_silent_workers_message_is_counted_before_it_runs_alone)
{
    struct queue_message *messages;
    size_t count;

    publish(INTENT_RECONCILE, "suspect");
    ck_assert_int_eq(queue_claim(client, &(struct queue_take){ .max_count = 1, .arena = &relay_ctx.arena },
                         &messages, &count, NULL),
        STATUS_OK);
    config.visibility_s = 0;

    ck_assert_uint_eq(loop_turn(&loop), 1);

    ck_assert_int_eq(fake.begun, 1);
    ck_assert_int_eq(fake.counted, 0);
    ck_assert_str_eq(fake.reconciled, " suspect|");
    check_queue(0, 0);
}
END_TEST

START_TEST(what_kills_every_worker_is_buried_untried)
{
    struct queue_message *messages;
    size_t count;

    fake.begun = DELIVERY_MAX_SILENT;
    publish(INTENT_RECONCILE, "poison");
    ck_assert_int_eq(queue_claim(client, &(struct queue_take){ .max_count = 1, .arena = &relay_ctx.arena },
                         &messages, &count, NULL),
        STATUS_OK);
    config.visibility_s = 0;

    loop_turn(&loop);

    ck_assert_int_eq(fake.buried, 1);
    ck_assert_str_eq(fake.reconciled, "");
    check_queue(0, 0);
}
END_TEST

/* The key did not fail: another transaction held the lock for which it waited. */
START_TEST(a_suspect_that_ends_without_a_result_is_not_counted)
{
    struct queue_message *messages;
    size_t count;

    fake.begun = 2;
    publish(INTENT_RECONCILE, "slow");
    ck_assert_int_eq(queue_claim(client, &(struct queue_take){ .max_count = 1, .arena = &relay_ctx.arena },
                         &messages, &count, NULL),
        STATUS_OK);
    config.visibility_s = 0;

    loop_turn(&loop);

    ck_assert_int_eq(fake.begun, 0);
    ck_assert_int_eq(fake.counted, 0);
    check_queue(1, 1);
}
END_TEST

/* Another consumer looks for silent consumers long after the claim, but the claim was renewed just before. */
static void much_later_but_kept(void)
{
    struct queue_message *messages;
    size_t count = 9;

    redis_server_command(&server, "EVAL",
        "local s = KEYS[1] for _, p in ipairs(redis.call('XPENDING', s, 'workers', '-', '+', 9)) do "
        "redis.call('XCLAIM', s, 'workers', p[2], 0, p[1], 'IDLE', 900000, 'JUSTID') end return 1",
        "1", "tavola:{q1}:intents", NULL);
    lease_renewal_pass(&relay_ctx);
    ck_assert_int_eq(queue_reclaim(client,
                         &(struct queue_take){ .max_count = 9, .idle_ms = 800000, .arena = &relay_ctx.arena },
                         &messages, &count, NULL),
        STATUS_OK);
    ck_assert_uint_eq(count, 0);
}

START_TEST(no_other_worker_claims_long_work)
{
    publish(INTENT_RECONCILE, "a");
    fake.meanwhile = much_later_but_kept;

    ck_assert_uint_eq(loop_turn(&loop), 1);

    ck_assert_str_eq(fake.reconciled, " a|");
    check_queue(0, 0);
    lease_renewal_pass(&relay_ctx); /* no claim is left */
}
END_TEST

static void renewed_until_it_lasts_too_long(void)
{
    lease_renewal_pass(&relay_ctx);
    ck_assert_int_eq(fake.renewed, 1);
    now_us += 1000 * config.visibility_s * 1000 * 1000;
    lease_renewal_pass(&relay_ctx);
    ck_assert_int_eq(fake.renewed, 1);
}

START_TEST(polled_work_is_in_hand_while_it_is_done)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "suspect");
    fake.meanwhile = renewed_until_it_lasts_too_long;
    redis_server_kill(&server);

    ck_assert_uint_eq(loop_turn(&loop), 2);

    ck_assert_str_eq(fake.reconciled, " a| suspect|");
    ck_assert(!fake.reconciled_before_hand);
    ck_assert_int_eq(fake.looked_for_dead, 1);
    ck_assert_int_eq(fake.begun, 1);
    ck_assert_int_eq(fake.released, 1);
    ck_assert_int_eq(fake.claimed, 0);
}
END_TEST

/* It is counted before each try; if it were left, it would not be. */
START_TEST(a_suspect_is_not_left)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "bad");
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "suspect-waits");
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "waits-bad");
    redis_server_kill(&server);

    ck_assert_uint_eq(loop_turn(&loop), 3);

    ck_assert_int_eq(fake.begun, 1);
    ck_assert_str_eq(fake.reconciled, " suspect-waits|");
    ck_assert_int_eq(fake.counted, 1);
    ck_assert_int_eq(fake.looked_for_waiting, 1);
}
END_TEST

START_TEST(polled_work_waits_for_no_suspicion)
{
    redis_server_stop(&server);
    relay_pass(&relay);
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    atomic_store(&shared.held[0], true);
    fake.dead_hand_is_locked = true;

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, " a|");
    ck_assert_int_eq(fake.looked_for_dead, 1);
    now_us += 2000 * 1000;
    loop_turn(&loop);
    ck_assert_int_eq(fake.looked_for_dead, 1); /* not every second, if one count takes a second */
}
END_TEST

START_TEST(an_unknown_kind_is_left_for_others)
{
    publish((enum intent_kind)77, "a");
    publish(INTENT_RECONCILE, "b");

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, " b|");
    ck_assert_int_eq(fake.counted, 0);
    check_queue(1, 1);
}
END_TEST

START_TEST(a_key_that_cannot_be_one_never_reaches_the_database)
{
    publish(INTENT_RECONCILE, "\xff\xfe");

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, "");
    ck_assert_int_eq(fake.counted, 0);
    check_queue(0, 0);
}
END_TEST

START_TEST(a_transaction_is_carried_to_its_end)
{
    fake.steps_left = 3;
    publish(INTENT_TRANSACTION, "t");

    loop_turn(&loop);

    ck_assert_int_eq(fake.steps, 3);
    check_queue(0, 0);
}
END_TEST

/* A turn lasts five milliseconds. */
START_TEST(a_long_transaction_lets_other_work_have_its_turn)
{
    fake.steps_left = 25;
    publish(INTENT_TRANSACTION, "t");

    loop_turn(&loop);
    ck_assert_int_eq(fake.steps, 10);
    check_queue(1, 0);
    loop_turn(&loop);
    loop_turn(&loop);
    ck_assert_int_eq(fake.steps, 25);
    check_queue(0, 0);
    ck_assert_int_eq(atomic_load(&shared.queues.applied_total[queue_slot(0, INTENT_TRANSACTION)]) +
                         atomic_load(&shared.queues.applied_total[queue_slot(1, INTENT_TRANSACTION)]),
        1);
}
END_TEST

/* Its rest is found by the next scan, which takes longer than a message. */
START_TEST(a_transaction_from_the_database_has_a_longer_turn)
{
    fake.steps_left = 250;
    fake.open[fake.open_count++] = an_intent(INTENT_TRANSACTION, "t");
    redis_server_kill(&server);

    loop_turn(&loop);
    ck_assert_int_eq(fake.steps, 200);
}
END_TEST

/* Few messages of costly work are claimed at once; if their turns take long, still fewer the next time. */
START_TEST(claims_of_slow_work_are_small)
{
    static const char *const rows[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };

    fake.steps_left = 1000;
    fake.step_us = 4000;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        publish(INTENT_TRANSACTION, rows[i]);

    ck_assert_uint_le(loop_turn(&loop), 4);
    ck_assert_uint_eq(loop_turn(&loop), 1);
}
END_TEST

static void take_60_ms(void)
{
    now_us += 60000;
}

/* Keys are cheaper together. */
START_TEST(claims_of_keys_that_are_reconciled_together_stay_large)
{
    static const char *const rows[] = { "a", "b", "c", "d", "e", "f", "g", "h" };

    fake.meanwhile = take_60_ms;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < 2 * ARRAY_LEN(rows); i++)
            publish(INTENT_RECONCILE, rows[i % ARRAY_LEN(rows)]);
        ck_assert_uint_eq(loop_turn(&loop), 2 * ARRAY_LEN(rows));
    }
}
END_TEST

START_TEST(a_stop_in_a_transaction_hands_it_back)
{
    fake.steps_left = 3;
    fake.stop_after_step = true;
    publish(INTENT_TRANSACTION, "t");
    publish(INTENT_TRANSACTION, "u");

    loop_turn(&loop);

    ck_assert_int_eq(fake.steps, 1);
    ck_assert_int_eq(fake.counted, 0);
    check_queue(2, 2);
    ck_assert_int_eq(reclaim(1000, 2), 1);
}
END_TEST

START_TEST(copies_of_several_dependents_are_made_together)
{
    publish(INTENT_COPY, "a");
    publish(INTENT_COPY, "b");
    publish(INTENT_COPY, "a");

    loop_turn(&loop);

    ck_assert_int_eq(fake.copied, 2);
    check_queue(0, 0);
}
END_TEST

/* The rest of a long visit comes behind what was published meanwhile. */
START_TEST(a_long_visit_lets_other_work_have_its_turn)
{
    fake.steps_left = 25;
    publish(INTENT_VISIT, "boss");

    loop_turn(&loop);
    ck_assert_int_eq(fake.steps, 10);
    check_queue(1, 0);
    loop_turn(&loop);
    loop_turn(&loop);
    ck_assert_int_eq(fake.steps, 25);
    check_queue(0, 0);
}
END_TEST

START_TEST(a_stop_in_a_visit_hands_it_back)
{
    fake.steps_left = 3;
    fake.stop_after_step = true;
    publish(INTENT_VISIT, "boss");

    loop_turn(&loop);

    ck_assert_int_eq(fake.steps, 1);
    check_queue(1, 1);
}
END_TEST

START_TEST(what_a_stop_finds_unstarted_is_handed_back)
{
    publish(INTENT_RECONCILE, "a");
    worker_stop(&shared);

    loop_turn(&loop);

    ck_assert_str_eq(fake.reconciled, "");
    check_queue(1, 1);
    ck_assert_int_eq(reclaim(1000, 1), 1);
}
END_TEST

/* This many open intents of one bucket, in the order of their ids. */
static void given_a_backlog(int16_t bucket, size_t count)
{
    static char rows[MAX_ROWS][32];

    for (size_t i = 0; i < count; i++) {
        char *row = rows[fake.open_count];
        struct intent *intent = &fake.open[fake.open_count++];

        *intent = an_intent(INTENT_RECONCILE, "a");
        intent->bucket = bucket;
        snprintf(row, sizeof(rows[0]), "%d-%zu", bucket, i);
        intent->key.row = str_of(row);
        intent->id = intent_id_of(5, 0, (uint32_t)fake.open_count);
    }
}

START_TEST(a_poller_takes_a_whole_claim_of_one_bucket)
{
    config.claim_batch = 512;
    given_a_backlog(1, 1000);
    redis_server_kill(&server);

    ck_assert_uint_eq(loop_turn(&loop), 512);
}
END_TEST

START_TEST(a_poller_takes_a_share_of_every_bucket_first)
{
    config.claim_batch = 512;
    given_a_backlog(1, 1000);
    given_a_backlog(5, 10);
    redis_server_kill(&server);

    ck_assert_uint_eq(loop_turn(&loop), 512);
    ck_assert_ptr_nonnull(strstr(fake.reconciled, " 5-9"));
}
END_TEST

/* A range that always has a whole claim of work would otherwise keep the others from their turn. */
START_TEST(each_scan_of_a_poller_begins_at_the_next_range)
{
    int first = -1;

    config.claim_batch = 2;
    given_a_backlog(1, 100);
    redis_server_kill(&server);

    for (int turn = 0; turn <= LEASE_RANGES; turn++) {
        fake.ranges_scanned = 0;
        loop_turn(&loop);
        ck_assert_int_gt(fake.ranges_scanned, 0);
        ck_assert_int_eq(fake.first_scanned, first < 0 ? fake.first_scanned : (first + 1) % LEASE_RANGES);
        first = fake.first_scanned;
    }
}
END_TEST

START_TEST(without_redis_intents_are_taken_from_the_database)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "bad");
    redis_server_kill(&server);

    ck_assert_uint_eq(loop_turn(&loop), 2);

    ck_assert_str_eq(fake.reconciled, " a|");
    ck_assert_int_eq(fake.counted, 1);
    ck_assert_int_eq(fake.scan_age_ms, 0);
}
END_TEST

/* ---- queues under control ---- */

/* The worker learns of the change. Intents in these tests were made in 1970. */
static void given_controls(int64_t intents_before_us, int64_t rate)
{
    fake.controlled = true;
    fake.control = (struct queue_control){ intents_before_us, rate };
    now_us += 1000 * 1000;
    relay_pass(&relay);
}

START_TEST(a_paused_queue_forgets_messages_and_keeps_intents)
{
    given_controls(0, 0);
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    publish(INTENT_RECONCILE, "a");

    ck_assert_uint_eq(loop_turn(&loop), 0);
    relay_pass(&relay);
    check_queue(0, 0);
    ck_assert_str_eq(fake.reconciled, "");
    redis_server_kill(&server);
    ck_assert_uint_eq(loop_turn(&loop), 0);
    ck_assert_str_eq(fake.reconciled, "");

    given_controls(1, 0); /* part of a drain: it was made before the drain began */
    ck_assert_uint_eq(loop_turn(&loop), 1);
    ck_assert_str_eq(fake.reconciled, " a|");
    ck_assert_int_eq(atomic_load(&shared.queues.applied_total[queue_slot(1, INTENT_RECONCILE)]), 1);
}
END_TEST

/* Limited work is claimed in the database, and may take long. */
START_TEST(a_batch_is_acknowledged_before_limited_work)
{
    publish(INTENT_RECONCILE, "a");
    loop_turn(&loop);
    ck_assert_int_eq(inspect().pending, 1);

    given_controls(INT64_MAX, 5);
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "b");
    fake.permits = 1;
    ck_assert_uint_eq(loop_turn(&loop), 1);
    ck_assert_int_eq(inspect().pending, 0);
}
END_TEST

START_TEST(what_is_held_back_does_not_wait_for_the_batch)
{
    struct intent later = an_intent(INTENT_RECONCILE, "later");
    size_t published;

    given_controls(1, 0); /* only what was made before this time */
    later.id = intent_id_of(1, 0, 5);
    ck_assert_int_eq(queue_publish(client, &later, 1, &published, NULL), STATUS_OK);
    publish(INTENT_TRANSACTION, "t");

    ck_assert_uint_eq(loop_turn(&loop), 1);

    ck_assert_int_eq(inspect().pending, 1); /* the transaction */
}
END_TEST

START_TEST(a_batch_is_acknowledged_when_the_worker_stops)
{
    publish(INTENT_RECONCILE, "a");
    loop_turn(&loop);
    ck_assert_int_eq(inspect().pending, 1);
    atomic_store(&shared.stopping, true);

    loop_thread(&ctx);

    ck_assert_int_eq(inspect().pending, 0);
}
END_TEST

START_TEST(what_was_held_back_is_published_once_it_may_be)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    relay_pass(&relay);
    check_queue(1, 0);
    given_controls(0, 0);
    ck_assert_uint_eq(loop_turn(&loop), 0);
    check_queue(0, 0);

    fake.controlled = false;
    now_us += 1000 * 1000;
    relay_pass(&relay);

    check_queue(1, 0);
    ck_assert_uint_eq(loop_turn(&loop), 1);
    ck_assert_str_eq(fake.reconciled, " a|");
}
END_TEST

START_TEST(limited_work_is_done_by_permits_and_never_from_the_stream)
{
    given_controls(INT64_MAX, 5);
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "b");
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "c");
    publish(INTENT_RECONCILE, "a");
    relay_pass(&relay);
    check_queue(1, 0); /* nothing more */

    ck_assert_uint_eq(loop_turn(&loop), 0);
    check_queue(0, 0);
    now_us += 1000 * 1000;
    fake.permits = 2;
    ck_assert_uint_eq(loop_turn(&loop), 2);
    ck_assert_str_eq(fake.reconciled, " a b|");
    ck_assert_uint_eq(loop_turn(&loop), 0);
}
END_TEST

/* Though reconciles fill each claim. */
START_TEST(kinds_of_limited_work_take_turns)
{
    given_controls(INT64_MAX, 1000);
    for (int i = 0; i < 16; i++)
        fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    fake.open[fake.open_count++] = an_intent(INTENT_TRANSACTION, "t");
    fake.steps_left = 1;
    fake.permits = 1000;
    now_us += 1000 * 1000;

    ck_assert_uint_eq(loop_turn(&loop), 16);
    ck_assert_int_eq(fake.steps, 0);
    loop_turn(&loop);
    ck_assert_int_eq(fake.steps, 1);
}
END_TEST

/* ---- the relay ---- */

START_TEST(the_relay_publishes_what_was_missed)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");

    relay_pass(&relay);

    ck_assert_int_eq(fake.scan_age_ms, 1000);
    check_queue(1, 0);
    loop_turn(&loop);
    ck_assert_str_eq(fake.reconciled, " a|");
}
END_TEST

/* A scan passes everything that was deleted since the last vacuum. */
START_TEST(nothing_is_scanned_while_no_intent_is_old_enough)
{
    relay_pass(&relay); /* from the start, since this connection has not scanned */
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    fake.oldest_age_us = 600 * 1000;
    fake.scans = 0;
    now_us += 500 * 1000;

    relay_pass(&relay); /* looks at the backlog: the intent is 600 ms old */
    now_us += 399 * 1000;
    relay_pass(&relay);
    ck_assert_int_eq(fake.scans, 0);

    now_us += 1000;
    relay_pass(&relay);
    ck_assert_int_eq(fake.scans, 1);
    check_queue(1, 0);
}
END_TEST

START_TEST(what_has_a_time_ahead_of_the_clock_is_scanned_for)
{
    relay_pass(&relay);
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    fake.oldest_age_us = BACKLOG_UNKNOWN_AGE;
    now_us += 500 * 1000;

    relay_pass(&relay);

    check_queue(1, 0);
}
END_TEST

START_TEST(a_backlog_of_one_bucket_is_published_in_one_pass)
{
    given_a_backlog(1, 3000);

    ck_assert(!relay_pass(&relay));
    check_queue(3000, 0);

    ck_assert(!relay_pass(&relay));
    check_queue(3000, 0);
}
END_TEST

/* Remove the messages of shard 1. */
static void lose_messages(void)
{
    redis_server_command(&server, "XTRIM", "tavola:{q1}:intents", "MAXLEN", "0", NULL);
    redis_server_command(&server, "DEL", "tavola:{q1}:waiting", NULL);
}

START_TEST(a_large_backlog_is_published_in_portions_each_once)
{
    given_a_backlog(1, MAX_ROWS);

    ck_assert(relay_pass(&relay));
    check_queue(REFILL_MAX_WAITING, 0);
    ck_assert(relay_pass(&relay)); /* no room, and more intents are open */
    check_queue(REFILL_MAX_WAITING, 0);
    lose_messages(); /* another worker has done all of it */
    fake.scans = 0;

    ck_assert(!relay_pass(&relay));
    check_queue(MAX_ROWS - REFILL_MAX_WAITING, 0);
    ck_assert_int_lt(fake.scans, 8); /* what was published before is not read again */
}
END_TEST

START_TEST(a_large_backlog_holds_up_no_other_bucket)
{
    struct queue_message *messages = NULL;
    size_t count = 0, of_others = 0;

    given_a_backlog(1, MAX_ROWS - 20);
    given_a_backlog(5, 10);
    given_a_backlog(9, 10);

    relay_pass(&relay);

    ck_assert_int_eq(queue_claim(client,
                         &(struct queue_take){ .max_count = REFILL_MAX_WAITING, .arena = &relay_ctx.arena },
                         &messages, &count, NULL),
        STATUS_OK);
    for (size_t i = 0; i < 100; i++)
        of_others += messages[i].intent.bucket != 1;
    ck_assert_uint_eq(of_others, 20);
}
END_TEST

/* Lost messages are found although the scan of the bucket goes on behind them: it begins again after a while. */
START_TEST(what_was_lost_behind_the_reader_is_published_again)
{
    given_a_backlog(1, MAX_ROWS);
    relay_pass(&relay);
    lose_messages();
    fake.open_count = 100;

    now_us += 11 * 1000 * 1000;
    relay_pass(&relay);

    check_queue(100, 0);
}
END_TEST

START_TEST(what_is_under_way_is_not_published_again_at_once)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    relay_pass(&relay);
    relay_pass(&relay);
    check_queue(1, 0);

    now_us += 4 * 1000 * 1000;
    relay_pass(&relay);
    check_queue(2, 0);
}
END_TEST

START_TEST(the_relay_adds_nothing_to_streams_that_have_work)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    for (int i = 0; i < 16; i++)
        publish(INTENT_RECONCILE, "b");

    relay_pass(&relay);

    check_queue(16, 0);
}
END_TEST

/* Another account's backlog, for example; it is not asked for all the time. */
START_TEST(what_is_due_is_tried_again_however_much_waits)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    fake.due_count = 1;
    for (int i = 0; i < 16; i++)
        publish(INTENT_RECONCILE, "b");

    relay_pass(&relay);
    relay_pass(&relay);

    check_queue(17, 0);
    ck_assert_int_eq(fake.due_looks, 1);
    now_us += 4 * 1000 * 1000;
    relay_pass(&relay);
    check_queue(18, 0);
}
END_TEST

START_TEST(what_is_due_and_paused_is_not_published)
{
    given_controls(0, 0);
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    fake.due_count = 1;
    for (int i = 0; i < 16; i++)
        publish(INTENT_RECONCILE, "b");

    relay_pass(&relay);

    ck_assert_int_eq(fake.due_looks, 1);
    ck_assert(fake.due_has_scope);
    check_queue(16, 0);
}
END_TEST

/* Their work is open, too: it would be published once more. */
START_TEST(the_relay_adds_nothing_while_messages_were_handed_back)
{
    struct queue_take all = { .max_count = 16, .arena = &relay_ctx.arena };
    struct queue_message *messages = NULL;
    size_t count = 0;

    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    for (int i = 0; i < 16; i++)
        publish(INTENT_RECONCILE, "b");
    ck_assert_int_eq(queue_claim(client, &all, &messages, &count, NULL), STATUS_OK);
    ck_assert_int_eq(queue_release(client, messages, count, NULL), STATUS_OK);

    relay_pass(&relay);

    check_queue(16, 16);
}
END_TEST

START_TEST(after_a_flush_everything_open_is_published_from_the_start)
{
    struct queue_state state = { 0 };

    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    ck_assert_int_eq(queue_inspect(client, &state, NULL), STATUS_OK);
    ck_assert(state.has_epoch);
    redis_server_command(&server, "FLUSHALL", NULL);

    relay_pass(&relay);

    ck_assert_int_eq(fake.scans_from_start, 1);
    ck_assert_int_eq(fake.scan_age_ms, 0);
    ck_assert_int_eq(queue_inspect(client, &state, NULL), STATUS_OK);
    ck_assert(state.has_epoch);
    check_queue(1, 0);
}
END_TEST

/* Guard G18: the database may have crashed, so finished work may be open again. */
START_TEST(after_a_reconnect_everything_open_is_published_from_the_start)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    relay_pass(&relay);
    relay_pass(&relay);
    ck_assert_int_eq(fake.scans_from_start, 0);
    check_queue(1, 0);
    loop_turn(&loop);

    fake.connection++;
    relay_pass(&relay);
    ck_assert_int_eq(fake.scans_from_start, 1);
    check_queue(1, 0);

    relay_pass(&relay);
    ck_assert_int_eq(fake.scans_from_start, 1);
}
END_TEST

START_TEST(a_poller_with_a_new_connection_scans_from_the_start) /* guard G18 */
{
    redis_server_kill(&server);
    relay_pass(&relay);
    for (int i = 0; i < 2; i++) {
        fake.scans_from_start = 0;
        loop_turn(&loop);
        ck_assert_int_eq(fake.scans_from_start, 1);
        loop_turn(&loop);
        ck_assert_int_eq(fake.scans_from_start, 1);
        fake.connection++;
    }
}
END_TEST

START_TEST(every_few_minutes_a_scan_begins_at_the_start) /* guard G7 */
{
    relay_pass(&relay);
    ck_assert_int_eq(fake.scans_from_start, 0);

    now_us += INT64_C(181) * 1000 * 1000; /* guard G7 */
    relay_pass(&relay);
    ck_assert_int_eq(fake.scans_from_start, 1);
}
END_TEST

START_TEST(a_dead_redis_means_polling_and_a_new_one_streaming)
{
    ck_assert(atomic_load(&shared.streaming));

    redis_server_kill(&server);
    relay_pass(&relay);
    ck_assert(!atomic_load(&shared.streaming));

    redis_server_restart(&server);
    while (!atomic_load(&shared.streaming)) /* the test's time limit is the deadline */
        relay_pass(&relay);
}
END_TEST

START_TEST(a_full_redis_means_polling_for_a_while)
{
    fake.open[fake.open_count++] = an_intent(INTENT_RECONCILE, "a");
    redis_server_command(&server, "CONFIG", "SET", "maxmemory", "1", NULL);

    relay_pass(&relay);
    ck_assert(!atomic_load(&shared.streaming));
    loop_turn(&loop);
    ck_assert_str_eq(fake.reconciled, " a|");

    redis_server_command(&server, "CONFIG", "SET", "maxmemory", "0", NULL);
    relay_pass(&relay);
    ck_assert(!atomic_load(&shared.streaming));
    now_us += 11 * 1000 * 1000;
    relay_pass(&relay);
    ck_assert(atomic_load(&shared.streaming));
}
END_TEST

Suite *test_loop_suite(void)
{
    Suite *suite = suite_create("loop");
    TCase *consumer = tcase_create("consumer");
    TCase *relays = tcase_create("relay");

    tcase_add_checked_fixture(consumer, given_a_worker, the_worker_goes);
    tcase_set_timeout(consumer, 30);
    tcase_add_test(consumer, a_key_is_reconciled_then_acknowledged);
    tcase_add_test(consumer, a_batch_is_acknowledged_with_the_next_claim);
    tcase_add_test(consumer, messages_of_one_key_are_one_piece_of_work);
    tcase_add_test(consumer, a_failing_key_is_counted_and_delays_no_other_key);
    tcase_add_test(consumer, a_key_whose_next_try_is_not_due_is_left);
    tcase_add_test(consumer, a_key_that_is_not_due_and_succeeds_with_others_is_done);
    tcase_add_test(consumer, a_key_that_is_not_due_is_left_behind_a_lock);
    tcase_add_loop_test(consumer, a_culprit_is_found_by_quarters, 0, 3);
    tcase_add_test(consumer, two_culprits_are_found_by_quarters);
    tcase_add_test(consumer, many_culprits_are_not_searched_for);
    tcase_add_test(consumer, after_many_failures_the_rest_goes_back_and_comes_after_what_is_new);
    tcase_add_test(consumer, while_something_new_waits_fewer_failures_send_the_rest_back);
    tcase_add_test(consumer, while_something_new_waits_the_rest_of_slow_work_is_put_back);
    tcase_add_test(consumer, slow_work_is_not_put_back_for_nothing);
    tcase_add_test(consumer, nothing_is_put_back_behind_a_locked_key);
    tcase_add_test(consumer, a_suspect_behind_slow_work_is_released);
    tcase_add_test(consumer, failures_have_their_turns_however_much_is_new);
    tcase_add_test(consumer, a_lock_is_not_waited_for_by_quarters);
    tcase_add_test(consumer, the_first_lock_ends_the_search_for_culprits);
    tcase_add_test(consumer, a_stop_between_quarters_hands_the_others_back);
    tcase_add_test(consumer, a_database_lost_between_quarters_is_asked_no_more);
    tcase_add_test(consumer, after_the_last_failure_it_is_buried);
    tcase_add_test(consumer, a_lock_held_elsewhere_is_not_counted);
    tcase_add_test(consumer, not_every_lock_is_waited_for);
    tcase_add_test(consumer, keys_beside_an_unreadable_block_are_done);
    tcase_add_test(consumer, not_every_unreadable_block_is_tried);
    tcase_add_test(consumer, what_keeps_coming_back_holds_up_nothing_new);
    tcase_add_test(consumer, behind_a_lock_as_much_is_claimed_as_before);
    tcase_add_test(consumer, without_a_database_messages_are_handed_back_uncounted);
    tcase_add_test(consumer, a_silent_workers_message_is_counted_before_it_runs_alone);
    tcase_add_test(consumer, a_suspect_is_not_left);
    tcase_add_test(consumer, a_suspect_that_ends_without_a_result_is_not_counted);
    tcase_add_test(consumer, no_other_worker_claims_long_work);
    tcase_add_test(consumer, polled_work_is_in_hand_while_it_is_done);
    tcase_add_test(consumer, polled_work_waits_for_no_suspicion);
    tcase_add_test(consumer, what_kills_every_worker_is_buried_untried);
    tcase_add_test(consumer, an_unknown_kind_is_left_for_others);
    tcase_add_test(consumer, a_key_that_cannot_be_one_never_reaches_the_database);
    tcase_add_test(consumer, a_transaction_is_carried_to_its_end);
    tcase_add_test(consumer, a_long_transaction_lets_other_work_have_its_turn);
    tcase_add_test(consumer, a_transaction_from_the_database_has_a_longer_turn);
    tcase_add_test(consumer, claims_of_slow_work_are_small);
    tcase_add_test(consumer, claims_of_keys_that_are_reconciled_together_stay_large);
    tcase_add_test(consumer, a_stop_in_a_transaction_hands_it_back);
    tcase_add_test(consumer, copies_of_several_dependents_are_made_together);
    tcase_add_test(consumer, a_long_visit_lets_other_work_have_its_turn);
    tcase_add_test(consumer, a_stop_in_a_visit_hands_it_back);
    tcase_add_test(consumer, what_a_stop_finds_unstarted_is_handed_back);
    tcase_add_test(consumer, a_poller_takes_a_whole_claim_of_one_bucket);
    tcase_add_test(consumer, a_poller_takes_a_share_of_every_bucket_first);
    tcase_add_test(consumer, each_scan_of_a_poller_begins_at_the_next_range);
    tcase_add_test(consumer, without_redis_intents_are_taken_from_the_database);
    suite_add_tcase(suite, consumer);

    tcase_add_checked_fixture(relays, given_a_worker, the_worker_goes);
    tcase_set_timeout(relays, 30);
    tcase_add_test(relays, a_paused_queue_forgets_messages_and_keeps_intents);
    tcase_add_test(relays, a_batch_is_acknowledged_before_limited_work);
    tcase_add_test(relays, what_is_held_back_does_not_wait_for_the_batch);
    tcase_add_test(relays, a_batch_is_acknowledged_when_the_worker_stops);
    tcase_add_test(relays, what_was_held_back_is_published_once_it_may_be);
    tcase_add_test(relays, limited_work_is_done_by_permits_and_never_from_the_stream);
    tcase_add_test(relays, kinds_of_limited_work_take_turns);
    tcase_add_test(relays, the_relay_publishes_what_was_missed);
    tcase_add_test(relays, nothing_is_scanned_while_no_intent_is_old_enough);
    tcase_add_test(relays, what_has_a_time_ahead_of_the_clock_is_scanned_for);
    tcase_add_test(relays, what_was_lost_behind_the_reader_is_published_again);
    tcase_add_test(relays, a_large_backlog_holds_up_no_other_bucket);
    tcase_add_test(relays, a_large_backlog_is_published_in_portions_each_once);
    tcase_add_test(relays, a_backlog_of_one_bucket_is_published_in_one_pass);
    tcase_add_test(relays, what_is_under_way_is_not_published_again_at_once);
    tcase_add_test(relays, the_relay_adds_nothing_to_streams_that_have_work);
    tcase_add_test(relays, what_is_due_is_tried_again_however_much_waits);
    tcase_add_test(relays, what_is_due_and_paused_is_not_published);
    tcase_add_test(relays, the_relay_adds_nothing_while_messages_were_handed_back);
    tcase_add_test(relays, after_a_flush_everything_open_is_published_from_the_start);
    tcase_add_test(relays, after_a_reconnect_everything_open_is_published_from_the_start);
    tcase_add_test(relays, a_poller_with_a_new_connection_scans_from_the_start);
    tcase_add_test(relays, every_few_minutes_a_scan_begins_at_the_start);
    tcase_add_test(relays, a_dead_redis_means_polling_and_a_new_one_streaming);
    tcase_add_test(relays, a_full_redis_means_polling_for_a_while);
    suite_add_tcase(suite, relays);
    return suite;
}
