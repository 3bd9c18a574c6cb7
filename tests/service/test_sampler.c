/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/sampling: as what operations are counted, how many of them are samples, and that no account takes
 * the room of another.
 */
#include "service/sampling/sampler.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/macros.h"
#include "domain/sampling/sample_form.h"
#include "service/sampling/accesses.h"
#include "tests/support/catalogues.h"

enum { MANY = 5000, SECOND_US = 1000000 };

static struct sampler sampler;
static struct arena arena;
static struct table tables[MANY];
static struct table *sorted[MANY];
static char names[MANY][16];
static size_t table_count;
static struct catalogue *catalogue;

/* A table of an account. */
static struct table *add_table(const char *account, const char *name)
{
    size_t i = table_count++;

    snprintf(names[i], sizeof(names[i]), "%s", name);
    tables[i] = (struct table){ .table_id = (int64_t)i + 1,
        .account = str_of(account),
        .name = str_of(names[i]),
        .folded = str_of(names[i]) };
    sorted[i] = &tables[i];
    put_tables(catalogue, tables[i].table_id, &sorted[i], 1);
    return sorted[i];
}

static void setup(void)
{
    arena_init(&arena);
    sampler_init(&sampler);
    table_count = 0;
    catalogue = catalogue_new();
}

static void teardown(void)
{
    sampler_cleanup(&sampler);
    catalogue_release(catalogue);
    arena_cleanup(&arena);
}

static struct operation get_of(const char *account, const char *table, struct entity_key *keys, size_t count)
{
    return (struct operation){ .kind = OPERATION_GET,
        .account = str_of(account),
        .table = str_of(table),
        .arena = &arena,
        .in.get = { .keys = keys, .count = count } };
}

static void get(const char *account, const char *table, int times)
{
    struct entity_key key = { STR_LITERAL("p"), STR_LITERAL("r") };
    struct operation operation = get_of(account, table, &key, 1);

    for (int i = 0; i < times; i++)
        sampler_note(&sampler, catalogue, &operation, 1);
}

/* The report on a table over a span; NULL: the table is not in it. */
static const struct key_sketch *reported(
    const struct operation_samples *taken, int64_t table_id, enum sample_span span)
{
    struct key_sketch *sketch = ARENA_NEW(&arena, struct key_sketch);

    for (size_t i = 0; i < taken->report_count; i++)
        if (taken->reports[i].table_id == table_id && taken->reports[i].span == span &&
            sample_form_read(taken->reports[i].content, &arena, sketch))
            return sketch;
    return NULL;
}

static struct operation_samples take_at(int64_t now_us)
{
    struct operation_samples taken = { .reports =
                                           ARENA_ARRAY(&arena, struct sample_report, MAX_SAMPLER_REPORTS) };

    sampler_take(&sampler, now_us, &arena, &taken);
    return taken;
}

START_TEST(an_account_with_many_tables_leaves_room_for_others)
{
    struct operation_samples taken;
    int of_crowd = 0;

    for (int i = 0; i < MANY - 1; i++) {
        char name[16];

        snprintf(name, sizeof(name), "t%04d", i);
        add_table("crowd", name);
    }
    add_table("small", "mine");
    get("small", "mine", 3);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < MANY - 1; i++)
            get("crowd", names[i], 1);
    get("crowd", "t4000", 50);
    taken = take_at(clock_monotonic_us());

    ck_assert_int_eq(reported(&taken, MANY, SAMPLE_MINUTE)->reads, 3);
    ck_assert_int_ge(reported(&taken, 4001, SAMPLE_MINUTE)->reads, 50);
    for (size_t i = 0; i < taken.report_count; i++)
        of_crowd += taken.reports[i].table_id != MANY;
    ck_assert_int_le(of_crowd, 2 * MAX_SAMPLED_TABLES / 2); /* each with two spans */
}
END_TEST

START_TEST(the_least_accessed_gives_way)
{
    struct operation_samples taken;
    char account[16], name[16];

    for (int i = 0; i < MAX_SAMPLED_TABLES + 1; i++) {
        snprintf(account, sizeof(account), "a%02d", i);
        snprintf(name, sizeof(name), "t%02d", i);
        add_table(arena_format(&arena, "%s", account).data, name);
        get(arena_format(&arena, "%s", account).data, name, i == 7 ? 1 : 5);
    }
    taken = take_at(clock_monotonic_us());

    ck_assert_ptr_null(reported(&taken, 8, SAMPLE_MINUTE));
    ck_assert_ptr_nonnull(reported(&taken, MAX_SAMPLED_TABLES + 1, SAMPLE_MINUTE));
}
END_TEST

START_TEST(a_period_ends_after_its_time)
{
    int64_t now_us = clock_monotonic_us();
    const struct table *table = add_table("a", "t");
    struct operation_samples taken;
    int64_t first;

    get("a", "t", 5);
    taken = take_at(now_us + 30 * (int64_t)SECOND_US);
    first = taken.reports[0].period;
    get("a", "t", 5);
    taken = take_at(now_us + 61 * (int64_t)SECOND_US);
    ck_assert_int_eq(taken.reports[0].period, first);
    ck_assert_int_eq(reported(&taken, table->table_id, SAMPLE_MINUTE)->reads, 10);
    get("a", "t", 1);
    taken = take_at(now_us + 62 * (int64_t)SECOND_US);

    ck_assert_int_eq(taken.reports[0].period, first + 1);
    ck_assert_int_eq(reported(&taken, table->table_id, SAMPLE_MINUTE)->reads, 1);
    ck_assert_int_eq(reported(&taken, table->table_id, SAMPLE_HOUR)->reads, 11);
}
END_TEST

