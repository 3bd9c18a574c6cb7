/* SPDX-License-Identifier: Apache-2.0 */
/* test_consistency.c - the intents that a write leaves open: as bytes, and those of transactions. */
#include "domain/intents/consistency.h"

#include <check.h>

#include "domain/limits.h"

static struct arena arena;
static int16_t some_buckets[] = { 0, 7, BUCKETS - 1 };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct intent_block a_block(uint32_t first)
{
    return (struct intent_block){ .us = INT64_MAX,
        .origin = UINT32_MAX,
        .first = first,
        .last = UINT32_MAX,
        .buckets = some_buckets,
        .bucket_count = ARRAY_LEN(some_buckets) };
}

START_TEST(what_is_open_comes_back)
{
    struct intent_block blocks[] = { a_block(0), a_block(UINT32_MAX) };
    const struct consistency open = { 3, 42, STR_LITERAL("acme"), STR_LITERAL("t-1"), blocks, 2 };
    struct str bytes = consistency_encode(&open, &arena);
    struct consistency back;
    char id[INTENT_ID_TEXT_BYTES];

    ck_assert(consistency_decode(bytes, &arena, &back));
    ck_assert_int_eq(back.epoch, 3);
    ck_assert_int_eq(back.table_id, 42);
    ck_assert(str_equal(back.account, open.account) && str_equal(back.id, open.id));
    ck_assert_uint_eq(back.block_count, 2);
    ck_assert_uint_eq(back.blocks[1].bucket_count, 3);
    ck_assert_int_eq(back.blocks[1].buckets[2], BUCKETS - 1);
    ck_assert(str_equal(consistency_encode(&back, &arena), bytes));
    ck_assert_str_eq(
        intent_id_format(intent_block_id(&back.blocks[0], 1), id), "7fffffffffffffffffffffff00000001");
}
END_TEST

START_TEST(other_bytes_are_refused)
{
    struct intent_block block = a_block(9);
    const struct consistency open = { 0, 1, STR_EMPTY, STR_EMPTY, &block, 1 };
    struct str bytes = consistency_encode(&open, &arena);
    struct consistency back;

    for (size_t len = 0; len < bytes.len; len++)
        ck_assert(!consistency_decode(str_of_bytes(bytes.data, len), &arena, &back));
    ck_assert(!consistency_decode(arena_format(&arena, "%.*sx", STR_ARG(bytes)), &arena, &back));
    ck_assert(!consistency_decode(STR_LITERAL("\x00\x00\x00\x00\x01\x01\x01\x01\x00\x00"), &arena, &back));
    ck_assert(
        !consistency_decode(STR_LITERAL("\x00\x00\x00\x00\x01\x01\x01\x01\x00\x02\x05\x00"), &arena, &back));
    ck_assert(
        !consistency_decode(STR_LITERAL("\x00\x00\x00\x00\x01\x01\x01\x01\x00\x01\x80\x08"), &arena, &back));
    ck_assert(!consistency_decode(STR_LITERAL("\x00\x00\x00\x00\xFF\xFF\xFF\xFF\x0F"), &arena, &back));
}
END_TEST

/* A timeline of three attempts, of which the second failed. */
static struct transaction a_transaction(enum transaction_state state)
{
    struct attempt *timeline = ARENA_ARRAY(&arena, struct attempt, 3);
    struct intent_block blocks[] = { a_block(1), a_block(2) };

    timeline[1].status = STATUS_INTERNAL;
    for (int i = 0; i < 2; i++) {
        const struct consistency open = { 5 - i, 0, STR_EMPTY, STR_EMPTY, &blocks[i], 1 };

        timeline[2 * i].left_open = consistency_encode(&open, &arena);
    }
    return (struct transaction){ .id = STR_LITERAL("t-1"),
        .account = STR_LITERAL("acme"),
        .state = state,
        .timeline = timeline,
        .attempt_count = 3 };
}

START_TEST(a_transaction_stands_for_itself_until_it_has_ended)
{
    static const enum transaction_state states[] = { TRANSACTION_PENDING, TRANSACTION_RUNNING,
        TRANSACTION_DEAD };
    const struct transaction transaction = a_transaction(states[_i]);
    struct consistency open;

    ck_assert(consistency_of_transaction(&transaction, &arena, &open));
    ck_assert(str_equal(open.id, transaction.id) && str_equal(open.account, transaction.account));
    ck_assert_uint_eq(open.block_count, 0);
}
END_TEST

START_TEST(then_for_what_its_steps_have_left_open)
{
    struct transaction transaction = a_transaction(TRANSACTION_FAILED);
    struct consistency open;

    ck_assert(consistency_of_transaction(&transaction, &arena, &open));
    ck_assert_uint_eq(open.id.len, 0);
    ck_assert_uint_eq(open.block_count, 2);
    ck_assert_uint_eq(open.blocks[0].first, 1);
    ck_assert_uint_eq(open.blocks[1].first, 2);
    ck_assert_int_eq(open.epoch, 4);
    transaction.attempt_count = 0;
    ck_assert(!consistency_of_transaction(&transaction, &arena, &open));
}
END_TEST

static const struct {
    int64_t epochs[2], tables[2];
    int64_t epoch, table_id;
} sums[] = {
    { { 3, 3 }, { 42, 42 }, 3, 42 },
    { { 3, 4 }, { 42, 42 }, 3, 42 },
    { { 4, 3 }, { 42, 43 }, 3, 0 },
};

START_TEST(a_sum_names_what_both_have_left_open)
{
    struct intent_block first[] = { a_block(1), a_block(2) }, second[] = { a_block(3) };
    const struct consistency a = { sums[_i].epochs[0], sums[_i].tables[0], STR_EMPTY, STR_EMPTY, first, 2 };
    const struct consistency b = { sums[_i].epochs[1], sums[_i].tables[1], STR_EMPTY, STR_EMPTY, second, 1 };
    struct consistency sum = consistency_add(&a, &b, &arena), back;

    ck_assert_int_eq(sum.epoch, sums[_i].epoch);
    ck_assert_int_eq(sum.table_id, sums[_i].table_id);
    ck_assert(consistency_decode(consistency_encode(&sum, &arena), &arena, &back));
    ck_assert_uint_eq(back.block_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_eq(back.blocks[i].first, i + 1);
}
END_TEST

Suite *test_consistency_suite(void)
{
    Suite *suite = suite_create("consistency");
    TCase *tc = tcase_create("consistency");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_is_open_comes_back);
    tcase_add_test(tc, other_bytes_are_refused);
    tcase_add_loop_test(tc, a_transaction_stands_for_itself_until_it_has_ended, 0, 3);
    tcase_add_test(tc, then_for_what_its_steps_have_left_open);
    tcase_add_loop_test(tc, a_sum_names_what_both_have_left_open, 0, ARRAY_LEN(sums));
    suite_add_tcase(suite, tc);
    return suite;
}
