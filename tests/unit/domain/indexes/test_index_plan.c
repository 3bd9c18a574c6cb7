/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/indexes/index_plan.h"

#include <check.h>

#include "domain/digest.h"
#include "domain/filter/filter.h"
#include "domain/writes/write_plan.h"

#define PROPERTY_PART(name)                                                                                  \
    {                                                                                                        \
        .text = {(name), sizeof(name) - 1 }                                                                  \
    }
#define LITERAL_PART(name)                                                                                   \
    {                                                                                                        \
        .is_literal = true, .text = {(name), sizeof(name) - 1 }                                              \
    }

static struct arena arena;
static const struct entity_key source_key = { { "p/1", 3 }, { "r1", 2 } };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* City (absent when NULL), Name, Note. */
static struct property_list a_person(const char *city, const char *note)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };
    struct value name = { .type = PROPERTY_STRING, .bytes = STR_LITERAL("Ann") };
    struct value city_value = { .type = PROPERTY_STRING, .bytes = str_of(city) };
    struct value note_value = { .type = PROPERTY_STRING, .bytes = str_of(note) };

    buf_init(&out, &arena);
    if (city)
        property_build(&builder, STR_LITERAL("City"), &city_value);
    property_build(&builder, STR_LITERAL("Name"), &name);
    property_build(&builder, STR_LITERAL("Note"), &note_value);
    return (struct property_list){ .bytes = buf_str(&out) };
}

static struct key_part by_city[] = { LITERAL_PART("city:"), PROPERTY_PART("City") };
static struct key_part by_name[] = { PROPERTY_PART("Name") };
static struct key_part by_name_and_row[] = { PROPERTY_PART("Name"), PROPERTY_PART("RowKey") };
static struct key_part by_time[] = { { .text = { "Timestamp", 9 }, .inverted = true } };
static struct key_part by_width[] = { { .text = { "Name", 4 }, .width = 3 } };
static struct key_part by_both[] = { PROPERTY_PART("RowKey"), PROPERTY_PART("PartitionKey") };
static struct key_part by_partition[] = { PROPERTY_PART("PartitionKey") };
static struct key_part by_folded_name[] = { { .text = { "Name", 4 }, .fold_case = true } };
static struct key_part by_folded_keys[] = { { .text = { "RowKey", 6 }, .fold_case = true },
    PROPERTY_PART("PartitionKey") };
static struct str only_note[] = { { "Note", 4 } };

static struct index an_index(struct key_part *row_parts, size_t row_count)
{
    return (struct index){ .index_id = 77,
        .source_table_id = 5,
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { by_city, ARRAY_LEN(by_city) },
        .row_key = { row_parts, row_count },
        .projection = PROJECT_ALL };
}

static struct index_entry the_entry(const struct index *index, struct property_list properties)
{
    struct index_entry entry;
    const char *why = NULL;

    ck_assert_int_eq(index_plan_project(index,
                         &(struct entity){ .key = source_key, .timestamp = 1000, .properties = properties },
                         &arena, &entry, &why),
        PROJECTED);
    return entry;
}

/* ---- keys ---- */

static const struct key_case {
    const char *name;
    struct key_part *row_parts;
    size_t row_count;
    enum index_shape shape;
    const char *want;
} key_cases[] = {
    { "no row key declared: the source's keys", NULL, 0, INDEX_COPY, "p.~B1  !r1" },
    { "the source's keys follow the declared ones", by_name, 1, INDEX_COPY, "Ann  !p.~B1  !r1" },
    { "only the missing one follows", by_name_and_row, 2, INDEX_COPY, "Ann  !r1  !p.~B1" },
    { "nothing is missing", by_both, 2, INDEX_COPY, "r1  !p.~B1" },
    { "the time, newest first", by_time, 1, INDEX_COPY, "!t2650467743999998999  !p.~B1  !r1" },
    { "a name without case", by_folded_name, 1, INDEX_COPY, "ann  !p.~B1  !r1" },
    { "a source's key without case is not one entity's", by_folded_keys, 2, INDEX_COPY, "r1  !p.~B1  !r1" },
    { "a list without case", by_folded_name, 1, INDEX_LIST, "ann  !p.~B1  !r1" },
    { "a list of values", by_name, 1, INDEX_LIST, "Ann  !p.~B1  !r1" },
    { "a list always ends with the member", by_both, 2, INDEX_LIST, "r1  !p.~B1  !p.~B1  !r1" },
    { "a list by partition", NULL, 0, INDEX_LIST, "p.~B1  !r1" },
};

