/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of domain/properties/property_parts.c: cases, and random writes against a naive model. */
#include "domain/properties/property_parts.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"

enum { NAMES = 3000, MAX_PARTS = 4096 };

static struct arena arena;

/* The rows that a database would have: the entity's own list, and its parts in order. */
struct rows {
    struct property_list whole;
    int64_t spread;
    struct property_part parts[MAX_PARTS];
    size_t count;
};

static struct rows rows;
static size_t writes, removals; /* of parts, by the last write */

static void setup(void)
{
    arena_init(&arena);
    rows = (struct rows){ .whole = { STR_EMPTY } };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* ---- lists ---- */

/* The length of the value of each name, -1: absent. */
struct model {
    int lengths[NAMES];
};

/* Made once: the tests write millions of names. */
static struct str name_of(size_t i)
{
    static char names[NAMES][sizeof("name00000")];

    if (names[i][0] == '\0')
        snprintf(names[i], sizeof(names[i]), "name%05u", (unsigned)(i % 100000));
    return str_of(names[i]);
}

static struct property_list list_of(const struct model *model)
{
    static char text[65536];
    struct buf out;
    struct property_builder builder = { .out = &out };

    memset(text, 'x', sizeof(text));
    buf_init(&out, &arena);
    for (size_t i = 0; i < NAMES; i++)
        if (model->lengths[i] >= 0)
            property_build(&builder, name_of(i),
                &(struct value){ .type = PROPERTY_STRING, .bytes = { text, (size_t)model->lengths[i] } });
    return (struct property_list){ .bytes = buf_str(&out) };
}

static struct property_list filled(size_t from, size_t to, int length)
{
    struct model model;

    for (size_t i = 0; i < NAMES; i++)
        model.lengths[i] = i >= from && i < to ? length : -1;
    return list_of(&model);
}

static size_t count_of(struct str list)
{
    struct property property;
    size_t count = 0;

    while (property_next(&list, &property))
        count++;
    return count;
}

/* ---- writes as the store makes them ---- */

static struct property_parts stored(void)
{
    struct property_parts parts = { ARENA_ARRAY(&arena, struct property_part, rows.count), rows.count };

    for (size_t i = 0; i < rows.count; i++)
        parts.items[i] = (struct property_part){
            .first_name = rows.parts[i].first_name, .bytes = rows.parts[i].bytes, .count = rows.parts[i].count
        };
    return parts;
}

static void read_wanted(struct property_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].is_read)
            parts->items[i].properties = rows.parts[i].properties;
}

static void apply_one(const struct part_change *change)
{
    size_t at = 0;

    while (at < rows.count && str_compare(rows.parts[at].first_name, change->first_name) < 0)
        at++;
    if (at < rows.count && str_equal(rows.parts[at].first_name, change->first_name)) {
        memmove(&rows.parts[at], &rows.parts[at + 1], (rows.count - at - 1) * sizeof(rows.parts[0]));
        rows.count--;
    } else {
        ck_assert_msg(!change->is_removed, "a part is removed that is not there");
    }
    if (change->is_removed)
        return;
    ck_assert_uint_lt(rows.count, MAX_PARTS);
    memmove(&rows.parts[at + 1], &rows.parts[at], (rows.count - at) * sizeof(rows.parts[0]));
    rows.parts[at] = (struct property_part){ .first_name = arena_copy(&arena, change->first_name),
        .bytes = change->properties.bytes.len,
        .count = change->count,
        .properties = { arena_copy(&arena, change->properties.bytes) } };
    rows.count++;
}

static void apply(const struct parts_plan *plan)
{
    writes = removals = 0;
    rows.whole.bytes = arena_copy(&arena, plan->whole.bytes);
    rows.spread = plan->spread;
    for (size_t i = 0; i < plan->change_count; i++) {
        ck_assert(i == 0 || str_compare(plan->changes[i - 1].first_name, plan->changes[i].first_name) < 0);
        apply_one(&plan->changes[i]);
        removals += plan->changes[i].is_removed;
        writes += !plan->changes[i].is_removed;
    }
}

static void replace_without_reading(struct property_list now)
{
    struct property_parts parts = stored();
    struct parts_plan plan;

    property_parts_plan(&parts, now, (struct property_rest){ 0 }, &arena, &plan);
    apply(&plan);
}

static void replace_after_reading(struct property_list now)
{
    struct property_parts parts = stored();
    struct parts_plan plan;

    property_parts_want_all(&parts);
    read_wanted(&parts);
    property_parts_plan(&parts, now, property_parts_rest(&parts, &arena), &arena, &plan);
    apply(&plan);
}

