/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_lane.c - the store under pressure: full lanes, callers with a passed deadline, closing, and a database that
 * goes away and returns.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "domain/limits.h"
#include "store/lanes/lane.h"
#include "store/lanes/waiters.h"
#include "store/store.h"
#include "tests/support/builders.h"
#include "tests/support/tcp_proxy.h"

static struct scene scene;
static PGconn *holder; /* of a lock, until it commits, or of a gate */

static void setup(void)
{
    scene_open(&scene);
    holder = test_connect(scene.conninfo);
}

static void teardown(void)
{
    PQfinish(holder);
    scene_close(&scene);
}

static struct operation *an_upsert(struct arena *arena, const char *row)
{
    return a_write_operation(
        arena, "Things", a_write(WRITE_INSERT_OR_REPLACE, "p", row, some_texts(arena, "Text", "x", NULL)));
}

/* A store with one writer that takes one operation at a time. */
static struct store *open_narrow(int max_waiting)
{
    struct store_options options = plain_options(scene.conninfo);

    options.write_threads = 1;
    options.batch_operations = 1;
    options.max_waiting = max_waiting;
    return store_open(&options);
}

#define GATE                                                                                                 \
    "create table gate as select 1 as closed; "                                                              \
    "create function wait_at_gate() returns trigger language plpgsql as $$ begin "                           \
    "while exists (select from gate) loop perform pg_sleep(0.01); end loop; return new; end $$; "            \
    "create trigger gate before insert on entities for each row when (new.row_key = 'stalled') "             \
    "execute function wait_at_gate()"
#define OPEN_GATE "delete from gate"

/* Let the write of this row stand still in the database, and its thread with it, until the gate is opened. */
static struct operation *let_stall(struct store *store, struct operation *stalled)
{
    test_sql(holder, GATE);
    submit(store, stalled);
    test_await(scene.sql, "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname "
                          "= current_database()");
    return stalled;
}

static struct operation *write_that_stalls(struct store *store)
{
    return let_stall(store, an_upsert(&scene.arena, "stalled"));
}

START_TEST(a_full_lane_refuses_at_once)
{
    struct store *store = open_narrow(2);
    struct operation *blocked = write_that_stalls(store);
    struct operation *waiting[] = { an_upsert(&scene.arena, "a"), an_upsert(&scene.arena, "b") };
    struct operation *refused = an_upsert(&scene.arena, "c");
    struct entity_key key = a_key("p", "stalled");
    struct operation *read = a_get(&scene.arena, "Things", &key, 1);

    submit(store, waiting[0]);
    submit(store, waiting[1]);
    submit(store, refused);
    ck_assert(is_answered(refused));
    ck_assert_reason(refused, "SERVER_BUSY");
    ck_assert_int_eq(refused->status, STATUS_LIMIT);
    run(store, read); /* another lane */
    ck_assert_reason(read, "OK");
    ck_assert(!is_answered(waiting[0]) && !is_answered(blocked));

    test_sql(holder, OPEN_GATE);
    await(blocked);
    await(waiting[0]);
    await(waiting[1]);
    ck_assert_reason(blocked, "OK");
    ck_assert_reason(waiting[0], "OK");
    ck_assert_reason(waiting[1], "OK");
    store_close(store);
}
END_TEST

/* A write of this row, with a text of so many bytes, and of the rows "row1" and so on. */
static struct operation *a_write_of(const char *row, int count, size_t bytes)
{
    struct write writes[LIMIT_BATCH_OPERATIONS + 1];
    char *text = arena_alloc(&scene.arena, bytes + 1);

    memset(text, 'x', bytes);
    text[bytes] = 0;
    for (int i = 0; i < count; i++)
        writes[i] =
            a_write(WRITE_INSERT_OR_REPLACE, "p", i == 0 ? row : arena_format(&scene.arena, "row%d", i).data,
                some_texts(&scene.arena, "Text", i == 0 ? text : "", NULL));
    return a_group(&scene.arena, "Things", writes, (size_t)count);
}

static struct operation *a_bulk_write(const char *row)
{
    struct operation *bulk = a_write_of(row, LIMIT_BATCH_OPERATIONS + 1, 0);

    bulk->in.write.atomic = bulk->in.write.is_group = false;
    return bulk;
}

static struct operation *a_group_of_many(const char *row)
{
    return a_write_of(row, 17, 0);
}

static struct operation *a_write_of_many_bytes(const char *row)
{
    return a_write_of(row, 1, 65536);
}

static struct operation *(*const large_writes[])(
    const char *row) = { a_bulk_write, a_group_of_many, a_write_of_many_bytes };

START_TEST(no_write_waits_for_a_large_one)
{
    struct store *store = open_narrow(2);
    struct operation *upsert = an_upsert(&scene.arena, "a"),
                     *large = let_stall(store, large_writes[_i]("stalled"));

    run(store, upsert);
    ck_assert_reason(upsert, "OK");
    ck_assert(!is_answered(large));
    test_sql(holder, OPEN_GATE);
    await(large);
    ck_assert_reason(large, "OK");
    store_close(store);
}
END_TEST

START_TEST(what_comes_too_late_is_not_begun)
{
    struct operation *late = an_upsert(&scene.arena, "late"),
                     *cancelled = an_upsert(&scene.arena, "cancelled");

    late->deadline_us = clock_monotonic_us() - 1;
    atomic_store(&cancelled->cancelled, true);
    /* One after the other, because they share an arena and a lane has two threads. */
    submit(scene.store, late);
    await(late);
    submit(scene.store, cancelled);
    await(cancelled);

    ck_assert_reason(late, "OPERATION_TIMED_OUT");
    ck_assert_reason(cancelled, "CANCELLED");
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from entities"), 0);
}
END_TEST

