/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.c - rows, locks, commits, intents, leases and dead letters.
 */
#include "tests/sim/database.h"
#include "store/dead_letters/claim_work.h"
#include "store/dead_letters/dead_letter_work.h"
#include "store/intents/backlog_work.h"
#include "store/intents/lease_work.h"
#include "store/intents/queue_work.h"
#include "store/intents/scan_reach.h"
#include "store/transactions/transaction_work.h"
#include "workers/effects/effects.h"

#include <string.h>

#include "base/numbers.h"

struct database db;

static struct database on_disk; /* while is_behind: the state of db after a crash */
static bool is_behind;
static int64_t connections; /* how often all connections broke, at restarts of the database */
static struct intent_id cursor[LEASE_RANGES]; /* of scans, without G7 only */

static struct key_part city[] = { { .text = { "City", 4 } } };
static struct index by_city = { .index_id = INDEX_ID,
    .source_table_id = TABLE_ID,
    .shape = INDEX_COPY,
    .place = PLACE_OTHER_PARTITION,
    .state = INDEX_READY,
    .partition_key = { city, 1 },
    .projection = PROJECT_ALL };
static struct index *indexes[] = { &by_city };
struct table sim_table = { .table_id = TABLE_ID, .indexes = indexes, .index_count = 1 };

static const char *const partitions[KEYS] = { "p0", "p1", "p2" };
const char *const sim_cities[VALUES] = { "", "Aalen", "Bonn", "Celle" };
static const char *const names[MAX_TRANSACTIONS] = { "t0", "t1", "t2", "t3", "t4", "t5" };

/* ---- life ---- */

void database_begin(void)
{
    memset(&db, 0, sizeof(db));
    is_behind = false;
    memset(cursor, 0, sizeof(cursor));
    db.poison = sim_pick(8) == 0 ? (int)sim_pick(KEYS) : NONE;
    db.poison_left = (int)sim_pick(14);
    for (int i = 0; i < KEYS; i++) {
        db.rows[i] = (struct sim_row){ .lock = { NONE }, .key = { str_of(partitions[i]), STR_LITERAL("r") } };
        db.states[i].lock.owner = NONE;
    }
    for (int i = 0; i < MAX_TRANSACTIONS; i++)
        db.transactions[i].lock.owner = NONE;
}

static void release_locks(int actor)
{
    for (int i = 0; i < KEYS; i++) {
        if (db.rows[i].lock.owner == actor)
            db.rows[i].lock.owner = NONE;
        if (db.states[i].lock.owner == actor)
            db.states[i].lock.owner = NONE;
    }
    for (int i = 0; i < MAX_TRANSACTIONS; i++) {
        if (db.transactions[i].lock.owner == actor)
            db.transactions[i].lock.owner = NONE;
    }
    db.in_transaction[actor] = false;
}

void database_actor_died(int actor)
{
    release_locks(actor);
}

void database_restart(void)
{
    if (is_behind && sim_pick(4) > 0) {
        sim_trace("unflushed commits are lost");
        db = on_disk;
    }
    is_behind = false;
    connections++;
    for (int i = 0; i < ACTORS; i++)
        release_locks(i);
    db.down_until_us = sim_now_us() + (int64_t)sim_pick(3000000);
    db.clock_offset_us += (int64_t)sim_pick(4000000) - 2000000;
}

bool database_rests(void)
{
    for (int i = 0; i < db.intent_count; i++) {
        if (db.intents[i].open)
            return false;
    }
    return true;
}

int64_t db_clock_us(void)
{
    return sim_now_us() + db.clock_offset_us;
}

struct str worker_account_of(const struct worker *store, int64_t table_id)
{
    (void)store, (void)table_id;
    return STR_EMPTY;
}

int64_t worker_connection(const struct worker *store)
{
    (void)store;
    return connections;
}

/* ---- transactions of the database ---- */