static void merge(struct property_list changes)
{
    struct property_parts parts = stored();
    struct property_list now = rows.whole;
    struct property_rest rest;
    struct parts_plan plan;

    property_parts_want(&parts, changes);
    read_wanted(&parts);
    rest = property_parts_rest(&parts, &arena);
    if (parts.count > 0)
        now = property_parts_join(&parts, &arena);
    property_parts_plan(&parts, property_list_merge(now, changes, &arena), rest, &arena, &plan);
    apply(&plan);
}

/* ---- what always holds ---- */

/* Runs a million times: a ck_assert that holds writes to a pipe, a condition does not. */
static void check_bounds_of(size_t i)
{
    struct str rest = rows.parts[i].properties.bytes;
    struct property property;

    while (property_next(&rest, &property)) {
        if (str_compare(rows.parts[i].first_name, property.name) > 0)
            ck_abort_msg("part %zu begins behind '%.*s', which it has", i, STR_ARG(property.name));
        if (i + 1 < rows.count && str_compare(property.name, rows.parts[i + 1].first_name) >= 0)
            ck_abort_msg("part %zu has '%.*s' of the next one", i, STR_ARG(property.name));
    }
    ck_assert_uint_eq(rest.len, 0);
}

static void check_rows(struct property_list expected, size_t max_part)
{
    struct buf joined;

    buf_init(&joined, &arena);
    buf_append(&joined, rows.whole.bytes);
    for (size_t i = 0; i < rows.count; i++) {
        ck_assert_uint_eq(rows.parts[i].bytes, rows.parts[i].properties.bytes.len);
        ck_assert_uint_eq(rows.parts[i].count, count_of(rows.parts[i].properties.bytes));
        ck_assert_uint_le(rows.parts[i].bytes, max_part);
        ck_assert_uint_gt(rows.parts[i].count, 0);
        check_bounds_of(i);
        buf_append(&joined, rows.parts[i].properties.bytes);
    }
    ck_assert_msg(str_equal(buf_str(&joined), expected.bytes), "cut and joined, the list is another one");
    ck_assert(rows.count == 0 || (rows.whole.bytes.len == 0 && rows.parts[0].first_name.len == 0));
    ck_assert_int_eq(rows.spread, rows.count > 0 ? (int64_t)expected.bytes.len : 0);
}

START_TEST(a_short_list_stays_in_the_row_of_the_entity)
{
    struct property_list list = filled(0, 300, 90);

    ck_assert_uint_le(list.bytes.len, PARTS_MAX_WHOLE_BYTES);
    replace_without_reading(list);

    ck_assert_uint_eq(rows.count, 0);
    check_rows(list, PART_MAX_BYTES);
}
END_TEST

START_TEST(a_long_list_is_cut_into_parts_of_about_equal_size)
{
    struct property_list list = filled(0, NAMES, 90);

    replace_without_reading(list);

    check_rows(list, PART_MAX_BYTES);
    ck_assert_uint_eq(rows.count, (list.bytes.len + PART_BYTES - 1) / PART_BYTES);
    for (size_t i = 0; i < rows.count; i++)
        ck_assert_uint_gt(rows.parts[i].bytes, PART_BYTES / 2);
}
END_TEST

START_TEST(a_merge_of_one_property_writes_one_part)
{
    struct property_list list = filled(0, NAMES, 90), one = filled(1234, 1235, 70);

    replace_without_reading(list);
    merge(one);

    ck_assert_uint_eq(writes, 1);
    ck_assert_uint_eq(removals, 0);
    check_rows(property_list_merge(list, one, &arena), PART_MAX_BYTES);
}
END_TEST

START_TEST(a_merge_that_changes_nothing_writes_no_part)
{
    struct property_list list = filled(0, NAMES, 90);

    replace_without_reading(list);
    merge(filled(100, 2000, 90));

    ck_assert_uint_eq(writes + removals, 0);
    check_rows(list, PART_MAX_BYTES);
}
END_TEST

START_TEST(a_part_that_grows_too_long_is_cut_and_the_others_stay)
{
    struct property_list list = filled(0, NAMES, 90), more = filled(1000, 1010, 9000);
    size_t before;

    replace_without_reading(list);
    before = rows.count;
    merge(more);

    ck_assert_uint_gt(rows.count, before);
    ck_assert_uint_le(writes, rows.count - before + 2);
    check_rows(property_list_merge(list, more, &arena), PART_MAX_BYTES);
}
END_TEST

START_TEST(names_before_the_first_and_behind_the_last_belong_to_the_outer_parts)
{
    struct property_list list = filled(100, NAMES - 100, 90), first = filled(0, 1, 5),
                         last = filled(NAMES - 1, NAMES, 5);

    replace_without_reading(list);
    merge(first);
    ck_assert_uint_eq(writes, 1);
    merge(last);
    ck_assert_uint_eq(writes, 1);

    check_rows(property_list_merge(property_list_merge(list, first, &arena), last, &arena), PART_MAX_BYTES);
}
END_TEST