START_TEST(an_entry_has_its_keys)
{
    const struct key_case *c = &key_cases[_i];
    struct index index = an_index(c->row_parts, c->row_count);
    struct index_entry entry;

    index.shape = c->shape;
    entry = the_entry(&index, a_person("Bonn", "x"));

    ck_assert(str_equal(entry.key.partition, STR_LITERAL("city:Bonn")));
    ck_assert_msg(
        str_equal(entry.key.row, str_of(c->want)), "%s: got '%.*s'", c->name, STR_ARG(entry.key.row));
    ck_assert_int_eq(entry.index_id, 77);
    ck_assert_int_eq(entry.bucket, entity_key_bucket(77, STR_LITERAL("city:Bonn")));
}
END_TEST

START_TEST(an_entry_in_the_same_partition_shares_bucket_and_partition)
{
    struct index index = an_index(by_name, 1);
    struct index_entry entry;

    index.place = PLACE_SAME_PARTITION;
    index.partition_key = (struct key_parts){ by_partition, 1 };
    entry = the_entry(&index, a_person("Bonn", "x"));

    ck_assert(str_equal(entry.key.partition, source_key.partition));
    ck_assert(str_equal(entry.key.row, STR_LITERAL("Ann  !r1")));
    ck_assert_int_eq(entry.bucket, entity_key_bucket(5, source_key.partition));
}
END_TEST

START_TEST(an_entity_without_the_property_has_no_entry)
{
    struct index index = an_index(by_name, 1);
    struct index_entry entry;
    const char *why = NULL;

    ck_assert_int_eq(
        index_plan_project(&index,
            &(struct entity){ .key = source_key, .timestamp = 1, .properties = a_person(NULL, "x") }, &arena,
            &entry, &why),
        PROJECTED_NOTHING);
}
END_TEST

static struct str repeated(const char *text, size_t times)
{
    struct buf out;

    buf_init(&out, &arena);
    while (times-- > 0)
        buf_append(&out, str_of(text));
    buf_append_byte(&out, 0);
    return str_of(out.data);
}

static const struct long_case {
    const char *letter;
    size_t times;
    enum projection_result want;
} long_cases[] = {
    { "a", 507, PROJECTED },                          /* city: and 507 units */
    { "a", 508, PROJECTED_VIOLATION },                /* 513 units */
    { "\xC3\xA9", 507, PROJECTED },                   /* 512 units, 1019 bytes */
    { "\xE2\x82\xAC", 339, PROJECTED },               /* 1022 bytes */
    { "\xE2\x82\xAC", 340, PROJECTED_VIOLATION },     /* 1025 bytes */
    { "\xF0\x9F\x98\x80", 253, PROJECTED },           /* 511 units, 1017 bytes */
    { "\xF0\x9F\x98\x80", 254, PROJECTED_VIOLATION }, /* 513 units, 1021 bytes */
};

START_TEST(a_key_beyond_the_limits_is_a_violation)
{
    const struct long_case *c = &long_cases[_i];
    struct index index = an_index(by_name, 1);
    struct property_list person = a_person(repeated(c->letter, c->times).data, "x");
    struct index_entry entry;
    const char *why = NULL;

    ck_assert_int_eq(index_plan_project(&index,
                         &(struct entity){ .key = source_key, .timestamp = 1, .properties = person }, &arena,
                         &entry, &why),
        c->want);
    ck_assert_msg(
        c->want == PROJECTED || strstr(why, "be longer than a key may be: City (String) make "), "%s", why);
}
END_TEST

