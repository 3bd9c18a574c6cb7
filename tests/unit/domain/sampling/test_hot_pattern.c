/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/sampling/hot_pattern.c, and that a sketch that was stored and read again says the same
 * (sample_form.c).
 */
#include "domain/sampling/hot_pattern.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/macros.h"
#include "domain/sampling/sample_form.h"

enum { CAPACITY = 16, ACCESSES = 400, TEXT = 64 };

static struct key_counter counters[CAPACITY];
static struct key_sketch sketch;
static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
    key_sketch_init(&sketch, counters, CAPACITY);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* Access i of a load, as partition, row and whether it is a write. */
typedef bool load_fn(int i, int random, char partition[TEXT], char row[TEXT]);

static bool append(int i, int random, char partition[TEXT], char row[TEXT])
{
    (void)random;
    snprintf(partition, TEXT, "orders");
    snprintf(row, TEXT, "%06d", i);
    return true;
}

static bool prepend(int i, int random, char partition[TEXT], char row[TEXT])
{
    (void)random;
    snprintf(partition, TEXT, "orders");
    snprintf(row, TEXT, "%06d", ACCESSES - i);
    return true;
}

static bool time_bucket(int i, int random, char partition[TEXT], char row[TEXT])
{
    snprintf(partition, TEXT, "2026-11-22T%02d", i < 100 ? 14 : 15);
    snprintf(row, TEXT, "%06d", random % 100000);
    return true;
}

static bool single_key(int i, int random, char partition[TEXT], char row[TEXT])
{
    snprintf(partition, TEXT, "p%d", i % 4 ? 0 : random % 40);
    snprintf(row, TEXT, "%s", i % 8 ? "counter" : "other");
    return i % 2;
}

static bool few_values(int i, int random, char partition[TEXT], char row[TEXT])
{
    (void)i;
    snprintf(partition, TEXT, "%s", random % 3 ? "open" : "closed");
    snprintf(row, TEXT, "%06d", random % 100000);
    return true;
}

static bool log_data(int i, int random, char partition[TEXT], char row[TEXT])
{
    (void)random;
    snprintf(partition, TEXT, "web-3");
    snprintf(row, TEXT, "2026-11-22T15:%02d:%02d.%d", i / 60 % 60, i % 60, i);
    return true;
}

static bool well_spread(int i, int random, char partition[TEXT], char row[TEXT])
{
    (void)i;
    snprintf(partition, TEXT, "p%d", random % 1000);
    snprintf(row, TEXT, "%06d", random / 7 % 100000);
    return random % 2;
}

/* Two partitions have most, and a thousand the rest: the stored sketch has the two alone. */
static bool two_of_many(int i, int random, char partition[TEXT], char row[TEXT])
{
    snprintf(partition, TEXT, "p%d", i % 3 == 0 ? random % 1000 + 2 : i % 2);
    snprintf(row, TEXT, "%06d", random / 7 % 100000);
    return true;
}

static bool new_days(int i, int random, char partition[TEXT], char row[TEXT])
{
    (void)random;
    snprintf(partition, TEXT, "%04d-01-%02d", 2000 + i / 28, 1 + i % 28);
    snprintf(row, TEXT, "a");
    return true;
}

static bool new_numbers(int i, int random, char partition[TEXT], char row[TEXT])
{
    (void)random;
    snprintf(partition, TEXT, "%06d", i);
    snprintf(row, TEXT, "a");
    return true;
}

static const struct pattern_case {
    const char *name;
    load_fn *load;
    enum hot_pattern hottest; /* of the partition with most accesses */
    enum hot_pattern order;   /* of the partitions as a whole */
    const char *example;      /* of the first of the two that is something */
} pattern_cases[] = {
    { "append", append, HOT_APPEND, HOT_NONE, "orders_07" },
    { "prepend", prepend, HOT_PREPEND, HOT_NONE, "orders_07" },
    { "time bucket", time_bucket, HOT_TIME_BUCKET, HOT_NONE, "07_2026-11-22T15" },
    { "single key", single_key, HOT_SINGLE_KEY, HOT_NONE, "p0_07" },
    { "few values", few_values, HOT_LOW_CARDINALITY, HOT_NONE, "open_07" },
    { "log data", log_data, HOT_LOG_DATA, HOT_NONE, "web-3_07" },
    { "well spread", well_spread, HOT_NONE, HOT_NONE, "" },
    { "two of many", two_of_many, HOT_NONE, HOT_NONE, "" },
    { "a partition per day", new_days, HOT_NONE, HOT_TIME_BUCKET, "07_2014-01-08" },
    { "a partition per number", new_numbers, HOT_NONE, HOT_APPEND, "000399_07" },
};