/* ---- batches ---- */

enum { CROWD = 200, TRIES = 200, OFTEN = 20 };

static struct batches {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int largest, answered;
} batches = { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static int size_of(const struct operation *batch)
{
    int size = 0;

    for (; batch; batch = batch->next)
        size++;
    return size;
}

static void note_size(struct session *session, struct operation *batch, void *context)
{
    int size = size_of(batch);

    (void)session, (void)context;
    pthread_mutex_lock(&batches.mutex);
    batches.largest = size > batches.largest ? size : batches.largest;
    pthread_mutex_unlock(&batches.mutex);
}

static void note_answer(struct operation *operation)
{
    (void)operation;
    pthread_mutex_lock(&batches.mutex);
    batches.answered++;
    pthread_cond_broadcast(&batches.changed);
    pthread_mutex_unlock(&batches.mutex);
}

static void await_answers(int count)
{
    pthread_mutex_lock(&batches.mutex);
    while (batches.answered < count)
        pthread_cond_wait(&batches.changed, &batches.mutex);
    pthread_mutex_unlock(&batches.mutex);
}

/* Give the lane operations that write nothing: by lane_collect, or one after another by lane_submit. */
static void add_some(struct lane *lane, struct operation *operations, int count,
    bool (*add)(struct lane *lane, struct operation *operation))
{
    for (int i = 0; i < count; i++) {
        operations[i] = (struct operation){ .done = note_answer, .deadline_us = INT64_MAX };
        ck_assert(add(lane, &operations[i]));
    }
}

/* The size of the largest batch when many callers submit at once. */
static int largest_of(struct lane *lane, struct operation crowd[CROWD])
{
    batches.largest = batches.answered = 0;
    add_some(lane, crowd, CROWD, lane_collect);
    lane_run(lane, -1);
    await_answers(CROWD);
    return batches.largest;
}

/* If one thread took all operations, the other threads and the server would have nothing to do until its commit. */
START_TEST(threads_that_have_nothing_to_do_share_what_waits)
{
    struct lane *lane = lane_start(&(struct lane_options){ .name = "test",
        .postgres = scene.conninfo,
        .threads = 2,
        .max_waiting = CROWD,
        .batch_operations = CROWD,
        .batch_bytes = 1 << 20,
        .run = note_size });
    static struct operation crowd[CROWD];
    int shared = 0;

    /*
     * Not in every round, because a thread that connects, or is about to wait, is not waiting. Without sharing it
     * would happen rarely, by chance. The test's time limit is the deadline.
     */
    while (shared < OFTEN) {
        shared = 0;
        for (int tries = 0; tries < TRIES; tries++)
            shared += largest_of(lane, crowd) == CROWD / 2;
    }
    lane_stop(lane);
    lane_free(lane);
}
END_TEST

/* ---- batches beside each other ---- */

enum { LARGE = 100, FOREVER_US = 1000000000 /* longer than a test may take */ };

/* Batches stand still until the gate opens; the sizes of those that have begun. */
static struct {
    bool is_open;
    int begun, sizes[2 * LARGE];
} gate;

static void run_at_gate(struct session *session, struct operation *batch, void *context)
{
    (void)session, (void)context;
    pthread_mutex_lock(&batches.mutex);
    gate.sizes[gate.begun++] = size_of(batch);
    pthread_cond_broadcast(&batches.changed);
    while (!gate.is_open)
        pthread_cond_wait(&batches.changed, &batches.mutex);
    pthread_mutex_unlock(&batches.mutex);
}

static void wait_until_begun(int count)
{
    pthread_mutex_lock(&batches.mutex);
    while (gate.begun < count)
        pthread_cond_wait(&batches.changed, &batches.mutex);
    pthread_mutex_unlock(&batches.mutex);
}

static void open_gate(int answers)
{
    pthread_mutex_lock(&batches.mutex);
    gate.is_open = true;
    pthread_cond_broadcast(&batches.changed);
    pthread_mutex_unlock(&batches.mutex);
    await_answers(answers);
}

static void close_gate(void)
{
    batches.answered = 0;
    gate.is_open = false;
    gate.begun = 0;
}

static struct lane *lane_that_gathers(int64_t gather_us)
{
    close_gate();
    return lane_start(&(struct lane_options){ .name = "test",
        .postgres = scene.conninfo,
        .threads = 2,
        .max_waiting = CROWD,
        .batch_operations = CROWD,
        .batch_bytes = 1 << 20,
        .gather_us = gather_us,
        .run = run_at_gate });
}

/*
 * A batch of `count` operations that stands at the gate; of fewer, if a thread that was about to wait begins before all
 * have come.
 */
static void begin_batch(struct lane *lane, struct operation *operations, int count, int begun)
{
    add_some(lane, operations, count, lane_collect);
    lane_wake(lane);
    wait_until_begun(begun);
}

/* Again and again: without gathering, the thread that has nothing to do mostly begins with some of them. */
START_TEST(operations_gather_beside_a_batch_as_large)
{
    struct lane *lane = lane_that_gathers(FOREVER_US);
    static struct operation first[LARGE], others[LARGE];

    for (int tries = 0; tries < TRIES; tries++) {
        close_gate();
        begin_batch(lane, first, LARGE, 1);
        add_some(lane, others, LARGE, lane_submit);
        wait_until_begun(2);
        ck_assert_int_ge(gate.sizes[1], gate.sizes[0]);
        open_gate(2 * LARGE);
    }
    lane_stop(lane);
    lane_free(lane);
}
END_TEST

START_TEST(callers_that_are_alone_do_not_wait_for_each_other)
{
    struct lane *lane = lane_that_gathers(FOREVER_US);
    static struct operation first, other;

    begin_batch(lane, &first, 1, 1);
    begin_batch(lane, &other, 1, 2);

    open_gate(2);
    lane_stop(lane);
    lane_free(lane);
}
END_TEST

START_TEST(what_gathers_begins_in_time_beside_a_batch_that_stands_still)
{
    struct lane *lane = lane_that_gathers(1000);
    static struct operation first[LARGE], other;

    begin_batch(lane, first, LARGE, 1);
    begin_batch(lane, &other, 1, 2);

    open_gate(LARGE + 1);
    lane_stop(lane);
    lane_free(lane);
}
END_TEST

/* The test's time limit is the deadline. */
START_TEST(what_gathers_is_taken_when_the_batch_ends)
{
    struct lane *lane = lane_that_gathers(FOREVER_US);
    static struct operation first[LARGE], others[LARGE - 1];

    begin_batch(lane, first, LARGE, 1);
    add_some(lane, others, LARGE - 1, lane_submit);
    open_gate(2 * LARGE - 1);
    lane_stop(lane);
    lane_free(lane);
}
END_TEST

/* ---- while more operations are collected ---- */

enum { ENOUGH = 24, TOO_FEW = ENOUGH - 1 };

/* Again and again: a thread that has not yet begun to wait for work needs no waking. */
START_TEST(an_idle_lane_begins_with_what_was_collected_so_far)
{
    struct lane *lane = lane_that_gathers(0);
    static struct operation collected[ENOUGH];

    for (int tries = 0; tries < TRIES; tries++) {
        close_gate();
        add_some(lane, collected, ENOUGH, lane_collect);
        lane_begin(lane);
        wait_until_begun(1);
        open_gate(ENOUGH);
    }
    lane_stop(lane);
    lane_free(lane);
}
END_TEST

/*
 * Whether the first batch has all: those that were collected before lane_begin and one that came after it. It has not
 * if a thread was about to wait when they came.
 */
static bool all_are_one_batch(struct lane *lane, struct operation collected[TOO_FEW + 1])
{
    bool all;

    close_gate();
    add_some(lane, collected, TOO_FEW, lane_collect);
    lane_begin(lane);
    sched_yield(); /* a thread that was woken would begin here */
    add_some(lane, collected + TOO_FEW, 1, lane_collect);
    lane_wake(lane);
    wait_until_begun(1);
    all = gate.sizes[0] == TOO_FEW + 1;
    open_gate(TOO_FEW + 1);
    return all;
}

START_TEST(an_idle_lane_waits_for_enough_to_begin_with)
{
    struct lane *lane = lane_that_gathers(0);
    static struct operation collected[TOO_FEW + 1];
    int whole = 0;

    for (int tries = 0; tries < TRIES; tries++)
        whole += all_are_one_batch(lane, collected);
    ck_assert_int_gt(whole, TRIES / 2);
    lane_stop(lane);
    lane_free(lane);
}
END_TEST

/* ---- what operations cost ---- */

enum { CALLS = 60, DEAR = 31, PER_BATCH = 2, MAX_BEFORE = 8 };

static struct {
    pthread_mutex_t gate;         /* held until all wait */
    int dear, cheap, dear_before; /* answered; dear ones before the last cheap one */
} answered_calls = { .gate = PTHREAD_MUTEX_INITIALIZER };

static void run_behind_gate(struct session *session, struct operation *batch, void *context)
{
    (void)session, (void)batch, (void)context;
    pthread_mutex_lock(&answered_calls.gate);
    pthread_mutex_unlock(&answered_calls.gate);
}

static bool is_dear(const struct operation *operation)
{
    return str_equal(operation->account, STR_LITERAL("wide"));
}

static int64_t cost_of_call(const struct operation *operation)
{
    return is_dear(operation) ? DEAR : 0;
}

static void note_call(struct operation *operation)
{
    if (is_dear(operation))
        answered_calls.dear++;
    else if (++answered_calls.cheap == CALLS)
        answered_calls.dear_before = answered_calls.dear;
    note_answer(operation);
}

/* Let two accounts' calls wait, so many of one in a row, before the lane begins; stop it when all are answered. */
static void run_calls(struct lane *lane, int in_a_row)
{
    static struct operation calls[2 * CALLS];

    batches.largest = batches.answered = answered_calls.dear = answered_calls.cheap = 0;
    pthread_mutex_lock(&answered_calls.gate);
    for (int i = 0; i < 2 * CALLS; i++) {
        calls[i] = (struct operation){ .done = note_call,
            .deadline_us = INT64_MAX,
            .account = i / in_a_row % 2 == 0 ? STR_LITERAL("wide") : STR_LITERAL("narrow") };
        ck_assert(lane_collect(lane, &calls[i]));
    }
    lane_run(lane, -1);
    pthread_mutex_unlock(&answered_calls.gate);
    await_answers(2 * CALLS);
    lane_stop(lane);
    lane_free(lane);
}

/*
 * An operation that reads much is a turn of its account; the other account has one call for each entity of its turns.
 */
START_TEST(what_reads_much_waits_for_what_reads_little)
{
    struct lane *lane = lane_start(&(struct lane_options){ .name = "test",
        .postgres = scene.conninfo,
        .threads = 1,
        .max_waiting = 2 * CALLS,
        .batch_operations = PER_BATCH,
        .batch_bytes = 1 << 20,
        .run = run_behind_gate,
        .more_cost = cost_of_call });

    run_calls(lane, CALLS);
    ck_assert_int_le(answered_calls.dear_before, MAX_BEFORE);
}
END_TEST

/* ---- operations of one account that run at once ---- */

static void run_dear_at_gate(struct session *session, struct operation *batch, void *context)
{
    if (is_dear(batch))
        run_at_gate(session, batch, context);
}

static void *open_gate_later(void *context)
{
    await_answers(*(int *)context);
    open_gate(4);
    return NULL;
}

/* Four operations of one account, two of which stand at the gate. */
static struct lane *busy_lane(struct operation calls[4])
{
    struct lane *lane;

    close_gate();
    lane = lane_start(&(struct lane_options){ .name = "test",
        .postgres = scene.conninfo,
        .threads = 3,
        .max_running = 2,
        .max_waiting = 10,
        .batch_operations = 1,
        .batch_bytes = 1 << 20,
        .run = run_dear_at_gate });
    for (int i = 0; i < 4; i++) {
        calls[i] = (struct operation){ .done = note_answer,
            .deadline_us = INT64_MAX,
            .account = STR_LITERAL("wide"),
            .arena = &scene.arena };
        ck_assert(lane_submit(lane, &calls[i]));
    }
    wait_until_begun(2);
    return lane;
}

START_TEST(an_account_leaves_a_thread_to_the_others)
{
    static struct operation calls[4], other;
    struct lane *lane = busy_lane(calls);

    other =
        (struct operation){ .done = note_answer, .deadline_us = INT64_MAX, .account = STR_LITERAL("narrow") };
    for (int i = 1; i <= 20; i++) {
        ck_assert(lane_submit(lane, &other));
        await_answers(i);
    }
    ck_assert_int_eq(gate.begun, 2);
    open_gate(24);
    lane_stop(lane);
    lane_free(lane);
    ck_assert_int_eq(gate.begun, 4);
}
END_TEST

static void check_account(struct session *session, struct operation *batch, void *context)
{
    run_behind_gate(session, batch, context);
    for (const struct operation *operation = batch; operation; operation = operation->next)
        ck_assert(is_dear(operation) == is_dear(batch));
    note_size(session, batch, context);
}

/* So it counts for that account. */
START_TEST(a_batch_of_a_lane_with_that_bound_is_of_one_account)
{
    struct lane *lane = lane_start(&(struct lane_options){ .name = "test",
        .postgres = scene.conninfo,
        .threads = 1,
        .max_running = 1,
        .max_waiting = 2 * CALLS,
        .batch_operations = 2 * CALLS,
        .batch_bytes = 1 << 20,
        .run = check_account });

    run_calls(lane, 1);
    ck_assert_int_gt(batches.largest, 1);
}
END_TEST

START_TEST(stopping_answers_what_waits_for_its_account)
{
    static struct operation calls[4];
    struct lane *lane = busy_lane(calls);
    pthread_t opener;
    int refused = 2;

    ck_assert_int_eq(pthread_create(&opener, NULL, open_gate_later, &refused), 0);
    lane_stop(lane);
    lane_free(lane);
    pthread_join(opener, NULL);
    ck_assert_int_eq(batches.answered, 4);
    ck_assert_int_eq(gate.begun, 2);
}
END_TEST

/* ---- lanes that pass operations on ---- */

static bool pass_to(void *context, struct operation *operation)
{
    return lane_submit(context, operation);
}

/* As store_close does it: a lane's threads may have a batch while another lane is stopped. */
START_TEST(a_lane_that_has_stopped_refuses_what_another_passes_on)
{
    struct lane_options options = { .name = "test",
        .postgres = scene.conninfo,
        .threads = 1,
        .max_waiting = 10,
        .batch_operations = 1,
        .batch_bytes = 1 << 20,
        .run = run_behind_gate };
    struct operation passed = { .done = note_answer, .deadline_us = INT64_MAX };
    struct lane *to = lane_start(&options), *from;

    options.pass_on = pass_to;
    options.context = to;
    from = lane_start(&options);
    batches.answered = 0;
    pthread_mutex_lock(&answered_calls.gate);
    ck_assert(lane_submit(from, &passed));
    lane_stop(to);
    pthread_mutex_unlock(&answered_calls.gate);
    await_answers(1);
    lane_stop(from);
    lane_free(to);
    lane_free(from);
}
END_TEST

START_TEST(no_operation_waits_for_an_event_once_the_waiters_have_stopped)
{
    struct operation *wait = an_operation(&scene.arena, OPERATION_JOB_WAIT, "");
    struct waiters waiters;

    wait->in.jobs.operation_id = STR_LITERAL("purge-1");
    waiters_init(&waiters, 10);
    waiters_stop(&waiters);
    ck_assert(!waiters_add(&waiters, wait));
    waiters_cleanup(&waiters);
}
END_TEST

/* ---- how long a lane waits for a lock ---- */

/* Note how long each transaction that inserts into one of these tables would wait for a lock. */
static void note_lock_waits(void)
{
    test_sql(scene.sql,
        "create table lock_waits (made_in text, lasts text); "
        "create function note_wait() returns trigger language plpgsql as $$ begin "
        "insert into lock_waits values (tg_table_name, current_setting('lock_timeout')); return new; end $$; "
        "create trigger note_wait before insert on entities for each row when (new.row_key = 'noted') "
        "execute function note_wait(); "
        "create trigger note_wait before insert on blob_contents for each row execute function note_wait()");
}

static void check_lock_wait(const char *table, const char *lasts)
{
    ck_assert_int_eq(
        test_number(
            scene.sql, "select count(*) from lock_waits where made_in = '%s' and lasts = '%s'", table, lasts),
        1);
    ck_assert_int_eq(test_number(scene.sql, "select count(*) from lock_waits"), 1);
    test_sql(scene.sql, "delete from lock_waits");
}

static struct operation *a_blob_that_begins(void)
{
    struct operation *begin = an_operation(&scene.arena, OPERATION_BLOB_BEGIN, "");

    begin->in.blob.name = STR_LITERAL("blob");
    begin->in.blob.content = (struct blob_id){ { 1 } };
    begin->in.blob.writer = 1;
    return begin;
}

static void run_well(struct store *store, struct operation *operation)
{
    run(store, operation);
    ck_assert_reason(operation, "OK");
}

/* A write that meets a lock is set aside, and the others of its lane go on. */
START_TEST(a_lane_that_writes_waits_for_a_lock_for_a_moment)
{
    struct store *store = open_narrow(10);

    note_lock_waits();
    run_well(store, an_upsert(&scene.arena, "noted"));
    check_lock_wait("entities", "250ms");
    run_well(store, a_bulk_write("noted"));
    check_lock_wait("entities", "250ms");
    store_close(store);
}
END_TEST

/* It has the session of bulk writes, and nothing else tries it again. */
START_TEST(what_cannot_be_set_aside_waits_for_a_lock_for_a_second)
{
    struct store *store = open_narrow(10);

    note_lock_waits();
    for (int i = 0; i < 2; i++) {
        run_well(store, a_blob_that_begins());
        check_lock_wait("blob_contents", "1s");
        run_well(store, a_bulk_write("noted"));
        check_lock_wait("entities", "250ms");
    }
    store_close(store);
}
END_TEST

/* ---- giving way ---- */

enum { BATCH_US = 30000 };

static struct background {
    struct lane *foreground;
    struct operation *asked; /* of the foreground, by the first batch */
    atomic_bool foreground_runs, may_end;
    int64_t begun_us[2];
    int batches;
} background;

static void wait_until(const atomic_bool *reached)
{
    while (!atomic_load(reached))
        usleep(100);
}

/* A batch of BATCH_US; the foreground is at work during the first. */
static void run_long(struct session *session, struct operation *batch, void *context)
{
    (void)session, (void)batch, (void)context;
    background.begun_us[background.batches] = clock_monotonic_us();
    if (background.batches++ == 0) {
        ck_assert(lane_submit(background.foreground, background.asked));
        wait_until(&background.foreground_runs);
    }
    usleep(BATCH_US);
    atomic_store(&background.may_end, true);
}

/* The foreground is at work until the first batch has ended. */
static void run_beside(struct session *session, struct operation *batch, void *context)
{
    (void)session, (void)batch, (void)context;
    atomic_store(&background.foreground_runs, true);
    wait_until(&background.may_end);
}

static struct lane *start_plain(const char *name,
    void (*run_them)(struct session *, struct operation *, void *), struct lane *const *gives_way_to)
{
    return lane_start(&(struct lane_options){ .name = name,
        .postgres = scene.conninfo,
        .threads = 1,
        .max_waiting = 10,
        .batch_operations = 1,
        .batch_bytes = 1 << 20,
        .run = run_them,
        .gives_way_to = gives_way_to,
        .gives_way_count = gives_way_to ? 1 : 0 });
}

START_TEST(a_lane_that_gives_way_rests_four_times_as_long_as_others_have_worked)
{
    struct lane *foreground = start_plain("foreground", run_beside, NULL);
    struct lane *lane = start_plain("background", run_long, &foreground);
    struct operation asked = { .done = note_answer, .deadline_us = INT64_MAX }, chunks[2];

    background.foreground = foreground;
    background.asked = &asked;
    batches.answered = 0;
    for (int i = 0; i < 2; i++) {
        chunks[i] = asked;
        ck_assert(lane_submit(lane, &chunks[i]));
    }
    await_answers(3); /* the chunks, and what the foreground was asked */
    lane_stop(lane);
    lane_free(lane);
    lane_stop(foreground);
    lane_free(foreground);
    ck_assert_int_ge(background.begun_us[1] - background.begun_us[0], 5 * BATCH_US);
}
END_TEST

/* Opens the gate as soon as the store has answered the waiting operations. */
static void *release_after(void *waiting)
{
    await(waiting);
    test_sql(holder, OPEN_GATE);
    return NULL;
}

START_TEST(closing_answers_what_waits_and_finishes_what_runs)
{
    struct store *store = open_narrow(10);
    struct operation *blocked = write_that_stalls(store);
    struct operation *waiting = an_upsert(&scene.arena, "a");
    pthread_t helper;

    submit(store, waiting);
    ck_assert_int_eq(pthread_create(&helper, NULL, release_after, waiting), 0);
    store_close(store);
    pthread_join(helper, NULL);

    ck_assert_reason(waiting, "SERVER_DRAINING");
    ck_assert_int_eq(waiting->status, STATUS_UNAVAILABLE);
    ck_assert(is_answered(blocked));
    ck_assert_reason(blocked, "OK");
    ck_assert_ptr_null(scene_read(&scene, "p", "a"));
}
END_TEST

START_TEST(closing_answers_the_calls_that_wait_for_an_end)
{
    struct store *store = open_narrow(10);
    struct operation *wait = an_operation(&scene.arena, OPERATION_JOB_WAIT, "");

    test_sql(scene.sql,
        "insert into operations (operation_id, account, kind, target, state, started, table_id) "
        "values ('purge-1', 'acme', 'delete_table', 'Things', 1, 1, 1)");
    wait->in.jobs.operation_id = STR_LITERAL("purge-1");
    submit(store, wait);
    while (!store_is_available(store))
        usleep(1000);
    ck_assert(!is_answered(wait));
    store_close(store);

    ck_assert(is_answered(wait));
    ck_assert_reason(wait, "SERVER_DRAINING");
}
END_TEST

/*
 * Whether a call that waits for the operation is answered before its deadline; on a busy machine the answer may be
 * late, or the deadline may pass before the operation was read once.
 */
static bool is_answered_in_time(void)
{
    struct operation *wait = an_operation(&scene.arena, OPERATION_JOB_WAIT, "");

    wait->in.jobs.operation_id = STR_LITERAL("purge-1");
    wait->deadline_us = clock_monotonic_us() + 500000;
    run(scene.store, wait);
    if (wait->status == STATUS_TIMEOUT)
        return false;
    ck_assert_reason(wait, "OK");
    ck_assert_int_eq(wait->out.jobs.jobs[0].state, JOB_RUNNING);
    return clock_monotonic_us() < wait->deadline_us;
}

START_TEST(a_call_that_waits_gets_the_state_at_its_deadline_or_the_end)
{
    struct operation *second = an_operation(&scene.arena, OPERATION_JOB_WAIT, "");
    bool is_in_time = false;

    test_sql(scene.sql,
        "insert into operations (operation_id, account, kind, target, state, started, table_id) "
        "values ('purge-1', 'acme', 'delete_table', 'Things', 1, 1, 1)");
    for (int i = 0; i < 20 && !is_in_time; i++)
        is_in_time = is_answered_in_time();
    ck_assert(is_in_time);

    second->in.jobs.operation_id = STR_LITERAL("purge-1");
    submit(scene.store, second);
    test_sql(scene.sql, "update operations set state = 3");
    await(second);
    ck_assert_reason(second, "OK");
    ck_assert_int_eq(second->out.jobs.jobs[0].state, JOB_DONE);
}
END_TEST

/* ---- availability ---- */

struct news {
    pthread_mutex_t mutex;
    int count;
    bool available;
    char why[512];
};

static void note_change(void *context, bool available, const char *why)
{
    struct news *news = context;

    pthread_mutex_lock(&news->mutex);
    news->count++;
    news->available = available;
    snprintf(news->why, sizeof(news->why), "%s", why);
    pthread_mutex_unlock(&news->mutex);
}

/* Wait for the n-th change of availability, and return it. */
static bool await_change(struct news *news, int n)
{
    int64_t until_us = clock_monotonic_us() + 60000000;

    for (;;) {
        bool available;
        int count;

        pthread_mutex_lock(&news->mutex);
        count = news->count;
        available = news->available;
        pthread_mutex_unlock(&news->mutex);
        if (count >= n) {
            ck_assert_int_eq(count, n);
            return available;
        }
        ck_assert_msg(clock_monotonic_us() < until_us, "change %d does not come", n);
        usleep(2000);
    }
}

struct looks {
    atomic_int count;
    atomic_llong began_us; /* of the last call */
};

static void take_snapshot(void *context, struct access_snapshot *snapshot)
{
    (void)context;
    access_snapshot_free(snapshot);
}

static void note_look(void *context, int64_t began_us)
{
    struct looks *looks = context;

    atomic_fetch_add(&looks->count, 1);
    atomic_store(&looks->began_us, began_us);
}

/* Call store_look_at_access many times, until the n-th look has been taken. */
static void ask_for_looks(struct store *store, struct looks *looks, int n)
{
    for (int i = 0; i < n; i++) {
        int64_t asked_us = clock_monotonic_us();

        do {
            store_look_at_access(store);
            usleep(500);
            ck_assert_msg(clock_monotonic_us() - asked_us < 60000000, "look %d does not come", i);
        } while (atomic_load(&looks->began_us) < asked_us);
    }
}

START_TEST(concurrent_requests_share_few_reads_of_the_accounts)
{
    struct looks looks = { 0 };
    struct store_options options = plain_options(scene.conninfo);
    int64_t begun_us = clock_monotonic_us(), ms;
    struct store *store;

    options.access_confirmed = take_snapshot;
    options.access_looked = note_look;
    options.context = &looks;
    store = store_open(&options);
    ask_for_looks(store, &looks, 12);
    ms = (clock_monotonic_us() - begun_us) / 1000;
    ck_assert_int_ge(atomic_load(&looks.count), 12);
    ck_assert_msg(atomic_load(&looks.count) <= ms / 100 + ms / 500 + 2, "%d looks in %lld ms",
        atomic_load(&looks.count), (long long)ms);
    store_close(store);
}
END_TEST

START_TEST(what_callers_wait_for_does_not_keep_accounts_from_being_looked_at)
{
    struct looks looks = { 0 };
    struct store_options options = plain_options(scene.conninfo);
    struct operation *wait = an_operation(&scene.arena, OPERATION_JOB_WAIT, "");
    struct store *store;

    options.access_confirmed = take_snapshot;
    options.access_looked = note_look;
    options.context = &looks;
    store = store_open(&options);
    test_sql(holder, "begin; lock table operations in access exclusive mode");
    wait->in.jobs.operation_id = STR_LITERAL("purge-1");
    submit(store, wait);
    test_await(scene.sql, "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname "
                          "= current_database() and application_name = 'tavolad waits'");
    ask_for_looks(store, &looks, 3);
    ck_assert(store_is_available(store));
    test_sql(holder, "commit");
    store_close(store);
}
END_TEST

/* The monitor connects at once, and is started after the threads of the lanes. */
START_TEST(a_lane_that_connects_late_has_no_session_before_its_first_batch)
{
    struct store_options options = plain_options(scene.conninfo);
    struct store *store = store_open(&options);

    test_await(scene.sql, "select (count(*) >= 2)::int from pg_stat_activity "
                          "where datname = current_database() and application_name = 'tavolad monitor'");
    ck_assert_int_eq(
        test_number(scene.sql, "select count(*) from pg_stat_activity where datname = current_database() "
                               "and application_name in ('tavolad page', 'tavolad bulk', 'tavolad short')"),
        0);
    store_close(store);
}
END_TEST

START_TEST(every_change_of_availability_is_reported_once)
{
    struct tcp_proxy *proxy = tcp_proxy_start(scene.conninfo);
    struct store_options options = plain_options(tcp_proxy_conninfo(proxy));
    struct news news = { .mutex = PTHREAD_MUTEX_INITIALIZER };
    struct operation *early, *between, *after = an_upsert(&scene.arena, "c");
    uint8_t key[32], again[32];
    struct error err = { 0 };
    struct store *store;

    tcp_proxy_down(proxy, true);
    options.availability_changed = note_change;
    options.context = &news;
    store = store_open(&options);
    ck_assert(!await_change(&news, 1));
    ck_assert(!store_is_available(store));
    ck_assert_int_eq(store_token_key(store, key, &err), STATUS_UNAVAILABLE);
    early = an_upsert(&scene.arena, "a");
    run(store, early);
    ck_assert_reason(early, "STORE_UNAVAILABLE");

    tcp_proxy_down(proxy, false);
    ck_assert(await_change(&news, 2));
    ck_assert(store_is_available(store));
    ck_assert_int_eq(store_token_key(store, key, &err), STATUS_OK);

    tcp_proxy_down(proxy, true);
    ck_assert(!await_change(&news, 3));
    between = an_upsert(&scene.arena, "b");
    run(store, between);
    ck_assert_reason(between, "STORE_UNAVAILABLE");

    tcp_proxy_down(proxy, false);
    ck_assert(await_change(&news, 4));
    run(store, after);
    ck_assert_reason(after, "OK");
    ck_assert_int_eq(store_token_key(store, again, &err), STATUS_OK);
    ck_assert_int_eq(memcmp(key, again, sizeof(key)), 0);
    store_close(store);
    ck_assert_int_eq(news.count, 4);
    tcp_proxy_stop(proxy);
}
END_TEST

START_TEST(another_schema_is_reported_with_its_cure)
{
    struct store_options options = plain_options(scene.conninfo);
    struct news news = { .mutex = PTHREAD_MUTEX_INITIALIZER };
    struct operation *write = an_upsert(&scene.arena, "a");
    struct store *store;

    test_sql(scene.sql, "delete from schema_migrations where version > 1");
    options.availability_changed = note_change;
    options.context = &news;
    store = store_open(&options);
    ck_assert(!await_change(&news, 1));
    run(store, write);
    store_close(store);

    ck_assert_reason(write, "STORE_UNAVAILABLE");
    ck_assert_msg(strstr(news.why, "tavola migrate"), "%s", news.why);
    ck_assert_msg(strstr(write->error->message, "tavola migrate"), "%s", write->error->message);
}
END_TEST

/* ---- the database dies under load: invariant I1 ---- */

enum { CALLERS = 3, MAX_WRITES = 20000, BEFORE_CRASH = 200, AFTER_CRASH = 200 };

struct caller {
    pthread_t thread;
    int number;
    atomic_int writes, acknowledged;
    int odd; /* answers that must never be given */
    char odd_reason[1024];
    bool *stood; /* per write: whether it was acknowledged */
    atomic_bool *stop;
};

/* One write. A refusal says that nothing happened, so the same write is tried again. */
static enum status write_until_decided(struct caller *caller, int i)
{
    enum status status;

    do {
        struct arena arena;
        struct operation *write;

        arena_init(&arena);
        write = a_write_operation(&arena, "Things",
            a_write(i % 2 ? WRITE_INSERT : WRITE_INSERT_OR_REPLACE, "p",
                arena_format(&arena, "%d.%d", caller->number, i).data,
                some_texts(&arena, "Text", "x", NULL)));
        run(scene.store, write);
        status = write->status;
        if (status == STATUS_UNAVAILABLE)
            usleep(1000);
        else if (status != STATUS_OK && status != STATUS_MAYBE_DONE && caller->odd++ == 0)
            snprintf(caller->odd_reason, sizeof(caller->odd_reason), "%s: %s", reason_of(write),
                write->error->message);
        arena_cleanup(&arena);
    } while (status == STATUS_UNAVAILABLE && !atomic_load(caller->stop));
    return status;
}

static void *keep_writing(void *argument)
{
    struct caller *caller = argument;

    for (int i = 0; i < MAX_WRITES && !atomic_load(caller->stop); i++) {
        caller->stood[i] = write_until_decided(caller, i) == STATUS_OK;
        if (caller->stood[i])
            atomic_fetch_add(&caller->acknowledged, 1);
        atomic_fetch_add(&caller->writes, 1);
    }
    return NULL;
}

static void await_acknowledged(struct caller *caller, int more)
{
    int wanted = atomic_load(&caller->acknowledged) + more;
    int64_t until_us = clock_monotonic_us() + 60000000;

    while (atomic_load(&caller->acknowledged) < wanted) {
        ck_assert_msg(clock_monotonic_us() < until_us, "no writes any more");
        usleep(2000);
    }
}

/* If one backend dies, PostgreSQL ends all others and recovers from its log. */
static bool crash(void)
{
    PGconn *victim = test_connect(scene.conninfo);
    bool dead = kill(PQbackendPID(victim), SIGKILL) == 0;

    PQfinish(victim);
    return dead;
}

START_TEST(acknowledged_writes_survive_a_crash_of_the_database)
{
    static struct caller callers[CALLERS];
    atomic_bool stop = false;

    for (int i = 0; i < CALLERS; i++) {
        callers[i] =
            (struct caller){ .number = i, .stop = &stop, .stood = xcalloc(MAX_WRITES, sizeof(bool)) };
        ck_assert_int_eq(pthread_create(&callers[i].thread, NULL, keep_writing, &callers[i]), 0);
    }
    await_acknowledged(&callers[0], BEFORE_CRASH);
    ck_assert_msg(crash(), "the server of this test must run on this machine, as this user");
    await_acknowledged(&callers[0], AFTER_CRASH);
    atomic_store(&stop, true);
    for (int i = 0; i < CALLERS; i++)
        pthread_join(callers[i].thread, NULL);

    PQfinish(scene.sql);
    scene.sql = test_connect(scene.conninfo);
    for (int i = 0; i < CALLERS; i++) {
        ck_assert_msg(callers[i].odd == 0, "%d answers like %s", callers[i].odd, callers[i].odd_reason);
        for (int k = 0; k < atomic_load(&callers[i].writes); k++)
            if (callers[i].stood[k])
                ck_assert_msg(
                    test_number(scene.sql,
                        "select count(*) from entities where row_key = '%d.%d' and version = 1 and not dead",
                        i, k) == 1,
                    "write %d.%d was acknowledged and is lost", i, k);
        free(callers[i].stood);
    }
}
END_TEST

Suite *test_lane_suite(void)
{
    const char *given = getenv("TAVOLA_POSTGRES");
    Suite *suite = suite_create("lanes");
    TCase *tc = tcase_create("lanes");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_full_lane_refuses_at_once);
    tcase_add_loop_test(tc, no_write_waits_for_a_large_one, 0, ARRAY_LEN(large_writes));
    tcase_add_test(tc, what_comes_too_late_is_not_begun);
    tcase_add_test(tc, threads_that_have_nothing_to_do_share_what_waits);
    tcase_add_test(tc, operations_gather_beside_a_batch_as_large);
    tcase_add_test(tc, an_idle_lane_begins_with_what_was_collected_so_far);
    tcase_add_test(tc, an_idle_lane_waits_for_enough_to_begin_with);
    tcase_add_test(tc, callers_that_are_alone_do_not_wait_for_each_other);
    tcase_add_test(tc, what_gathers_begins_in_time_beside_a_batch_that_stands_still);
    tcase_add_test(tc, what_gathers_is_taken_when_the_batch_ends);
    tcase_add_test(tc, what_reads_much_waits_for_what_reads_little);
    tcase_add_test(tc, an_account_leaves_a_thread_to_the_others);
    tcase_add_test(tc, a_batch_of_a_lane_with_that_bound_is_of_one_account);
    tcase_add_test(tc, stopping_answers_what_waits_for_its_account);
    tcase_add_test(tc, a_lane_that_gives_way_rests_four_times_as_long_as_others_have_worked);
    tcase_add_test(tc, a_lane_that_has_stopped_refuses_what_another_passes_on);
    tcase_add_test(tc, no_operation_waits_for_an_event_once_the_waiters_have_stopped);
    tcase_add_test(tc, a_lane_that_writes_waits_for_a_lock_for_a_moment);
    tcase_add_test(tc, what_cannot_be_set_aside_waits_for_a_lock_for_a_second);
    tcase_add_test(tc, closing_answers_what_waits_and_finishes_what_runs);
    tcase_add_test(tc, closing_answers_the_calls_that_wait_for_an_end);
    tcase_add_test(tc, a_call_that_waits_gets_the_state_at_its_deadline_or_the_end);
    tcase_add_test(tc, concurrent_requests_share_few_reads_of_the_accounts);
    tcase_add_test(tc, what_callers_wait_for_does_not_keep_accounts_from_being_looked_at);
    tcase_add_test(tc, a_lane_that_connects_late_has_no_session_before_its_first_batch);
    tcase_add_test(tc, every_change_of_availability_is_reported_once);
    tcase_add_test(tc, another_schema_is_reported_with_its_cure);
    if (!given || !*given) /* a server that was not started here must not be crashed */
        tcase_add_test(tc, acknowledged_writes_survive_a_crash_of_the_database);
    suite_add_tcase(suite, tc);
    return suite;
}
