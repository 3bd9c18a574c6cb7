/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/sampling/key_sketch.c: against exact counts of random accesses, and the traces that patterns are told
 * by.
 */
#include "domain/sampling/key_sketch.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 400, ACCESSES = 20000, CAPACITY = 16 };

static struct key_counter counters[CAPACITY];
static struct key_sketch sketch;

static void setup(void)
{
    key_sketch_init(&sketch, counters, CAPACITY);
}

static void note(const char *partition, const char *row, bool is_write)
{
    key_sketch_note(&sketch, &(struct key_access){ .partition = str_of(partition),
                                 .row = str_of(row ? row : ""),
                                 .has_row = row != NULL,
                                 .is_write = is_write,
                                 .weight = 1 });
}

static const struct key_counter *find(const struct key_sketch *in, const char *partition)
{
    for (size_t i = 0; i < in->count; i++)
        if (str_equal(sampled_text_str(&in->keys[i].partition), str_of(partition)))
            return &in->keys[i];
    return NULL;
}

/* Low numbers are frequent: roughly Zipf's law. */
static int random_key(unsigned *seed)
{
    double u = (rand_r(seed) % 100000 + 1) / 100000.0;

    return (int)(1 / u) % KEYS;
}

static void check_against(const int *exact, int total)
{
    for (int key = 0; key < KEYS; key++) {
        const struct key_counter *counter;
        char name[16];

        snprintf(name, sizeof(name), "k%d", key);
        counter = find(&sketch, name);
        ck_assert_msg(counter || exact[key] * CAPACITY <= total, "%s with %d of %d has no counter", name,
            exact[key], total);
        if (!counter)
            continue;
        ck_assert_int_le(counter->reads, exact[key]);
        ck_assert_int_ge(counter->reads + counter->error, exact[key]);
    }
}

START_TEST(it_knows_every_frequent_key_and_is_never_too_large)
{
    unsigned seed = (unsigned)_i + 1;
    int exact[KEYS] = { 0 };
    char name[16];

    for (int i = 1; i <= ACCESSES; i++) {
        int key = random_key(&seed);

        snprintf(name, sizeof(name), "k%d", key);
        exact[key]++;
        note(name, NULL, false);
        if (i % 2500 == 0)
            check_against(exact, i);
    }
    ck_assert_int_eq(sketch.reads, ACCESSES);
    ck_assert_uint_eq(sketch.count, CAPACITY);
}
END_TEST

START_TEST(a_weight_counts_as_many)
{
    key_sketch_note(
        &sketch, &(struct key_access){ .partition = STR_LITERAL("p"), .is_write = true, .weight = 64 });
    note("p", NULL, false);

    ck_assert_int_eq(sketch.keys[0].writes, 64);
    ck_assert_int_eq(sketch.keys[0].reads, 1);
    ck_assert_int_eq(sketch.keys[0].samples, 2);
}
END_TEST

START_TEST(the_order_of_rows_is_counted_for_writes)
{
    note("p", "b", true);
    note("p", "c", true);
    note("p", "a", false);
    note("p", "d", true);
    note("p", "d", true);
    note("p", "a", true);

    ck_assert_int_eq(sketch.keys[0].ascending, 2);
    ck_assert_int_eq(sketch.keys[0].descending, 1);
    ck_assert_int_eq(sketch.ascending + sketch.descending, 0);
}
END_TEST

START_TEST(the_row_with_more_than_half_wins_the_vote)
{
    for (int i = 0; i < 100; i++) {
        char row[16];

        snprintf(row, sizeof(row), "r%d", i);
        note("p", i % 3 ? "hot" : row, false);
    }

    ck_assert(str_equal(sampled_text_str(&sketch.keys[0].top_row), STR_LITERAL("hot")));
    ck_assert_int_eq(sketch.keys[0].top_votes, 66 - 34);
}
END_TEST

START_TEST(a_long_key_is_cut_between_characters_and_stays_itself)
{
    char one[400], other[400];
    struct sampled_text cut;

    memset(one, 'x', sizeof(one));
    memcpy(one + SAMPLED_TEXT_BYTES - 1, "\xC3\xB6", 2);
    memcpy(other, one, sizeof(one));
    other[399] = 'y';
    cut = sampled_text_of(str_of_bytes(one, sizeof(one)));
    ck_assert_uint_eq(cut.kept, SAMPLED_TEXT_BYTES - 1);
    ck_assert_uint_eq(cut.length, sizeof(one));

    key_sketch_note(
        &sketch, &(struct key_access){ .partition = str_of_bytes(one, sizeof(one)), .weight = 1 });
    key_sketch_note(
        &sketch, &(struct key_access){ .partition = str_of_bytes(other, sizeof(other)), .weight = 1 });

    ck_assert_uint_eq(sketch.count, 2);
}
END_TEST

START_TEST(sketches_of_servers_add_up)
{
    struct key_counter more[CAPACITY];
    struct key_sketch sum;

    key_sketch_init(&sum, more, CAPACITY);
    note("a", "r", true);
    note("b", "r", false);
    key_sketch_merge(&sum, &sketch);
    note("b", "s", true);
    key_sketch_merge(&sum, &sketch);

    ck_assert_int_eq(sum.writes, 1 + 2);
    ck_assert_int_eq(sum.reads, 1 + 1);
    ck_assert_int_eq(find(&sum, "b")->reads, 2);
    ck_assert_int_eq(find(&sum, "b")->writes, 1);
    ck_assert(str_equal(sampled_text_str(&sum.last_partition), STR_LITERAL("b")));
}
END_TEST

Suite *test_key_sketch_suite(void)
{
    Suite *suite = suite_create("key_sketch");
    TCase *tc = tcase_create("key_sketch");

    tcase_add_checked_fixture(tc, setup, NULL);
    tcase_add_loop_test(tc, it_knows_every_frequent_key_and_is_never_too_large, 0, 5);
    tcase_add_test(tc, a_weight_counts_as_many);
    tcase_add_test(tc, the_order_of_rows_is_counted_for_writes);
    tcase_add_test(tc, the_row_with_more_than_half_wins_the_vote);
    tcase_add_test(tc, a_long_key_is_cut_between_characters_and_stays_itself);
    tcase_add_test(tc, sketches_of_servers_add_up);
    suite_add_tcase(suite, tc);
    return suite;
}