enum status db_begin(const char *what, struct error *err)
{
    sim_point(what);
    if (sim_now_us() < db.down_until_us)
        return error_set(err, STATUS_UNAVAILABLE, "no database");
    db.in_transaction[sim_actor()] = true;
    return STATUS_OK;
}

void db_rollback(void)
{
    release_locks(sim_actor());
}

enum status db_lock(struct lock *lock, const char *what, struct error *err)
{
    int64_t until_us = sim_now_us() + 1000000;

    sim_point(what);
    while (lock->owner != NONE && lock->owner != sim_actor()) {
        if (sim_now_us() >= until_us) {
            db_rollback();
            return error_set(err, STATUS_TIMEOUT, "lock timeout");
        }
        sim_wait(20000);
    }
    if (!db.in_transaction[sim_actor()])
        return error_set(err, STATUS_UNAVAILABLE, "the connection was lost");
    lock->owner = sim_actor();
    return STATUS_OK;
}

bool db_may_commit(const char *what, struct error *err)
{
    sim_point(what);
    if (!db.in_transaction[sim_actor()] || sim_chance(8)) {
        db_rollback();
        (void)error_set(err, STATUS_UNAVAILABLE, "the connection was lost");
        return false;
    }
    return true;
}

enum status db_committed_unflushed(struct error *err)
{
    release_locks(sim_actor());
    check_invariants();
    sim_point("committed");
    return sim_chance(8) ? error_set(err, STATUS_UNAVAILABLE, "the answer to COMMIT was lost") : STATUS_OK;
}

/* Every earlier commit is on disk, too. */
enum status db_committed(struct error *err)
{
    is_behind = false;
    return db_committed_unflushed(err);
}

bool db_may_commit_unflushed(const char *what, struct error *err)
{
    if (!db_may_commit(what, err))
        return false;
    if (!is_behind)
        on_disk = db;
    is_behind = true;
    return true;
}

/* ---- entities ---- */

/* Equal values have equal bytes; computed once. */
struct row_state db_row_state(int key, int value, int64_t version)
{
    static struct arena arena;
    static struct property_list lists[VALUES];

    (void)key;
    if (value > 0 && lists[value].bytes.len == 0) {
        struct value text = { .type = PROPERTY_STRING, .bytes = str_of(sim_cities[value]) };
        struct property_builder builder = { 0 };
        struct buf out;

        buf_init(&out, &arena);
        builder.out = &out;
        property_build(&builder, STR_LITERAL("City"), &text);
        lists[value].bytes = buf_str(&out);
    }
    return (
        struct row_state){ .live = value > 0, .version = version, .ts = version, .properties = lists[value] };
}

void db_write(int key, int value)
{
    db.rows[key].value = value;
    db.rows[key].version++;
}

/* ---- intents ---- */

/* Ids are in the order of the database's clock at the beginning of a transaction, not of commits. */
struct intent_id db_draw_id(void)
{
    static uint32_t counter;

    return intent_id_of(db_clock_us(), 0, ++counter);
}

void db_add_intent(struct intent_id id, enum intent_kind kind, int what, struct intent *out)
{
    struct sim_intent *intent = &db.intents[db.intent_count++];

    *intent = (struct sim_intent){ .open = true, .what = what, .created_us = db_clock_us() };
    intent->intent = (struct intent){ .id = id, .kind = (int16_t)kind };
    if (kind == INTENT_RECONCILE) {
        intent->intent.table_id = TABLE_ID;
        intent->intent.key = db.rows[what].key;
        intent->intent.bucket = entity_key_bucket(TABLE_ID, db.rows[what].key.partition);
    } else {
        intent->intent.key = (struct entity_key){ STR_LITERAL("default"), str_of(names[what]) };
        intent->intent.bucket = entity_key_bucket(0, str_of(names[what]));
    }
    *out = intent->intent;
}

/* The number of the intent's key, or of its transaction. */
int db_key_of(const struct intent *intent)
{
    return intent->kind == INTENT_RECONCILE ? intent->key.partition.data[1] - '0'
                                            : intent->key.row.data[1] - '0';
}