START_TEST(a_value_that_cannot_be_written_is_a_violation)
{
    struct index index = an_index(by_width, 1);
    struct index_entry entry;
    const char *why = NULL;

    ck_assert_int_eq(
        index_plan_project(&index,
            &(struct entity){ .key = source_key, .timestamp = 1, .properties = a_person("Bonn", "x") },
            &arena, &entry, &why),
        PROJECTED_VIOLATION);
    ck_assert_str_eq(why,
        "a property cannot be part of the entry's key: Name is of type String, allowed: an Int32 or Int64 "
        "from 0 to 999");
}
END_TEST

/* Only a wide entity has that much; without the copy it has its entry. */
START_TEST(copies_that_are_too_large_are_a_violation)
{
    struct index index = an_index(by_name, 1);
    const struct row_state state = {
        .live = true, .version = 1, .properties = a_person("Bonn", repeated("x", LIMIT_ENTRY_BYTES).data)
    };
    struct entity_key key;
    const char *why = NULL;

    index.projection = PROJECT_SOME;
    index.names = only_note;
    index.name_count = 1;
    ck_assert(index_plan_violates(&index, &source_key, &state, &arena, &why));
    ck_assert_msg(strstr(why, "the properties of the entry are too large: they have 2097"), "%s", why);
    ck_assert_int_eq(index_plan_key(&index, &source_key, &state, &arena, &key), PROJECTED_VIOLATION);
    index.projection = PROJECT_KEYS_ONLY;
    ck_assert_int_eq(index_plan_key(&index, &source_key, &state, &arena, &key), PROJECTED);
}
END_TEST

/* ---- properties ---- */

static const struct projection_case {
    enum index_shape shape;
    enum projection_kind projection;
    const char *want;
} projection_cases[] = {
    { INDEX_COPY, PROJECT_ALL, "$SourcePartitionKey $SourceRowKey City Name Note " },
    { INDEX_COPY, PROJECT_SOME, "$SourcePartitionKey $SourceRowKey Note " },
    { INDEX_COPY, PROJECT_KEYS_ONLY, "$SourcePartitionKey $SourceRowKey " },
    { INDEX_LIST, PROJECT_ALL, "$SourcePartitionKey $SourceRowKey " },
};

START_TEST(an_entry_carries_the_source_and_the_projection)
{
    const struct projection_case *c = &projection_cases[_i];
    struct index index = an_index(by_name, 1);
    struct index_entry entry;
    struct entity_key source;
    struct property property;
    struct str rest;
    struct buf names;

    index.shape = c->shape;
    index.projection = c->projection;
    index.names = only_note;
    index.name_count = 1;
    entry = the_entry(&index, a_person("Bonn", "x"));

    buf_init(&names, &arena);
    rest = entry.properties.bytes;
    while (property_next(&rest, &property)) {
        buf_append(&names, property.name);
        buf_append(&names, STR_LITERAL(" "));
    }
    ck_assert(str_equal(buf_str(&names), str_of(c->want)));
    ck_assert(index_entry_source(entry.properties, &source));
    ck_assert_int_eq(entity_key_compare(&source, &source_key), 0);
}
END_TEST

START_TEST(what_is_no_entry_has_no_source)
{
    struct entity_key source;

    ck_assert(!index_entry_source(a_person("Bonn", "x"), &source));
    ck_assert(!index_entry_source((struct property_list){ .bytes = STR_EMPTY }, &source));
}
END_TEST

START_TEST(equal_content_has_an_equal_digest)
{
    struct index index = an_index(by_name, 1);
    uint64_t digest = the_entry(&index, a_person("Bonn", "x")).digest;

    ck_assert_uint_eq(digest, the_entry(&index, a_person("Bonn", "x")).digest);
    ck_assert_uint_ne(digest, the_entry(&index, a_person("Bonn", "y")).digest);
    /* Stored digests must stay what they are. */
    ck_assert_uint_eq(digest_of(0, STR_LITERAL("")), 0);
    ck_assert_uint_eq(digest_of(0, STR_LITERAL("hello world")), UINT64_C(0xd3ba2368a832afce));
}
END_TEST

