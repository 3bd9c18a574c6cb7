/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/indexes/reconcile_plan.h"

#include <check.h>

static struct arena arena;
static const struct entity_key source_key = { { "p", 1 }, { "r", 1 } };
static struct key_part by_city[] = { { .text = { "City", 4 } } };
static struct key_part by_number[] = { { .text = { "City", 4 }, .width = 3 } }; /* not for text */
static struct index first, second;
static struct index *indexes[] = { &first, &second };
static struct table table;

static void setup(void)
{
    arena_init(&arena);
    first = (struct index){ .index_id = 70,
        .source_table_id = 5,
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .state = INDEX_READY,
        .partition_key = { by_city, 1 },
        .projection = PROJECT_ALL };
    second = first;
    second.index_id = 71;
    second.projection = PROJECT_KEYS_ONLY;
    table = (struct table){ .table_id = 5, .indexes = indexes, .index_count = 2 };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static void add(struct property_builder *builder, const char *name, const char *text)
{
    struct value value = { .type = PROPERTY_STRING, .bytes = str_of(text) };

    if (text)
        property_build(builder, str_of(name), &value);
}

static struct row_state a_source(int64_t version, const char *city, const char *note)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, &arena);
    add(&builder, "City", city);
    add(&builder, "Note", note);
    return (
        struct row_state){ .live = true, .version = version, .ts = version, .properties = { buf_str(&out) } };
}

static uint32_t unowned;

static struct reconcile_plan plan(struct row_state source, struct manifest stored)
{
    struct reconcile_plan out;

    reconcile_plan(
        &(struct reconcile_case){
            .table = &table, .key = &source_key, .source = &source, .stored = &stored, .unowned = unowned },
        &arena, &out);
    return out;
}

static const struct manifest nothing = { 0 };

START_TEST(a_new_entity_gets_an_entry_in_every_index)
{
    struct reconcile_plan got = plan(a_source(1, "Bonn", "x"), nothing);

    ck_assert_uint_eq(got.upsert_count, 2);
    ck_assert_int_eq(got.upserts[0].index_id, 70);
    ck_assert_int_eq(got.upserts[1].index_id, 71);
    ck_assert(str_equal(got.upserts[0].key.partition, STR_LITERAL("Bonn")));
    ck_assert_uint_eq(got.delete_count, 0);
    ck_assert_uint_eq(got.manifest.count, 2);
    ck_assert_uint_eq(got.manifest.items[0].digest, got.upserts[0].digest);
}
END_TEST

START_TEST(what_stands_there_already_is_left_alone)
{
    struct manifest stored = plan(a_source(1, "Bonn", "x"), nothing).manifest;

    stored.items[0].ctid = row_ctid_of(STR_LITERAL("ctid-1"));
    stored.items[1].ctid = row_ctid_of(STR_LITERAL("ctid-2"));

    struct reconcile_plan same = plan(a_source(3, "Bonn", "x"), stored);
    struct reconcile_plan other_note = plan(a_source(3, "Bonn", "y"), stored);

    ck_assert_uint_eq(same.upsert_count, 0);
    ck_assert_uint_eq(same.delete_count, 0);
    ck_assert_uint_eq(same.manifest.count, 2);
    ck_assert_mem_eq(&same.manifest.items[1].ctid, "ctid-2", ROW_CTID_BYTES);
    ck_assert_uint_eq(other_note.upsert_count, 1); /* the second index holds keys only */
    ck_assert_int_eq(other_note.upserts[0].index_id, 70);
    ck_assert(!row_ctid_is_known(&other_note.manifest.items[0].ctid)); /* not before it is written again */
    ck_assert_mem_eq(&other_note.manifest.items[1].ctid, "ctid-2", ROW_CTID_BYTES);
    ck_assert_uint_eq(other_note.delete_count, 0);
}
END_TEST

START_TEST(a_changed_key_moves_the_entry)
{
    struct manifest stored = plan(a_source(1, "Bonn", "x"), nothing).manifest;

    struct reconcile_plan got = plan(a_source(2, "Rome", "x"), stored);

    ck_assert_uint_eq(got.upsert_count, 2);
    ck_assert(str_equal(got.upserts[0].key.partition, STR_LITERAL("Rome")));
    ck_assert_uint_eq(got.delete_count, 2);
    ck_assert(str_equal(got.deletes[0].key.partition, STR_LITERAL("Bonn")));
    ck_assert_int_eq(got.deletes[0].bucket, entity_key_bucket(70, STR_LITERAL("Bonn")));
    ck_assert_uint_eq(got.manifest.count, 2);
}
END_TEST

static const struct absence_case {
    const char *name;
    bool live;
} absence_cases[] = {
    { "deleted", false },
    { "without the property", true },
};