bool db_is_open(int kind, int what)
{
    for (int i = 0; i < db.intent_count; i++) {
        if (db.intents[i].open && db.intents[i].intent.kind == kind && db.intents[i].what == what)
            return true;
    }
    return false;
}

static struct sim_dead_letter *dead_letter_of(const struct intent *intent)
{
    int what = db_key_of(intent);

    return intent->kind == INTENT_RECONCILE ? &db.key_dead_letters[what] : &db.transaction_dead_letters[what];
}

static bool is_waiting(const struct intent *intent)
{
    return dead_letter_of(intent)->next_us > db_clock_us();
}

static int range_of(const struct sim_intent *intent)
{
    return intent->intent.bucket / RANGE_BUCKETS;
}

/* Sorted by id, as an index would give them. */
static size_t collect_open(
    int range, struct intent_id from, int64_t min_age_ms, const struct sim_intent **out)
{
    size_t count = 0;

    for (int i = 0; i < db.intent_count; i++) {
        const struct sim_intent *intent = &db.intents[i];

        if (!intent->open || range_of(intent) != range || intent_id_compare(intent->intent.id, from) < 0 ||
            db_clock_us() - intent->created_us < min_age_ms * 1000 || is_waiting(&intent->intent))
            continue;
        out[count++] = intent;
        for (size_t at = count - 1;
             at > 0 && intent_id_compare(out[at]->intent.id, out[at - 1]->intent.id) < 0; at--) {
            const struct sim_intent *other = out[at - 1];

            out[at - 1] = out[at];
            out[at] = other;
        }
    }
    return count;
}

/* As the SQL statements do it, but one slot after another. */
static size_t take_shares(const struct intent_scan *what, struct scan_reach *reach,
    const struct sim_intent *const *from, size_t all, struct intent *out)
{
    struct scan_answer answer = {
        .intents = out, .max = what->max, .share = scan_reach_share(reach, what->rest_only, what->max)
    };
    size_t counts[RANGE_SLOTS] = { 0 };

    for (size_t i = 0; i < all && answer.count < what->max; i++) {
        int place = scan_reach_slot(from[i]->intent.bucket, 0);
        struct intent_id after = reach->after[place];

        if ((intent_id_is_none(after) ? !what->rest_only
                                      : intent_id_compare(from[i]->intent.id, after) > 0) &&
            counts[place]++ < answer.share)
            out[answer.count++] = from[i]->intent;
    }
    scan_reach_note(reach, &answer);
    return answer.count;
}

static void trace_scan(int range, struct intent_id from, const struct sim_intent *const *found, size_t all)
{
    unsigned first = (unsigned)from.low;

    if (all > 0)
        sim_step(about_range(range), "scans from id %u on, and finds up to id %u", first,
            (unsigned)found[all - 1]->intent.id.low);
    for (int i = 0; all == 0 && i < db.intent_count; i++) {
        const struct intent *intent = &db.intents[i].intent;

        if (db.intents[i].open && range_of(&db.intents[i]) == range &&
            intent_id_compare(intent->id, from) < 0)
            sim_step(about_range(range), "scans from id %u on, and finds nothing: id %u lies before it",
                first, (unsigned)intent->id.low);
    }
}

enum status lease_work_scan(struct worker *store, const struct intent_scan *what, struct scan_reach *reach,
    struct arena *arena, struct intents_found *out, struct error *err)
{
    const struct sim_intent *found[MAX_INTENTS];
    bool without = sim_without("G7");
    size_t all;

    (void)store;
    TRY(db_begin("scan", err));
    db_rollback();
    all = collect_open(what->range, without ? cursor[what->range] : what->from_id, what->min_age_ms, found);
    *out = (struct intents_found){ .intents = ARENA_ARRAY(arena, struct intent, MAX_INTENTS) };
    out->count = take_shares(what, reach, found, all, out->intents);
    out->low_id = intent_id_first_at((all > 0 ? found[0]->created_us : db_clock_us()) - 60000000);
    trace_scan(what->range, without ? cursor[what->range] : what->from_id, found, all);
    if (without && all > 0) {
        cursor[what->range] = found[all - 1]->intent.id;
        cursor[what->range].low++; /* the next id */
    }
    return STATUS_OK;
}