/* ---- does a write change an entry? ---- */

static struct row_state a_state(const char *city, const char *note, int64_t ts)
{
    return (struct row_state){ .live = true, .version = ts, .ts = ts, .properties = a_person(city, note) };
}

static bool affects(const struct index *index, struct row_state before, struct row_state after)
{
    return index_plan_affects(index, &source_key, &before, &after, &arena);
}

START_TEST(only_a_changed_entry_needs_an_intent)
{
    struct index index = an_index(by_name, 1), keys_only = index;
    struct row_state none = { .live = false, .version = 9 };

    keys_only.projection = PROJECT_KEYS_ONLY;
    ck_assert(!affects(&index, none, none));
    ck_assert(affects(&index, none, a_state("Bonn", "x", 1)));
    ck_assert(affects(&index, a_state("Bonn", "x", 1), none));
    ck_assert(!affects(&index, a_state("Bonn", "x", 1), a_state("Bonn", "x", 2)));
    ck_assert(affects(&index, a_state("Bonn", "x", 1), a_state("Bonn", "y", 2)));
    ck_assert(!affects(&keys_only, a_state("Bonn", "x", 1), a_state("Bonn", "y", 2)));
    ck_assert(affects(&keys_only, a_state("Bonn", "x", 1), a_state("Rome", "x", 2)));
    ck_assert(affects(&index, a_state("Bonn", "x", 1), a_state(NULL, "x", 2)));
    ck_assert(!affects(&index, a_state(NULL, "x", 1), a_state(NULL, "y", 2)));
}
END_TEST

START_TEST(an_index_that_keeps_versions_changes_with_every_write)
{
    struct index index = an_index(by_name, 1);
    struct row_state none = { .live = false, .version = 9 };
    struct index_entry before, after;
    struct row_state first = a_state("Bonn", "x", 1), second = a_state("Bonn", "x", 2);

    ck_assert(index_plan_may_keep_versions(&index));
    index.keeps_versions = true;
    ck_assert(!affects(&index, none, none));
    ck_assert(affects(&index, first, second));
    ck_assert(!affects(&index, first, first));
    ck_assert_int_eq(index_plan_project_state(&index, &source_key, &first, &arena, &before), PROJECTED);
    ck_assert_int_eq(index_plan_project_state(&index, &source_key, &second, &arena, &after), PROJECTED);
    ck_assert(before.digest != after.digest);
    ck_assert_uint_eq(after.digest, index_plan_digest(&index, after.properties.bytes, 2, 0));
}
END_TEST

START_TEST(an_entry_without_all_properties_keeps_no_version)
{
    struct index index = an_index(by_name, 1), list = index;

    index.projection = PROJECT_KEYS_ONLY;
    ck_assert(!index_plan_may_keep_versions(&index));
    index.projection = PROJECT_SOME;
    ck_assert(!index_plan_may_keep_versions(&index));
    list.shape = INDEX_LIST;
    ck_assert(!index_plan_may_keep_versions(&list));
}
END_TEST

START_TEST(an_index_by_time_changes_with_every_write)
{
    struct index index = an_index(by_time, 1);

    ck_assert(affects(&index, a_state("Bonn", "x", 1), a_state("Bonn", "x", 2)));
}
END_TEST

START_TEST(a_violation_always_counts_as_a_change)
{
    struct index index = an_index(by_width, 1);

    ck_assert(affects(&index, a_state("Bonn", "x", 1), a_state("Bonn", "x", 2)));
}
END_TEST

/* ---- filters ---- */

static const struct filter *compiled(const char *text)
{
    const struct filter *filter = NULL;
    struct error err = { 0 };

    ck_assert_msg(filter_compile(str_of(text), &arena, &filter, &err) == STATUS_OK, "%s", err.message);
    return filter;
}

