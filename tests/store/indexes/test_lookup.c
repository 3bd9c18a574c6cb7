/* SPDX-License-Identifier: Apache-2.0 */
/* test_lookup.c - look-ups: which entities they find, how they treat entries that are behind, and pages. */
#include <check.h>

#include "domain/limits.h"
#include "domain/operations/operation_times.h"
#include "tests/support/builders.h"

enum { INDEX_ID = 900, REBUILT_ID = 901, PEOPLE = 12 };

static struct scene scene;
static struct key_part by_city = { .text = { "City", 4 } }, by_name = { .text = { "Name", 4 } };
static struct index city_index;

static const char *name_of(int i)
{
    return arena_format(&scene.arena, "%c", 'a' + i).data;
}

static struct property_list person(const char *city, int i)
{
    return some_texts(&scene.arena, "City", city, "Name", name_of(i), "Note", "kept", NULL);
}

static struct index an_index(int64_t index_id, enum index_state state)
{
    return (struct index){ .index_id = index_id,
        .name = STR_LITERAL("ByCity"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .state = state,
        .partition_key = { &by_city, 1 },
        .row_key = { &by_name, 1 },
        .projection = PROJECT_ALL };
}

/* Twelve people in Bonn, with the names a to l; every third name also has a person in Rome. */
static void setup(void)
{
    scene_open(&scene);
    for (int i = 0; i < PEOPLE; i++) {
        scene_write(&scene, a_write(WRITE_INSERT, "bonn", name_of(i), person("Bonn", i)));
        if (i % 3 == 0)
            scene_write(&scene, a_write(WRITE_INSERT, "rome", name_of(i), person("Rome", i)));
    }
    city_index = an_index(INDEX_ID, INDEX_READY);
    scene_index(&scene, &city_index);
    for (int i = 0; i < PEOPLE; i++) {
        scene_entry(&scene, &city_index, scene_read(&scene, "bonn", name_of(i)));
        if (i % 3 == 0)
            scene_entry(&scene, &city_index, scene_read(&scene, "rome", name_of(i)));
    }
}

static void teardown(void)
{
    scene_close(&scene);
}

static struct value *texts(const char *first, const char *second)
{
    struct value *values = ARENA_ARRAY(&scene.arena, struct value, 2);

    values[0] = (struct value){ .type = PROPERTY_STRING, .bytes = str_of(first) };
    values[1] = (struct value){ .type = PROPERTY_STRING, .bytes = str_of(second) };
    return values;
}

static struct operation *a_lookup(const char *city, bool trust_index)
{
    struct operation *lookup = an_operation(&scene.arena, OPERATION_LOOKUP, "ByCity");