enum status lease_work_find_retries(struct worker *store, const struct retry_scan *what, struct arena *arena,
    struct intents_found *out, struct error *err)
{
    (void)store, (void)what, (void)arena;
    TRY(db_begin("look for retries", err));
    db_rollback();
    *out = (struct intents_found){ .count = 0 };
    return STATUS_OK;
}

/* ---- dead letters ---- */

enum status dead_letter_work_count_failure(struct worker *store, const struct intent *intent,
    const struct error *cause, int32_t *failures, struct error *err)
{
    (void)store, (void)cause;
    TRY(db_begin("count failure", err));
    if (!db_may_commit("commit of a count", err))
        return STATUS_UNAVAILABLE;
    *failures = db_is_open(intent->kind, db_key_of(intent)) ? ++dead_letter_of(intent)->failures : 0;
    return db_committed(err);
}

enum status dead_letter_work_retry_after(
    struct worker *store, const struct intent *intent, int64_t delay_ms, struct error *err)
{
    (void)store;
    TRY(db_begin("retry after", err));
    if (!db_may_commit("commit of a delay", err))
        return STATUS_UNAVAILABLE;
    dead_letter_of(intent)->next_us = db_clock_us() + delay_ms * 1000;
    return db_committed(err);
}

enum status dead_letter_work_bury(struct worker *store, const struct intent *intent, struct error *err)
{
    int what = db_key_of(intent);

    (void)store;
    TRY(db_begin("bury", err));
    if (intent->kind == INTENT_RECONCILE)
        TRY(db_lock(&db.states[what].lock, "lock of who is buried", err));
    else
        TRY(db_lock(&db.transactions[what].lock, "lock of who is buried", err));
    if (!db_may_commit("commit of a burial", err))
        return STATUS_UNAVAILABLE;
    dead_letter_of(intent)->dead = dead_letter_of(intent)->dead || db_is_open(intent->kind, what);
    for (int i = 0; i < db.intent_count; i++) {
        if (db.intents[i].intent.kind == intent->kind && db.intents[i].what == what)
            db.intents[i].open = false;
    }
    return db_committed(err);
}

/* Beginnings without a report are counted; here no work kills its worker, so the count never leads to giving up. */
enum status dead_letter_work_count_delivery(
    struct worker *store, const struct intent *intent, int32_t *before, struct error *err)
{
    (void)store, (void)intent;
    TRY(db_begin("count delivery", err));
    if (!db_may_commit("commit of a delivery", err))
        return STATUS_UNAVAILABLE;
    *before = 0;
    return db_committed(err);
}

enum status dead_letter_work_report(struct worker *store, const struct intent *intent, struct error *err)
{
    (void)store, (void)intent;
    TRY(db_begin("report", err));
    db_rollback();
    return STATUS_OK;
}

/* ---- claims of polled work ---- */

enum status claim_work_take(struct worker *store, const struct claim_owner *owner,
    const struct intent *intents, size_t count, bool *suspects, struct error *err)
{
    (void)store, (void)owner, (void)intents;
    TRY(db_begin("claim polled work", err));
    db_rollback();
    for (size_t i = 0; i < count; i++)
        suspects[i] = sim_chance(5);
    return STATUS_OK;
}

enum status claim_work_find_waiting(
    struct worker *store, const struct intent *intents, size_t count, bool *waiting, struct error *err)
{
    (void)store;
    TRY(db_begin("find what waits", err));
    db_rollback();
    for (size_t i = 0; i < count; i++)
        waiting[i] = is_waiting(&intents[i]);
    return STATUS_OK;
}