/* Of the person Ann in Bonn with the note x and the keys p/1 and r1, written at 1000 ticks. */
static const struct filter_case {
    const char *filter;
    bool matches;
} filter_cases[] = {
    { "", true },
    { "Note eq 'x'", true },
    { "Note eq 'y'", false },
    { "Missing eq 1", false },
    { "not (Missing eq 1)", true },
    { "PartitionKey eq 'p/1' and RowKey ge 'r'", true },
    { "RowKey gt 'r1'", false },
    { "Timestamp lt datetime'2000-01-01T00:00:00Z'", true },
    { "Timestamp gt datetime'2000-01-01T00:00:00Z'", false },
    { "City eq 'Bonn' or exists(Missing)", true },
};

START_TEST(an_entity_that_the_filter_does_not_match_has_no_entry)
{
    const struct filter_case *c = &filter_cases[_i];
    const struct entity entity = {
        .key = source_key, .timestamp = 1000, .properties = a_person("Bonn", "x")
    };
    struct index index = an_index(by_name, 1), strict = an_index(by_width, 1);
    struct row_state state = { .live = true, .ts = 1000, .properties = entity.properties };
    struct index_entry entry;
    const char *why;

    index.filter = strict.filter = compiled(c->filter);
    ck_assert_int_eq(index_plan_project(&index, &entity, &arena, &entry, &why),
        c->matches ? PROJECTED : PROJECTED_NOTHING);
    ck_assert_int_eq(index_plan_project(&strict, &entity, &arena, &entry, &why),
        c->matches ? PROJECTED_VIOLATION : PROJECTED_NOTHING);
    ck_assert_int_eq(index_plan_violates(&strict, &source_key, &state, &arena, &why), c->matches);
}
END_TEST

START_TEST(a_change_of_match_is_a_change_of_the_entry)
{
    struct index index = an_index(by_name, 1);
    struct row_state none = { .live = false, .version = 9 };
    struct row_state in = a_state("Bonn", "x", 1), out = a_state("Bonn", "y", 2);
    struct index_change change;

    index.projection = PROJECT_KEYS_ONLY;
    index.filter = compiled("Note eq 'x'");
    ck_assert(affects(&index, none, in));
    ck_assert(affects(&index, in, none));
    ck_assert(affects(&index, in, out));
    ck_assert(affects(&index, out, in));
    ck_assert(!affects(&index, none, out));
    ck_assert(!affects(&index, out, none));
    ck_assert(!affects(&index, out, a_state("Rome", "y", 3)));
    ck_assert(!affects(&index, in, a_state("Bonn", "x", 3)));
    change = index_plan_change(&index, &source_key, &in, &out, &arena);
    ck_assert(change.was == PROJECTED && change.is == PROJECTED_NOTHING && change.changes && !change.moves);
}
END_TEST

/* ---- manifests ---- */

START_TEST(a_manifest_comes_back)
{
    struct manifest_item items[] = {
        { 1, { STR_LITERAL("p"), STR_LITERAL("r") }, UINT64_MAX, { "beside" } },
        { INT64_MAX, { STR_EMPTY, STR_LITERAL("a  !b") }, 0x0123456789ABCDEF, { { 0 } } },
    };
    struct manifest manifest = { items, 2 }, back, empty = { 0 };
    struct str bytes = manifest_encode(&manifest, &arena);

    ck_assert(manifest_decode(bytes, &arena, &back));
    ck_assert_uint_eq(back.count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(back.items[i].index_id, items[i].index_id);
        ck_assert_uint_eq(back.items[i].digest, items[i].digest);
        ck_assert_int_eq(entity_key_compare(&back.items[i].key, &items[i].key), 0);
        ck_assert(!row_ctid_is_known(&back.items[i].ctid));
    }
    ck_assert_uint_eq(manifest_encode(&empty, &arena).len, 0);
    ck_assert(manifest_decode(STR_EMPTY, &arena, &back));
    ck_assert_uint_eq(back.count, 0);
}
END_TEST