START_TEST(an_entity_without_entries_leaves_an_empty_manifest)
{
    const struct absence_case *c = &absence_cases[_i];
    struct manifest stored = plan(a_source(1, "Bonn", "x"), nothing).manifest;
    struct row_state source = a_source(2, NULL, "x");

    source.live = c->live;
    struct reconcile_plan got = plan(source, stored);

    ck_assert_msg(got.delete_count == 2, "%s", c->name);
    ck_assert_uint_eq(got.upsert_count, 0);
    ck_assert_uint_eq(got.manifest.count, 0);
}
END_TEST

START_TEST(a_violation_takes_the_old_entry_away_and_leaves_the_other_index_alone)
{
    struct manifest stored = plan(a_source(1, "Bonn", "x"), nothing).manifest;

    first.partition_key.parts = by_number;
    struct reconcile_plan got = plan(a_source(2, "Bonn", "x"), stored);

    ck_assert_uint_eq(got.violation_count, 1);
    ck_assert_int_eq(got.violations[0].index_id, 70);
    ck_assert_ptr_nonnull(got.violations[0].why);
    ck_assert_uint_eq(got.delete_count, 1);
    ck_assert_int_eq(got.deletes[0].index_id, 70);
    ck_assert_uint_eq(got.manifest.count, 1);
    ck_assert_int_eq(got.manifest.items[0].index_id, 71);
}
END_TEST

START_TEST(entries_of_a_dropped_index_only_leave_the_manifest)
{
    struct manifest stored = plan(a_source(1, "Bonn", "x"), nothing).manifest;

    table.index_count = 1;
    struct reconcile_plan got = plan(a_source(2, "Rome", "x"), stored);

    ck_assert_uint_eq(got.delete_count, 1);
    ck_assert_int_eq(got.deletes[0].index_id, 70);
    ck_assert_uint_eq(got.manifest.count, 1);
}
END_TEST

START_TEST(nothing_is_wanted_of_a_table_that_is_gone)
{
    struct manifest stored = plan(a_source(1, "Bonn", "x"), nothing).manifest;
    struct row_state source = a_source(2, "Rome", "x");
    struct reconcile_plan got;

    reconcile_plan(
        &(struct reconcile_case){ .key = &source_key, .source = &source, .stored = &stored }, &arena, &got);

    ck_assert_uint_eq(got.upsert_count + got.delete_count + got.violation_count + got.manifest.count, 0);
}
END_TEST

/* Its entries are written by writers; entities without a possible entry are noted here as for any index. */
START_TEST(of_a_strong_index_only_violations_are_planned)
{
    struct reconcile_plan got;

    first.place = second.place = PLACE_SAME_PARTITION;
    first.consistency = second.consistency = INDEX_STRONG;
    second.row_key = (struct key_parts){ by_number, 1 };
    got = plan(a_source(1, "Bonn", "x"), nothing);

    ck_assert_uint_eq(got.upsert_count + got.delete_count + got.manifest.count, 0);
    ck_assert_uint_eq(got.violation_count, 1);
    ck_assert_int_eq(got.violations[0].index_id, 71);
}
END_TEST

START_TEST(entries_are_ordered_by_index_and_key)
{
    struct entry_change a = { .entry = { .index_id = 1, .key = { { "b", 1 }, { "a", 1 } } } }, b = a, c = a;

    b.entry.index_id = 2;
    b.entry.key.partition = STR_EMPTY;
    c.entry.key.row = STR_LITERAL("b");

    ck_assert_int_lt(reconcile_plan_compare_entries(&a, &b), 0);
    ck_assert_int_lt(reconcile_plan_compare_entries(&a, &c), 0);
    ck_assert_int_gt(reconcile_plan_compare_entries(&b, &c), 0);
    ck_assert_int_eq(reconcile_plan_compare_entries(&a, &a), 0);
}
END_TEST

Suite *test_reconcile_plan_suite(void)
{
    Suite *suite = suite_create("reconcile_plan");
    TCase *tc = tcase_create("reconcile_plan");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_new_entity_gets_an_entry_in_every_index);
    tcase_add_test(tc, what_stands_there_already_is_left_alone);
    tcase_add_test(tc, a_changed_key_moves_the_entry);
    tcase_add_loop_test(tc, an_entity_without_entries_leaves_an_empty_manifest, 0, ARRAY_LEN(absence_cases));
    tcase_add_test(tc, a_violation_takes_the_old_entry_away_and_leaves_the_other_index_alone);
    tcase_add_test(tc, entries_of_a_dropped_index_only_leave_the_manifest);
    tcase_add_test(tc, nothing_is_wanted_of_a_table_that_is_gone);
    tcase_add_test(tc, of_a_strong_index_only_violations_are_planned);
    tcase_add_test(tc, entries_are_ordered_by_index_and_key);
    suite_add_tcase(suite, tc);
    return suite;
}