enum status claim_work_release(struct worker *store, const struct claim_owner *owner, struct error *err)
{
    (void)store, (void)owner;
    TRY(db_begin("put down", err));
    db_rollback();
    return STATUS_OK;
}

enum status claim_work_suspect_dead(struct worker *store, const struct claim_owner *owner, struct error *err)
{
    (void)store, (void)owner;
    TRY(db_begin("look for dead claims", err));
    db_rollback();
    return STATUS_OK;
}

/* ---- leases and lag ---- */

enum status lease_work_report(struct worker *store, const struct worker_report *report, struct error *err)
{
    (void)store, (void)report, (void)err;
    return STATUS_OK;
}

enum status lease_work_hold(
    struct worker *store, int64_t lease_ms, bool held[LEASE_RANGES], struct error *err)
{
    int process = sim_actor() / 2;

    (void)store;
    TRY(db_begin("hold leases", err));
    db_rollback();
    for (int range = 0; range < LEASE_RANGES; range++) {
        bool free =
            db.range_until_us[range] < db_clock_us() || db.range_until_us[range] > db_clock_us() + 10000000;

        held[range] = db.range_holder[range] == process || free;
        if (!held[range])
            continue;
        db.range_holder[range] = process;
        db.range_until_us[range] = db_clock_us() + lease_ms * 1000;
    }
    return STATUS_OK;
}

enum status lease_work_release(struct worker *store, struct error *err)
{
    (void)store, (void)err;
    return STATUS_OK;
}

enum status backlog_work_update(struct worker *store, const bool held[LEASE_RANGES], bool counts,
    struct backlog *backlog, struct error *err)
{
    (void)store, (void)held, (void)counts;
    TRY(db_begin("watermarks", err));
    db_rollback();
    backlog->open_intents = 0;
    for (int range = 0; range < LEASE_RANGES; range++)
        backlog->oldest_age_us[range] = BACKLOG_NO_AGE;
    for (int i = 0; i < db.intent_count; i++) {
        const struct sim_intent *intent = &db.intents[i];
        int64_t age_us = db_clock_us() - intent->created_us;
        int64_t *oldest = &backlog->oldest_age_us[range_of(intent)];

        if (!intent->open)
            continue;
        backlog->open_intents++;
        *oldest = numbers_max(*oldest, age_us < 0 ? BACKLOG_UNKNOWN_AGE : age_us);
    }
    return STATUS_OK;
}

/* A step's own intents are hints for the queue, which get lost here. */
/* No step here has an effect outside the database: tests/scenario/test_steps.py has those, with crashes. */
struct effects effects_of(struct worker_ctx *ctx)
{
    (void)ctx;
    return (struct effects){ 0 };
}

void transaction_work_use(struct worker *store, const struct effects *effects)
{
    (void)store, (void)effects;
}

void worker_observe(struct worker *store,
    void (*intents_committed)(void *context, const struct intent *intents, size_t count), void *context)
{
    (void)store, (void)intents_committed, (void)context;
}

/* ---- queues: none is controlled here ---- */

enum status queue_work_read_controls(struct worker *store, struct queue_map *map,
    struct queue_control out[MAX_QUEUES * WORK_KINDS], bool *any, struct error *err)
{
    (void)store, (void)err;
    *map = (struct queue_map){ .version = 1, .queues = 1 };
    for (int slot = 0; slot < MAX_QUEUES * WORK_KINDS; slot++)
        out[slot] = (struct queue_control){ .intents_before_us = INT64_MAX };
    *any = false;
    return STATUS_OK;
}

enum status queue_work_take_permits(
    struct worker *store, int queue, int kind, int64_t wanted, int64_t *granted, struct error *err)
{
    (void)store, (void)queue, (void)kind, (void)err;
    *granted = wanted;
    return STATUS_OK;
}

enum status queue_work_add_applied(
    struct worker *store, const struct applied *applied, size_t count, struct error *err)
{
    (void)store, (void)applied, (void)count, (void)err;
    return STATUS_OK;
}
