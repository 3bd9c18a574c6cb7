/* SPDX-License-Identifier: Apache-2.0 */
/* test_strong_entries.c - the entries that a write changes in its own transaction. */
#include "domain/writes/strong_entries.h"

#include <check.h>

#include "tests/support/builders.h"

enum { TABLE = 5, BY_CITY = 70, MEMBERS = 71, LATER = 72 };

static struct arena arena;
static struct key_part partition = { .text = { "PartitionKey", 12 } }, city = { .text = { "City", 4 } };
static struct index by_city, members, later;
static struct index *indexes[] = { &by_city, &members, &later };
static const struct table table = { .table_id = TABLE, .indexes = indexes, .index_count = 3 };

static void setup(void)
{
    arena_init(&arena);
    by_city = (struct index){ .index_id = BY_CITY,
        .source_table_id = TABLE,
        .shape = INDEX_COPY,
        .place = PLACE_SAME_PARTITION,
        .consistency = INDEX_STRONG,
        .partition_key = { &partition, 1 },
        .row_key = { &city, 1 },
        .projection = PROJECT_ALL };
    members = by_city;
    members.index_id = MEMBERS;
    members.shape = INDEX_LIST;
    later = by_city;
    later.index_id = LATER;
    later.place = PLACE_OTHER_PARTITION;
    later.consistency = INDEX_EVENTUAL;
    later.partition_key = (struct key_parts){ &city, 1 };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct row_state a_state(int64_t version, const char *name, const char *note)
{
    struct property_list properties =
        name ? some_texts(&arena, "City", name, "Note", note, NULL) : some_texts(&arena, "Note", note, NULL);

    return (struct row_state){ .live = true, .version = version, .ts = version, .properties = properties };
}

static struct plan_row a_row(const char *row, struct row_state stored, struct row_state now)
{
    return (struct plan_row){ .table = &table, .key = a_key("p", row), .stored = stored, .now = now };
}

static struct strong_entries plan_of(const struct plan_row *rows, size_t count)
{
    struct strong_entries out;

    strong_entries_plan(rows, count, &arena, &out);
    return out;
}

static const struct row_state absent = { 0 };

START_TEST(a_new_entity_brings_an_entry_for_every_strong_index)
{
    struct plan_row row = a_row("r", absent, a_state(1, "Bonn", "x"));
    struct strong_entries got = plan_of(&row, 1);

    ck_assert_uint_eq(got.upsert_count, 2);
    ck_assert_uint_eq(got.delete_count, 0);
    ck_assert_int_eq(got.upserts[0].entry.index_id, BY_CITY);
    ck_assert_int_eq(got.upserts[1].entry.index_id, MEMBERS);
    ck_assert(str_equal(got.upserts[0].entry.key.partition, STR_LITERAL("p")));
    ck_assert(str_equal(got.upserts[0].entry.key.row, STR_LITERAL("Bonn  !r")));
    ck_assert_int_eq(got.upserts[0].entry.bucket, entity_key_bucket(TABLE, STR_LITERAL("p")));
    ck_assert_ptr_eq(got.upserts[0].source, &row.now);
}
END_TEST

START_TEST(a_value_that_changes_takes_its_entry_along)
{
    struct plan_row row = a_row("r", a_state(1, "Bonn", "x"), a_state(2, "Cork", "x"));
    struct strong_entries got = plan_of(&row, 1);

    ck_assert_uint_eq(got.upsert_count, 2);
    ck_assert_uint_eq(got.delete_count, 2);
    ck_assert(str_equal(got.upserts[0].entry.key.row, STR_LITERAL("Cork  !r")));
    ck_assert(str_equal(got.deletes[0].entry.key.row, STR_LITERAL("Bonn  !r")));
    ck_assert_int_eq(got.deletes[0].entry.bucket, entity_key_bucket(TABLE, STR_LITERAL("p")));
}
END_TEST

START_TEST(only_an_entry_that_holds_the_property_is_written_again)
{
    struct plan_row row = a_row("r", a_state(1, "Bonn", "x"), a_state(2, "Bonn", "y"));
    struct strong_entries got = plan_of(&row, 1);

    ck_assert_uint_eq(got.upsert_count, 1);
    ck_assert_int_eq(got.upserts[0].entry.index_id, BY_CITY);
    ck_assert_uint_eq(got.delete_count, 0);
}
END_TEST

START_TEST(an_entry_expires_with_its_entity)
{
    struct plan_row row = a_row("r", a_state(1, "Bonn", "x"), a_state(2, "Bonn", "x"));
    struct strong_entries got;

    row.now.expires = 500;
    got = plan_of(&row, 1);

    ck_assert_uint_eq(got.upsert_count, 2);
    ck_assert_uint_eq(got.upserts[0].entry.digest,
        index_plan_digest(table.indexes[0], got.upserts[0].entry.properties.bytes, 0, 500));
}
END_TEST

START_TEST(a_deleted_entity_loses_its_entries)
{
    struct plan_row row = a_row("r", a_state(1, "Bonn", "x"), (struct row_state){ .version = 2, .ts = 2 });
    struct strong_entries got = plan_of(&row, 1);

    ck_assert_uint_eq(got.upsert_count, 0);
    ck_assert_uint_eq(got.delete_count, 2);
}
END_TEST

/* An expired entity is absent for the plan, but its entry stays until the entity is deleted. */
START_TEST(what_is_due_has_its_entry_until_it_is_deleted)
{
    struct plan_row row = a_row("r", a_state(4, "Bonn", "x"), absent);
    struct strong_entries got;

    row.now = write_plan_visible(&row.stored, true);
    ck_assert_uint_eq(plan_of(&row, 1).delete_count, 0);
    row.now = a_state(5, "Cork", "x");
    got = plan_of(&row, 1);

    ck_assert_uint_eq(got.delete_count, 2);
    ck_assert_uint_eq(got.upsert_count, 2);
}
END_TEST

START_TEST(a_row_that_is_not_written_changes_nothing)
{
    struct plan_row rows[] = { a_row("r", a_state(1, "Bonn", "x"), a_state(1, "Bonn", "x")),
        a_row("s", absent, absent) };
    struct strong_entries got = plan_of(rows, 2);

    ck_assert_uint_eq(got.upsert_count + got.delete_count, 0);
}
END_TEST

START_TEST(an_entity_without_the_property_has_no_entry)
{
    struct plan_row row = a_row("r", a_state(1, "Bonn", "x"), a_state(2, NULL, "x"));
    struct strong_entries got = plan_of(&row, 1);

    ck_assert_uint_eq(got.upsert_count, 0);
    ck_assert_uint_eq(got.delete_count, 2);
}
END_TEST

START_TEST(an_entity_that_cannot_have_its_entry_loses_the_one_before)
{
    struct key_part number = { .text = { "City", 4 }, .width = 3 };
    struct value five = { .type = PROPERTY_INT32, .integer = 5 };
    struct plan_row row = a_row("r", a_state(1, "Bonn", "x"), a_state(2, "Bonn", "x"));
    struct property_builder builder = { .out = ARENA_NEW(&arena, struct buf), .last_name = STR_EMPTY };
    struct strong_entries got;

    by_city.row_key = members.row_key = (struct key_parts){ &number, 1 };
    buf_init(builder.out, &arena);
    property_build(&builder, STR_LITERAL("City"), &five);
    row.stored.properties.bytes = buf_str(builder.out);
    got = plan_of(&row, 1);

    ck_assert_uint_eq(got.upsert_count, 0);
    ck_assert_uint_eq(got.delete_count, 2);
}
END_TEST

START_TEST(entries_are_in_the_order_of_locks)
{
    struct plan_row rows[] = { a_row("a", absent, a_state(1, "Rome", "x")),
        a_row("b", absent, a_state(1, "Bonn", "x")) };
    struct strong_entries got = plan_of(rows, 2);

    ck_assert_uint_eq(got.upsert_count, 4);
    for (size_t i = 1; i < got.upsert_count; i++)
        ck_assert_int_lt(reconcile_plan_compare_entries(&got.upserts[i - 1], &got.upserts[i]), 0);
}
END_TEST

/* ---- with manifests ---- */

static struct strong_state state;

/* The third index comes with its writes, and the fourth, on Note, does not: manifests name the entries of both. */
static struct plan_row a_named_row(struct row_state stored, struct row_state now, bool is_held)
{
    static struct key_part note = { .text = { "Note", 4 } };
    static struct index by_note, *named[] = { &by_city, &later, &by_note };
    static const struct table with_manifests = { .table_id = TABLE, .indexes = named, .index_count = 3 };
    struct plan_row row = a_row("r", stored, now);

    later.row_key = (struct key_parts){ 0 };
    by_note = later;
    by_note.index_id = LATER + 1;
    by_note.partition_key = (struct key_parts){ &note, 1 };
    later.consistency = INDEX_STRONG;
    row.table = &with_manifests;
    state = (struct strong_state){ .is_held = is_held };
    row.state = &state;
    return row;
}

static void name(int64_t index_id, const char *value, uint64_t digest)
{
    if (!state.stored.items)
        state.stored.items = ARENA_ARRAY(&arena, struct manifest_item, 4);
    state.stored.items[state.stored.count++] = (struct manifest_item){
        .index_id = index_id, .key = { str_of(value), STR_LITERAL("p  !r") }, .digest = digest
    };
}

START_TEST(a_new_entity_brings_a_manifest_along)
{
    struct plan_row row = a_named_row(absent, a_state(1, "Bonn", "x"), false);
    struct strong_entries got = plan_of(&row, 1);

    ck_assert_uint_eq(got.upsert_count, 2); /* in the same partition, and this one */
    ck_assert_int_eq(got.upserts[1].entry.index_id, LATER);
    ck_assert(state.is_made && !state.is_changed && !state.is_removed);
    ck_assert_uint_eq(state.planned.count, 1);
    ck_assert(str_equal(state.planned.items[0].key.partition, STR_LITERAL("Bonn")));
}
END_TEST

/* Guard G40: the stored state asks for Cork, which has not come yet; what stands is Bonn. */
START_TEST(what_the_manifest_names_goes)
{
    struct plan_row row = a_named_row(a_state(2, "Cork", "x"), a_state(3, "Oslo", "x"), true);
    struct strong_entries got;

    name(LATER, "Bonn", 7);
    name(LATER + 1, "old", 9);
    name(LATER + 2, "of an index that is gone", 11);
    got = plan_of(&row, 1);

    ck_assert_uint_eq(got.delete_count, 2);
    ck_assert(str_equal(got.deletes[1].entry.key.partition, STR_LITERAL("Bonn")));
    ck_assert(str_equal(got.upserts[1].entry.key.partition, STR_LITERAL("Oslo")));
    ck_assert(state.is_changed && !state.is_made && !state.is_removed);
    ck_assert_uint_eq(state.planned.count, 2);
    ck_assert_int_eq(state.planned.items[1].index_id, LATER + 1);
    ck_assert_uint_eq(state.planned.items[1].digest, 9);
}
END_TEST

START_TEST(a_deleted_entity_keeps_named_what_follows_later)
{
    struct plan_row row =
        a_named_row(a_state(1, "Bonn", "x"), (struct row_state){ .version = 2, .ts = 2 }, true);
    struct strong_entries got;

    name(LATER, "Bonn", 7);
    if (_i == 1)
        name(LATER + 1, "old", 9);
    got = plan_of(&row, 1);

    ck_assert_uint_eq(got.delete_count, 2);
    ck_assert(_i == 1 ? state.is_changed && !state.is_removed : state.is_removed && !state.is_changed);
    ck_assert_uint_eq(state.planned.count, (size_t)_i);
}
END_TEST

START_TEST(an_entry_that_stays_changes_no_manifest)
{
    struct plan_row row = a_named_row(a_state(1, "Bonn", "x"), a_state(2, "Bonn", "x"), true);
    struct index_entry entry;

    ck_assert_int_eq(index_plan_project_state(&later, &row.key, &row.now, &arena, &entry), PROJECTED);
    name(LATER, "Bonn", entry.digest);

    ck_assert_uint_eq(plan_of(&row, 1).upsert_count, 0);
    ck_assert(!state.is_made && !state.is_changed && !state.is_removed);
}
END_TEST

/*
 * Guard G40: an index that is being built has not come by yet. A worker that reads the entity as it was would give it
 * an entry, so the row is made although nothing is to stand in it.
 */
START_TEST(a_row_is_made_where_a_worker_may_make_it)
{
    struct row_state before = a_state(1, _i == 0 ? "Bonn" : NULL, "x");
    struct plan_row row = a_named_row(before, a_state(2, NULL, "y"), false);

    (void)plan_of(&row, 1);
    ck_assert_int_eq(state.is_made, _i == 0);
    ck_assert_int_eq(state.is_removed, _i == 0);
}
END_TEST

START_TEST(only_tables_with_such_an_index_have_states)
{
    ck_assert(!strong_entries_have_states(&table));
    later.consistency = INDEX_STRONG;
    ck_assert(strong_entries_have_states(&table));
    later.consistency = INDEX_BECOMING_STRONG;
    ck_assert(strong_entries_have_states(&table));
}
END_TEST

Suite *test_strong_entries_suite(void)
{
    Suite *suite = suite_create("strong_entries");
    TCase *tc = tcase_create("strong_entries");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_new_entity_brings_an_entry_for_every_strong_index);
    tcase_add_test(tc, a_value_that_changes_takes_its_entry_along);
    tcase_add_test(tc, only_an_entry_that_holds_the_property_is_written_again);
    tcase_add_test(tc, an_entry_expires_with_its_entity);
    tcase_add_test(tc, a_deleted_entity_loses_its_entries);
    tcase_add_test(tc, what_is_due_has_its_entry_until_it_is_deleted);
    tcase_add_test(tc, a_row_that_is_not_written_changes_nothing);
    tcase_add_test(tc, an_entity_without_the_property_has_no_entry);
    tcase_add_test(tc, an_entity_that_cannot_have_its_entry_loses_the_one_before);
    tcase_add_test(tc, entries_are_in_the_order_of_locks);
    tcase_add_test(tc, a_new_entity_brings_a_manifest_along);
    tcase_add_test(tc, what_the_manifest_names_goes);
    tcase_add_loop_test(tc, a_deleted_entity_keeps_named_what_follows_later, 0, 2);
    tcase_add_test(tc, an_entry_that_stays_changes_no_manifest);
    tcase_add_loop_test(tc, a_row_is_made_where_a_worker_may_make_it, 0, 2);
    tcase_add_test(tc, only_tables_with_such_an_index_have_states);
    suite_add_tcase(suite, tc);
    return suite;
}