START_TEST(of_many_operations_few_are_samples_and_stand_for_all)
{
    int64_t now_us = clock_monotonic_us();
    int samples = 0;
    int64_t stand_for = 0;

    add_table("a", "t");
    ck_assert_int_eq(sampler_weight(&sampler, now_us), 1);
    get("a", "t", 60000);
    sampler_tick(&sampler, now_us + SECOND_US);
    for (int i = 0; i < 60000; i++) {
        int64_t weight = sampler_weight(&sampler, now_us + i * 17);

        samples += weight > 0;
        stand_for += weight;
    }
    ck_assert_int_gt(samples, 500);
    ck_assert_int_lt(samples, 1500);
    ck_assert_int_gt(stand_for, 45000);
    ck_assert_int_lt(stand_for, 75000);

    for (int i = 2; i < 20; i++) /* calm again */
        sampler_tick(&sampler, now_us + i * (int64_t)SECOND_US);
    ck_assert_int_eq(sampler_weight(&sampler, now_us), 1);
}
END_TEST

START_TEST(it_is_stored_every_ten_seconds)
{
    int64_t now_us = clock_monotonic_us();

    ck_assert(!sampler_tick(&sampler, now_us + 9 * (int64_t)SECOND_US));
    ck_assert(sampler_tick(&sampler, now_us + 11 * (int64_t)SECOND_US));
    ck_assert(!sampler_tick(&sampler, now_us + 12 * (int64_t)SECOND_US));
}
END_TEST

START_TEST(of_many_keys_some_stand_for_all)
{
    static struct entity_key keys[1000];
    struct operation operation = get_of("a", "t", keys, ARRAY_LEN(keys));
    struct sampled_access *accesses;
    size_t count;
    int64_t weight = 0;

    add_table("a", "t");
    accesses_of(&operation, catalogue, 2, &accesses, &count);
    for (size_t i = 0; i < count; i++)
        weight += accesses[i].key.weight;

    ck_assert_uint_le(count, MAX_SAMPLED_KEYS);
    ck_assert_int_ge(weight, 2000);
    ck_assert_int_le(weight, 2 * 1000 + 2 * 1000 / MAX_SAMPLED_KEYS);
}
END_TEST

static const struct write_case {
    enum write_kind kind;
    size_t accesses; /* of the table, and of the index where the write says where its entry lies */
} write_cases[] = {
    { WRITE_INSERT, 2 },
    { WRITE_REPLACE, 2 },
    { WRITE_INSERT_OR_REPLACE, 2 },
    { WRITE_MERGE, 1 },
    { WRITE_INSERT_OR_MERGE, 1 },
    { WRITE_DELETE, 1 },
};

START_TEST(a_write_is_one_of_its_table_and_of_its_indexes)
{
    static struct key_part parts[] = { { .text = { "PartitionKey", 12 } } };
    struct write write = { .kind = write_cases[_i].kind, .key = { STR_LITERAL("p"), STR_LITERAL("r") } };
    struct table *source = add_table("a", "s");
    struct table *entries = add_table("a", "t");
    struct index index = { .index_id = entries->table_id,
        .account = STR_LITERAL("a"),
        .name = STR_LITERAL("t"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { parts, 1 },
        .projection = PROJECT_KEYS_ONLY };
    struct index *indexes[] = { &index };
    struct operation operation = { .kind = OPERATION_WRITE,
        .account = STR_LITERAL("a"),
        .table = STR_LITERAL("s"),
        .arena = &arena,
        .in.write = { .writes = &write, .count = 1 } };
    struct sampled_access *accesses;
    size_t count;

    source->indexes = indexes;
    source->index_count = 1;
    accesses_of(&operation, catalogue, 1, &accesses, &count);

    ck_assert_uint_eq(count, write_cases[_i].accesses);
    ck_assert_ptr_eq(accesses[count - 1].table, count == 2 ? entries : source);
    ck_assert(accesses[0].key.is_write);
}
END_TEST

START_TEST(what_has_no_table_is_not_counted)
{
    struct entity_key key = { STR_LITERAL("p"), STR_LITERAL("r") };
    struct operation operation = get_of("a", "gone", &key, 1);
    struct sampled_access *accesses;
    size_t count = 1;

    accesses_of(&operation, catalogue, 1, &accesses, &count);

    ck_assert_uint_eq(count, 0);
}
END_TEST

Suite *test_sampler_suite(void)
{
    Suite *suite = suite_create("sampler");
    TCase *tc = tcase_create("sampler");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, an_account_with_many_tables_leaves_room_for_others);
    tcase_add_test(tc, the_least_accessed_gives_way);
    tcase_add_test(tc, a_period_ends_after_its_time);
    tcase_add_test(tc, of_many_operations_few_are_samples_and_stand_for_all);
    tcase_add_test(tc, it_is_stored_every_ten_seconds);
    tcase_add_test(tc, of_many_keys_some_stand_for_all);
    tcase_add_loop_test(tc, a_write_is_one_of_its_table_and_of_its_indexes, 0, ARRAY_LEN(write_cases));
    tcase_add_test(tc, what_has_no_table_is_not_counted);
    suite_add_tcase(suite, tc);
    return suite;
}