static void apply(load_fn *load, int accesses)
{
    unsigned seed = 7;

    for (int i = 0; i < accesses; i++) {
        char partition[TEXT], row[TEXT];
        bool is_write = load(i, rand_r(&seed), partition, row);

        key_sketch_note(&sketch, &(struct key_access){ .partition = str_of(partition),
                                     .row = str_of(row),
                                     .has_row = true,
                                     .is_write = is_write,
                                     .weight = 8 });
    }
}

static const struct key_counter *hottest(const struct key_sketch *in)
{
    const struct key_counter *best = &in->keys[0];

    for (size_t i = 1; i < in->count; i++)
        if (in->keys[i].reads + in->keys[i].writes > best->reads + best->writes)
            best = &in->keys[i];
    return best;
}

static void check_patterns(const struct pattern_case *c, const struct key_sketch *in)
{
    struct hot_subject partition = { in, hottest(in), false }, order = { in, NULL, false };
    bool has_order = c->hottest == HOT_NONE;
    enum hot_pattern seen = hot_pattern_of(&partition);
    struct str example;

    ck_assert_msg(seen == c->hottest, "%s looks like %s", c->name, hot_pattern_name(seen));
    ck_assert_msg(hot_pattern_of(&order) == c->order, "%s", c->name);
    example = hot_pattern_example(has_order ? c->order : c->hottest, has_order ? &order : &partition, &arena);
    ck_assert_msg(str_equal(example, str_of(c->example)), "%s: %.*s", c->name, STR_ARG(example));
}

START_TEST(each_pattern_is_named)
{
    const struct pattern_case *c = &pattern_cases[_i];
    struct key_sketch again;

    apply(c->load, ACCESSES);

    check_patterns(c, &sketch);
    ck_assert(sample_form_read(sample_form_write(&sketch, &arena), &arena, &again));
    ck_assert_int_eq(again.writes + again.reads, sketch.writes + sketch.reads);
    if (again.count > 0) /* else all counters are left out */
        check_patterns(c, &again);
}
END_TEST

START_TEST(few_samples_say_nothing)
{
    apply(append, 49);
    ck_assert_int_eq(hot_pattern_of(&(struct hot_subject){ &sketch, &sketch.keys[0], false }), HOT_NONE);
    apply(append, 2);
    ck_assert_int_eq(hot_pattern_of(&(struct hot_subject){ &sketch, &sketch.keys[0], false }), HOT_APPEND);
}
END_TEST

START_TEST(a_small_partition_is_not_hot)
{
    apply(append, 60);
    for (int i = 0; i < 6000; i++)
        key_sketch_note(&sketch, &(struct key_access){ .partition = STR_LITERAL("other"), .weight = 8 });

    ck_assert_int_eq(hot_pattern_of(&(struct hot_subject){ &sketch, &sketch.keys[0], false }), HOT_NONE);
}
END_TEST

START_TEST(every_pattern_has_words)
{
    for (int i = HOT_NONE + 1; i < HOT_PATTERNS; i++) {
        ck_assert_uint_gt(strlen(hot_pattern_name((enum hot_pattern)i)), 0);
        ck_assert_uint_gt(strlen(hot_pattern_remedy((enum hot_pattern)i, false)), 0);
        ck_assert_uint_gt(strlen(hot_pattern_remedy((enum hot_pattern)i, true)), 0);
    }
}
END_TEST

static const struct str broken_forms[] = {
    STR_LITERAL(""),
    STR_LITERAL("\x08"),
    STR_LITERAL("\x08\x02\x2a\x05\x0a\x03xyz"), /* a key that is longer than it says */
    STR_LITERAL("\xff\xff\xff"),
};

START_TEST(bytes_of_no_sketch_are_refused)
{
    struct key_sketch again;

    ck_assert(!sample_form_read(broken_forms[_i], &arena, &again));
}
END_TEST

Suite *test_hot_pattern_suite(void)
{
    Suite *suite = suite_create("hot_pattern");
    TCase *tc = tcase_create("hot_pattern");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, each_pattern_is_named, 0, ARRAY_LEN(pattern_cases));
    tcase_add_test(tc, few_samples_say_nothing);
    tcase_add_test(tc, a_small_partition_is_not_hot);
    tcase_add_test(tc, every_pattern_has_words);
    tcase_add_loop_test(tc, bytes_of_no_sketch_are_refused, 0, ARRAY_LEN(broken_forms));
    suite_add_tcase(suite, tc);
    return suite;
}