    lookup->in.lookup = (struct operation_lookup){
        .equals = texts(city, ""), .equal_count = 1, .trust_index = trust_index, .limit = 100
    };
    return lookup;
}

/* The names found, one letter each. */
static const char *names_in(const struct operation *lookup)
{
    struct buf out;

    ck_assert_reason(lookup, "OK");
    buf_init(&out, &scene.arena);
    for (size_t i = 0; i < lookup->out.lookup.count; i++)
        buf_append(&out, text_of(lookup->out.lookup.entities[i].properties, "Name"));
    buf_append_byte(&out, 0);
    return out.data;
}

static const char *look_up(const char *city, bool trust_index)
{
    struct operation *lookup = a_lookup(city, trust_index);

    run(scene.store, lookup);
    return names_in(lookup);
}

START_TEST(entities_are_found_by_value_under_their_own_keys)
{
    struct operation *lookup = a_lookup("Rome", _i);
    const struct entity *source = scene_read(&scene, "rome", "d");

    run(scene.store, lookup);

    ck_assert_str_eq(names_in(lookup), "adgj");
    ck_assert_int_eq(entity_key_compare(&lookup->out.lookup.entities[1].key, &source->key), 0);
    ck_assert(etag_equal(lookup->out.lookup.entities[1].etag, source->etag));
    ck_assert_int_eq(lookup->out.lookup.entities[1].timestamp, source->timestamp);
    ck_assert(str_equal(lookup->out.lookup.entities[1].properties.bytes, source->properties.bytes));
    ck_assert_int_eq(lookup->out.lookup.stats.access_path, ACCESS_INDEX_LOOKUP);
    ck_assert_int_eq(lookup->out.lookup.table_id, INDEX_ID);
    ck_assert(!lookup->out.lookup.more);
}
END_TEST

START_TEST(nothing_is_found_where_there_is_nothing)
{
    ck_assert_str_eq(look_up("Oslo", _i), "");
}
END_TEST

/* ---- entries that are behind their source ---- */

START_TEST(an_entry_that_no_longer_holds_is_left_out_unless_it_is_trusted)
{
    scene_write(&scene, a_write(WRITE_REPLACE, "rome", "d", person("Oslo", 3)));
    scene_write(&scene, a_write(WRITE_DELETE, "rome", "g", (struct property_list){ STR_EMPTY }));

    ck_assert_str_eq(look_up("Rome", true), "adgj");
    ck_assert_str_eq(look_up("Rome", false), "aj");
    ck_assert_str_eq(look_up("Oslo", false), ""); /* its entry is not written yet */
}
END_TEST

START_TEST(a_checked_hit_is_the_source_as_it_is_now)
{
    struct operation *trusted = a_lookup("Rome", true), *checked = a_lookup("Rome", false);
    struct write_result now =
        scene_write(&scene, a_write(WRITE_MERGE, "rome", "a", some_texts(&scene.arena, "Note", "new", NULL)));

    run(scene.store, trusted);
    run(scene.store, checked);

    ck_assert_str_eq(names_in(trusted), "adgj");
    ck_assert_str_eq(names_in(checked), "adgj");
    ck_assert(str_equal(text_of(trusted->out.lookup.entities[0].properties, "Note"), STR_LITERAL("kept")));
    ck_assert(str_equal(text_of(checked->out.lookup.entities[0].properties, "Note"), STR_LITERAL("new")));
    ck_assert(etag_equal(checked->out.lookup.entities[0].etag, now.etag));
}
END_TEST

/* ---- ranges ---- */

static const struct range_case {
    const char *at_least, *below, *names;
} range_cases[] = {
    { "d", "g", "def" },
    { "d", NULL, "defghijkl" },
    { NULL, "d", "abc" },
    { "d", "d", "" },
    { "x", NULL, "" },
    { "g", "d", "" },
};

START_TEST(a_range_bounds_the_next_part)
{
    const struct range_case *c = &range_cases[_i];
    struct operation *lookup = a_lookup("Bonn", true);
    struct value_range *range = &lookup->in.lookup.range;

    range->has_at_least = c->at_least != NULL;
    range->has_below = c->below != NULL;
    range->at_least = texts(c->at_least, "")[0];
    range->below = texts(c->below, "")[0];
    run(scene.store, lookup);

    ck_assert_str_eq(names_in(lookup), c->names);
}
END_TEST

START_TEST(all_parts_can_be_bound)
{
    struct operation *lookup = a_lookup("Bonn", true);

    lookup->in.lookup.equals = texts("Bonn", "e");
    lookup->in.lookup.equal_count = 2;
    run(scene.store, lookup);

    ck_assert_str_eq(names_in(lookup), "e");
}
END_TEST

/* ---- pages ---- */

static const int32_t limits[] = { 1, 2, 3, 7, 1000 };

START_TEST(the_union_of_pages_is_the_whole)
{
    struct buf all;
    struct entity_key after;
    bool more = true, first = true;

    buf_init(&all, &scene.arena);
    while (more) {
        struct operation *lookup = a_lookup("Bonn", false);

        lookup->in.lookup.limit = limits[_i];
        lookup->in.lookup.has_after = !first;
        if (!first)
            lookup->in.lookup.after = after;
        run(scene.store, lookup);
        ck_assert_uint_le(lookup->out.lookup.count, (size_t)limits[_i]);
        buf_append(&all, str_of(names_in(lookup)));
        more = lookup->out.lookup.more;
        after = lookup->out.lookup.position;
        if (lookup->out.lookup.count == (size_t)limits[_i])
            ck_assert_int_eq(entity_key_compare(&after, &lookup->out.lookup.entries[limits[_i] - 1]), 0);
        first = false;
    }
    ck_assert(str_equal(buf_str(&all), STR_LITERAL("abcdefghijkl")));
}
END_TEST

enum { NOTE_BYTES = 60000 }; /* a person that has grown has 480 kB */

/* The entries show people as they were before. */
static void let_people_grow(void)
{
    char *note = arena_alloc(&scene.arena, NOTE_BYTES + 1);

    memset(note, 'x', NOTE_BYTES);
    note[NOTE_BYTES] = 0;
    for (int i = 0; i < PEOPLE; i++)
        scene_write(&scene, a_write(WRITE_MERGE, "bonn", name_of(i),
                                some_texts(&scene.arena, "Note0", note, "Note1", note, "Note2", note, "Note3",
                                    note, "Note4", note, "Note5", note, "Note6", note, "Note7", note, NULL)));
}

static size_t bytes_in(const struct operation *lookup)
{
    size_t bytes = 0;

    for (size_t i = 0; i < lookup->out.lookup.count; i++)
        bytes += lookup->out.lookup.entities[i].properties.bytes.len;
    return bytes;
}

/* A page that returns less of each entity than it has to read may read more. */
START_TEST(a_checked_page_ends_when_it_has_read_enough)
{
    struct operation *page = NULL;
    struct buf names;
    int pages = 0;

    let_people_grow();
    buf_init(&names, &scene.arena);
    do {
        struct operation *before = page;

        page = a_lookup("Bonn", false);
        page->in.lookup.keys_only = _i == 1;
        page->in.lookup.has_after = before != NULL;
        if (before)
            page->in.lookup.after = before->out.lookup.position;
        run(scene.store, page);
        buf_append(&names, str_of(names_in(page)));
        if (_i == 0)
            ck_assert_uint_le(bytes_in(page), LIMIT_REPLY_BYTES + LIMIT_ENTITY_BYTES);
        pages++;
    } while (page->out.lookup.more);
    ck_assert(str_equal(buf_str(&names), STR_LITERAL("abcdefghijkl")));
    ck_assert_int_eq(pages > 1, _i == 0);
}
END_TEST

/* ---- the index itself ---- */

START_TEST(an_index_that_is_not_ready_is_refused_until_it_is)
{
    struct operation *early = a_lookup("Rome", true), *late = a_lookup("Rome", true);

    scene_change(&scene, arena_format(&scene.arena, "update indexes set state = %d", _i).data);
    run(scene.store, early);
    ck_assert_reason(early, "INDEX_NOT_READY");

    scene_change(&scene, "update indexes set state = 3");
    run(scene.store, late);
    ck_assert_str_eq(names_in(late), "adgj");
}
END_TEST

START_TEST(only_an_index_can_be_looked_up)
{
    struct operation *lookup = a_lookup("Rome", true);

    lookup->table = _i ? STR_LITERAL("Things") : STR_LITERAL("Nowhere");
    run(scene.store, lookup);

    ck_assert_reason(lookup, "INDEX_NOT_FOUND");
}
END_TEST

START_TEST(a_new_index_under_the_old_name_answers_with_its_own_entries)
{
    struct index rebuilt = an_index(REBUILT_ID, INDEX_READY);
    struct operation *lookup = a_lookup("Rome", true);

    ck_assert_str_eq(look_up("Rome", true), "adgj");
    scene_change(
        &scene, "update indexes set state = 4; update tables set live = false where index_id is not null");
    rebuilt.partition_key.parts = &by_name;
    rebuilt.row_key.parts = &by_city;
    scene_index(&scene, &rebuilt);
    scene_entry(&scene, &rebuilt, scene_read(&scene, "rome", "g"));
    lookup->in.lookup.equals = texts("g", "Rome");
    lookup->in.lookup.equal_count = 2;
    run(scene.store, lookup);

    ck_assert_str_eq(names_in(lookup), "g");
    ck_assert_int_eq(lookup->out.lookup.table_id, REBUILT_ID);
}
END_TEST

START_TEST(values_that_do_not_fit_are_refused)
{
    struct operation *lookup = a_lookup("Rome", true);

    lookup->in.lookup.equal_count = 0;
    lookup->in.lookup.range = (struct value_range){ .has_at_least = true, .at_least = texts("a", "")[0] };
    run(scene.store, lookup);

    ck_assert_reason(lookup, "INVALID_INPUT");
}
END_TEST

START_TEST(a_write_to_an_indexed_table_leaves_an_intent)
{
    scene_write(&scene, a_write(WRITE_REPLACE, "rome", "a", person("Oslo", 0)));
    ck_assert_int_eq(
        test_number(scene.sql, "select count(*) from intents where partition_key = 'rome' and row_key = 'a'"),
        1);
}
END_TEST

/* ---- as of when ---- */

/*
 * Guard G22. An entity is written and gets its entry while the look-up waits to read the lag: if a page's as_of is
 * later, the page has the entity.
 */
START_TEST(a_page_does_not_miss_what_is_older_than_its_as_of)
{
    PGconn *holder = test_connect(scene.conninfo);
    struct operation *lookup = a_lookup("Rome", _i & 1);
    const struct entity *source;

    lookup->in.lookup.freshness.latest = _i & 2;
    if (_i & 4)
        operation_times_set_detour(lookup, DETOUR_ALONE);
    scene_write(&scene, a_write(WRITE_INSERT, "rome", "z", person("Rome", 25)));
    source =
        scene_read(&scene, "rome", "z"); /* before the lock, for which the look-up waits a second at most */
    test_sql(scene.sql, "delete from intents; update watermarks set as_of = 1");
    test_sql(holder, "begin; lock table watermarks in access exclusive mode");
    submit(scene.store, lookup);
    test_await(scene.sql,
        "select count(*) from pg_stat_activity where datname = current_database()"
        " and application_name in ('tavolad short', 'tavolad page') and wait_event_type = 'Lock'");
    scene_entry(&scene, &city_index, source);
    test_sql(holder, "update watermarks set as_of = 2; commit");
    await(lookup);
    PQfinish(holder);

    if (strcmp(names_in(lookup), "adgjz") != 0)
        ck_assert_int_lt(lookup->out.lookup.lag.as_of, 2);
}
END_TEST

Suite *test_lookup_suite(void)
{
    Suite *suite = suite_create("lookup");
    TCase *tc = tcase_create("lookup");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, entities_are_found_by_value_under_their_own_keys, 0, 2);
    tcase_add_loop_test(tc, nothing_is_found_where_there_is_nothing, 0, 2);
    tcase_add_test(tc, an_entry_that_no_longer_holds_is_left_out_unless_it_is_trusted);
    tcase_add_test(tc, a_checked_hit_is_the_source_as_it_is_now);
    tcase_add_loop_test(tc, a_range_bounds_the_next_part, 0, ARRAY_LEN(range_cases));
    tcase_add_test(tc, all_parts_can_be_bound);
    tcase_add_loop_test(tc, the_union_of_pages_is_the_whole, 0, ARRAY_LEN(limits));
    tcase_add_loop_test(tc, a_checked_page_ends_when_it_has_read_enough, 0, 2);
    tcase_add_loop_test(tc, an_index_that_is_not_ready_is_refused_until_it_is, INDEX_BUILDING, INDEX_READY);
    tcase_add_loop_test(tc, only_an_index_can_be_looked_up, 0, 2);
    tcase_add_test(tc, a_new_index_under_the_old_name_answers_with_its_own_entries);
    tcase_add_test(tc, values_that_do_not_fit_are_refused);
    tcase_add_test(tc, a_write_to_an_indexed_table_leaves_an_intent);
    tcase_add_loop_test(tc, a_page_does_not_miss_what_is_older_than_its_as_of, 0, 8);
    suite_add_tcase(suite, tc);
    return suite;
}
