/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pauses of the thread that moves chunks. In the place of the database's work stands a function that ends as the
 * test says.
 */
#include "workers/chunk_mover.h"

#include <check.h>

#include "store/job_work.h"
#include "workers/worker.h"

enum { LONGEST_MS = 60000, FAILURES = 12 };

static struct ending {
    enum status status;
    bool is_store_down;
} ending;

static struct worker_config config;
static struct worker_shared shared;
static struct worker_ctx ctx;
static struct chunk_mover mover;

static int64_t now_us(void)
{
    return 1;
}

enum status job_work_move_chunks(struct worker *store, bool (*is_stopping)(const void *who), const void *who,
    struct chunk_turn *turn, struct error *err)
{
    (void)store, (void)is_stopping, (void)who;
    *turn = (struct chunk_turn){ .worked = true, .is_store_down = ending.is_store_down };
    return ending.status == STATUS_OK ? STATUS_OK : error_set(err, ending.status, "it failed");
}

static void setup(void)
{
    worker_shared_init(&shared, &config);
    atomic_store(&shared.held[0], true);
    ctx = (struct worker_ctx){ .shared = &shared, .random = 1, .now_us = now_us };
    mover = (struct chunk_mover){ .ctx = &ctx };
}

static void teardown(void)
{
    worker_shared_cleanup(&shared);
}

/* The pause after this many turns that have ended so. */
static int64_t pause_after(int turns, struct ending how)
{
    int64_t pause_ms = 0;

    ending = how;
    while (turns-- > 0)
        pause_ms = chunk_mover_turn(&mover);
    return pause_ms;
}

START_TEST(the_pause_grows_while_a_store_is_down)
{
    const struct ending down = { STATUS_UNAVAILABLE, true }, worked = { STATUS_OK, false };
    int64_t first_ms = pause_after(1, down);

    ck_assert_int_le(first_ms, 2000);
    ck_assert_int_gt(pause_after(3, down), 2 * first_ms);
    ck_assert_int_ge(pause_after(FAILURES, down), LONGEST_MS / 2);
    ck_assert_int_le(pause_after(1, down), LONGEST_MS);

    pause_after(1, worked);
    ck_assert_int_le(pause_after(1, down), 2000);
}
END_TEST

START_TEST(the_pause_does_not_grow_while_the_database_fails)
{
    const struct ending failed = { STATUS_UNAVAILABLE, false };

    ck_assert_int_eq(pause_after(1, failed), pause_after(FAILURES, failed));
}
END_TEST

Suite *test_chunk_mover_suite(void)
{
    Suite *suite = suite_create("chunk_mover");
    TCase *tc = tcase_create("chunk_mover");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_pause_grows_while_a_store_is_down);
    tcase_add_test(tc, the_pause_does_not_grow_while_the_database_fails);
    suite_add_tcase(suite, tc);
    return suite;
}