START_TEST(a_list_that_becomes_short_goes_back_into_the_row)
{
    replace_without_reading(filled(0, NAMES, 90));
    replace_without_reading(filled(0, 250, 90));
    ck_assert_uint_gt(rows.count, 0); /* not yet: between the two bounds nothing changes its form */
    check_rows(filled(0, 250, 90), PART_MAX_BYTES);

    replace_without_reading(filled(0, 100, 90));
    ck_assert_uint_eq(rows.count, 0);
    check_rows(filled(0, 100, 90), PART_MAX_BYTES);
}
END_TEST

START_TEST(a_replace_that_has_read_the_parts_writes_the_changed_ones_only)
{
    struct property_list list = filled(0, NAMES, 90), other;

    replace_without_reading(list);
    other = property_list_merge(list, filled(10, 11, 91), &arena);
    replace_after_reading(other);
    ck_assert_uint_eq(writes, 1);
    check_rows(other, PART_MAX_BYTES);

    replace_without_reading(list);
    ck_assert_uint_eq(writes, rows.count);
    check_rows(list, PART_MAX_BYTES);
}
END_TEST

START_TEST(short_parts_are_joined)
{
    size_t before;

    replace_without_reading(filled(0, NAMES, 90));
    before = rows.count;
    replace_without_reading(filled(0, NAMES, 2));

    ck_assert_uint_lt(rows.count, before / 2);
    check_rows(filled(0, NAMES, 2), PART_MAX_BYTES);
}
END_TEST

/* A part cannot begin with such a name: with both keys it would not fit into an index of the database. */
START_TEST(no_part_begins_with_a_name_of_more_than_512_bytes)
{
    struct buf list;
    struct property_builder builder = { .out = &list };

    buf_init(&list, &arena);
    for (size_t i = 0; i < 200; i++) {
        struct str name = arena_format(&arena, "%03zu%0*d", i, i % 10 == 5 ? 100 : 600, 0);

        property_build(&builder, name, &(struct value){ .type = PROPERTY_STRING, .bytes = { "x", 1 } });
    }
    replace_without_reading((struct property_list){ buf_str(&list) });

    check_rows((struct property_list){ buf_str(&list) }, PART_MAX_BYTES);
    ck_assert_uint_gt(rows.count, 1);
    for (size_t i = 0; i < rows.count; i++)
        ck_assert_uint_le(rows.parts[i].first_name.len, PART_MAX_NAME_BYTES);
}
END_TEST

/* Texts with the same beginning, which is shorter or longer than what a part can begin with. */
static struct property_list long_names(
    const char *beginning, size_t repeats, size_t count, size_t value_bytes)
{
    char *value = arena_alloc(&arena, value_bytes);
    struct buf list, name;
    struct property_builder builder = { .out = &list };

    memset(value, 'x', value_bytes);
    buf_init(&list, &arena);
    for (size_t i = 0; i < count; i++) {
        buf_init(&name, &arena);
        for (size_t k = 0; k < repeats; k++)
            buf_append(&name, str_of(beginning));
        buf_append(&name, arena_format(&arena, "%03zu%0200d", i, 0));
        property_build(&builder, buf_str(&name),
            &(struct value){ .type = PROPERTY_STRING, .bytes = { value, value_bytes } });
    }
    return (struct property_list){ buf_str(&list) };
}

static bool is_whole_text(struct str text)
{
    while (text.len > 0) {
        unsigned char lead = (unsigned char)text.data[0];
        size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;

        if ((lead & 0xC0) == 0x80 || bytes > text.len)
            return false;
        text = str_from(text, bytes);
    }
    return true;
}

START_TEST(names_that_differ_in_their_first_512_bytes_are_divided)
{
    static const struct {
        const char *beginning;
        size_t repeats;
    } cases[] = { { "a", 400 }, { "a", 509 }, { "\xc3\xa4", 250 }, { "\xe2\x82\xac", 165 } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct property_list list = long_names(cases[i].beginning, cases[i].repeats, 500, 4000);

        rows.count = 0;
        replace_without_reading(list);
        check_rows(list, PART_MAX_BYTES);
        ck_assert_uint_gt(rows.count, 30);
        for (size_t k = 0; k < rows.count; k++) {
            ck_assert_uint_le(rows.parts[k].first_name.len, PART_MAX_NAME_BYTES);
            ck_assert(is_whole_text(rows.parts[k].first_name));
        }
        merge(property_list_select(list, &(struct str){ "", 0 }, 0, &arena));
        check_rows(list, PART_MAX_BYTES);
    }
}
END_TEST