START_TEST(foreign_bytes_are_no_manifest)
{
    struct manifest_item item = { 1, { STR_LITERAL("p"), STR_LITERAL("r") }, 7, { { 0 } } };
    struct manifest manifest = { &item, 1 }, back;
    struct str bytes = manifest_encode(&manifest, &arena);

    for (size_t len = 1; len < bytes.len; len++)
        ck_assert(!manifest_decode(str_of_bytes(bytes.data, len), &arena, &back));
    ck_assert(!manifest_decode(STR_LITERAL("\x02\x01\x00\x00zzzzzzzz"), &arena, &back));
}
END_TEST

static const struct {
    const char *name, *bytes; /* beside a manifest of two items */
    const char *ctids[2];     /* NULL: not known */
} ctid_cases[] = {
    { "one for each", "ctid-1ctid-2", { "ctid-1", "ctid-2" } },
    { "none", "", { NULL, NULL } },
    { "too few", "ctid-1", { NULL, NULL } },
    { "too many", "ctid-1ctid-2ctid-3", { NULL, NULL } },
    { "a broken one", "ctid-1ctid-", { NULL, NULL } },
};

START_TEST(the_ctids_beside_a_manifest_are_those_of_its_items)
{
    struct manifest_item items[2] = { { .index_id = 1, .ctid = { "before" } }, { .index_id = 2 } };
    struct manifest manifest = { items, 2 };
    struct str bytes = str_of(ctid_cases[_i].bytes);

    manifest_ctids_decode(bytes, &manifest);

    for (size_t i = 0; i < 2; i++) {
        struct row_ctid wanted =
            row_ctid_of(ctid_cases[_i].ctids[i] ? str_of(ctid_cases[_i].ctids[i]) : STR_EMPTY);

        ck_assert_msg(memcmp(&items[i].ctid, &wanted, sizeof(wanted)) == 0, "%s", ctid_cases[_i].name);
    }
    ck_assert(
        str_equal(manifest_ctids_encode(&manifest, &arena), ctid_cases[_i].ctids[0] ? bytes : STR_EMPTY));
}
END_TEST

Suite *test_index_plan_suite(void)
{
    Suite *suite = suite_create("index_plan");
    TCase *tc = tcase_create("index_plan");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, an_entry_has_its_keys, 0, ARRAY_LEN(key_cases));
    tcase_add_test(tc, an_entry_in_the_same_partition_shares_bucket_and_partition);
    tcase_add_test(tc, an_entity_without_the_property_has_no_entry);
    tcase_add_loop_test(tc, a_key_beyond_the_limits_is_a_violation, 0, ARRAY_LEN(long_cases));
    tcase_add_test(tc, a_value_that_cannot_be_written_is_a_violation);
    tcase_add_test(tc, copies_that_are_too_large_are_a_violation);
    tcase_add_loop_test(tc, an_entry_carries_the_source_and_the_projection, 0, ARRAY_LEN(projection_cases));
    tcase_add_test(tc, what_is_no_entry_has_no_source);
    tcase_add_test(tc, equal_content_has_an_equal_digest);
    tcase_add_test(tc, only_a_changed_entry_needs_an_intent);
    tcase_add_test(tc, an_index_that_keeps_versions_changes_with_every_write);
    tcase_add_test(tc, an_entry_without_all_properties_keeps_no_version);
    tcase_add_test(tc, an_index_by_time_changes_with_every_write);
    tcase_add_test(tc, a_violation_always_counts_as_a_change);
    tcase_add_loop_test(
        tc, an_entity_that_the_filter_does_not_match_has_no_entry, 0, ARRAY_LEN(filter_cases));
    tcase_add_test(tc, a_change_of_match_is_a_change_of_the_entry);
    tcase_add_test(tc, a_manifest_comes_back);
    tcase_add_test(tc, foreign_bytes_are_no_manifest);
    tcase_add_loop_test(tc, the_ctids_beside_a_manifest_are_those_of_its_items, 0, ARRAY_LEN(ctid_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