START_TEST(names_that_agree_in_their_first_512_bytes_are_bounded)
{
    struct error err = { 0 };
    struct property_list most = long_names("a", 512, 250, 3000), more = long_names("a", 512, 300, 3000);

    ck_assert_int_eq(property_list_check_wide(most, (struct property_rest){ 0 }, &err), STATUS_OK);
    ck_assert_int_eq(property_list_check_wide(more, (struct property_rest){ 0 }, &err), STATUS_INVALID);
    ck_assert_int_eq(
        property_list_check_wide(long_names("a", 400, 500, 4000), (struct property_rest){ 0 }, &err),
        STATUS_OK);
    replace_without_reading(most);
    check_rows(most, PART_MAX_BYTES + PART_MAX_UNDIVIDED_BYTES);
}
END_TEST

/* Each write makes one part short and reads no other. */
START_TEST(many_short_parts_are_seen)
{
    struct property_parts parts;

    replace_without_reading(filled(0, NAMES, 1000));
    parts = stored();
    ck_assert_uint_gt(parts.count, PARTS_MAX_SHORT);
    ck_assert(!property_parts_are_scattered(&parts));
    for (size_t i = 0; i < NAMES; i++)
        merge(filled(i, i + 1, 1));
    parts = stored();
    ck_assert(property_parts_are_scattered(&parts));
    replace_after_reading(filled(0, NAMES, 1));
    parts = stored();
    ck_assert(!property_parts_are_scattered(&parts));
}
END_TEST

/* ---- the model ---- */

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static struct property_list random_changes(uint64_t *state, struct model *model, bool replaces)
{
    struct model changes;
    uint32_t number = next_random(state) % (replaces ? NAMES : 40), from = next_random(state) % NAMES;
    int max = 1 << (next_random(state) % 13);

    for (size_t i = 0; i < NAMES; i++)
        changes.lengths[i] = -1;
    for (uint32_t i = 0; i < number; i++)
        changes.lengths[(from + i * (1 + next_random(state) % 3)) % NAMES] =
            (int)(next_random(state) % (uint32_t)max);
    for (size_t i = 0; i < NAMES; i++)
        if (replaces || changes.lengths[i] >= 0)
            model->lengths[i] = changes.lengths[i];
    return list_of(&changes);
}

/* The entity always has what the model has, however often its parts are cut and joined. */
START_TEST(random_writes_agree_with_the_model)
{
    uint64_t state = (uint64_t)_i + 1;
    static struct model model;

    for (size_t i = 0; i < NAMES; i++)
        model.lengths[i] = -1;
    for (int step = 0; step < 60; step++) {
        uint32_t way = next_random(&state) % 20;
        struct property_list changes = random_changes(&state, &model, way < 2);
        struct arena before;

        if (way == 0)
            replace_without_reading(changes);
        else if (way == 1)
            replace_after_reading(changes);
        else
            merge(changes);
        before = arena;
        check_rows(list_of(&model), PART_MAX_BYTES);
        arena_rewind(&arena, &before);
    }
}
END_TEST

Suite *test_property_parts_suite(void)
{
    Suite *suite = suite_create("property_parts");
    TCase *cases = tcase_create("cases"), *models = tcase_create("model");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, a_short_list_stays_in_the_row_of_the_entity);
    tcase_add_test(cases, a_long_list_is_cut_into_parts_of_about_equal_size);
    tcase_add_test(cases, a_merge_of_one_property_writes_one_part);
    tcase_add_test(cases, a_merge_that_changes_nothing_writes_no_part);
    tcase_add_test(cases, a_part_that_grows_too_long_is_cut_and_the_others_stay);
    tcase_add_test(cases, names_before_the_first_and_behind_the_last_belong_to_the_outer_parts);
    tcase_add_test(cases, a_list_that_becomes_short_goes_back_into_the_row);
    tcase_add_test(cases, a_replace_that_has_read_the_parts_writes_the_changed_ones_only);
    tcase_add_test(cases, short_parts_are_joined);
    tcase_add_test(cases, no_part_begins_with_a_name_of_more_than_512_bytes);
    tcase_add_test(cases, names_that_differ_in_their_first_512_bytes_are_divided);
    tcase_add_test(cases, names_that_agree_in_their_first_512_bytes_are_bounded);
    tcase_add_test(cases, many_short_parts_are_seen);
    suite_add_tcase(suite, cases);
    tcase_add_checked_fixture(models, setup, teardown);
    tcase_set_timeout(models, 60);
    tcase_add_loop_test(models, random_writes_agree_with_the_model, 0, 20);
    suite_add_tcase(suite, models);
    return suite;
}
