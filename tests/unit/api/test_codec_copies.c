/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of api/codec_copies.c, by declarations of indexes.
 */
#include "api/codec_index.h"

#include "base/wire.h"
#include "declaration_fixture.h"
#include "domain/limits.h"

static Tavola__V1__CopyKey *a_property(const char *name)
{
    Tavola__V1__CopyKey *out = ARENA_NEW(&arena, Tavola__V1__CopyKey);

    tavola__v1__copy_key__init(out);
    out->source_case = TAVOLA__V1__COPY_KEY__SOURCE_PROPERTY;
    out->property = text(name);
    return out;
}

static Tavola__V1__CopyKey *a_literal(const char *key)
{
    Tavola__V1__CopyKey *out = a_property("");

    out->source_case = TAVOLA__V1__COPY_KEY__SOURCE_LITERAL;
    out->literal = text(key);
    return out;
}

static void put_pair(Tavola__V1__CopyRule *rule, const char *to, const char *from)
{
    struct buf entry;

    buf_init(&entry, &arena);
    wire_write_bytes(&entry, 1, str_of(to));
    wire_write_bytes(&entry, 2, str_of(from));
    rule->properties[rule->n_properties++] = codec_bytes(buf_str(&entry));
}

/* Departments of which each names the manager in the company whose name it copies. */
static Tavola__V1__Index *a_declaration(void)
{
    Tavola__V1__Index *out = ARENA_NEW(&arena, Tavola__V1__Index);

    tavola__v1__index__init(out);
    out->name = text("ManagerOf");
    out->table = text("Departments");
    out->shape = TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_COPY;
    out->copies = ARENA_NEW(&arena, Tavola__V1__CopyRule);
    tavola__v1__copy_rule__init(out->copies);
    out->copies->source_table = text("Managers");
    out->copies->source_partition_key = a_literal("company");
    out->copies->source_row_key = a_property("Manager");
    out->copies->properties = ARENA_ARRAY(&arena, ProtobufCBinaryData, 2 * LIMIT_COPY_PROPERTIES);
    put_pair(out->copies, "ManagerName", "Name");
    return out;
}

static void put_part(Tavola__V1__Index *index, const char *property)
{
    if (!index->partition_key)
        index->partition_key = ARENA_ARRAY(&arena, Tavola__V1__KeyPart *, 2);
    index->partition_key[index->n_partition_key++] = a_part(property);
}

static void no_source_table(Tavola__V1__Index *index)
{
    index->copies->source_table = text("");
}
static void no_key(Tavola__V1__Index *index)
{
    index->copies->source_partition_key = NULL;
}
static void key_of_nothing(Tavola__V1__Index *index)
{
    index->copies->source_row_key->source_case = TAVOLA__V1__COPY_KEY__SOURCE__NOT_SET;
}
static void forbidden_literal(Tavola__V1__Index *index)
{
    index->copies->source_partition_key = a_literal("a/b");
}
static void literals_alone(Tavola__V1__Index *index)
{
    index->copies->source_row_key = a_literal("boss");
}
static void named_by_no_property(Tavola__V1__Index *index)
{
    index->copies->source_row_key = a_property("a b");
}
static void named_by_timestamp(Tavola__V1__Index *index)
{
    index->copies->source_row_key = a_property("Timestamp");
}
static void no_copies(Tavola__V1__Index *index)
{
    index->copies->n_properties = 0;
}
static void many_copies(Tavola__V1__Index *index)
{
    for (int i = 0; i < LIMIT_COPY_PROPERTIES; i++)
        put_pair(index->copies, arena_format(&arena, "C%d", i).data, "Name");
}
static void copy_twice(Tavola__V1__Index *index)
{
    put_pair(index->copies, "ManagerName", "Title");
}
static void copy_of_a_key(Tavola__V1__Index *index)
{
    put_pair(index->copies, "Copy", "RowKey");
}
static void copy_over_a_key(Tavola__V1__Index *index)
{
    put_pair(index->copies, "PartitionKey", "Name");
}
static void copy_over_the_name(Tavola__V1__Index *index)
{
    put_pair(index->copies, "Manager", "Name");
}
static void version_over_the_name(Tavola__V1__Index *index)
{
    index->copies->version_property = text("Manager");
}
static void version_over_a_copy(Tavola__V1__Index *index)
{
    index->copies->version_property = text("ManagerName");
}
static void version_without_a_name(Tavola__V1__Index *index)
{
    index->copies->version_property = text("Timestamp");
}
static void as_list(Tavola__V1__Index *index)
{
    index->shape = TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_LIST;
}
static void in_the_same_partition(Tavola__V1__Index *index)
{
    index->place = TAVOLA__V1__INDEX_PLACE__INDEX_PLACE_SAME_PARTITION;
}
static void eventual(Tavola__V1__Index *index)
{
    index->consistency = TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL;
}
static void with_a_row_key(Tavola__V1__Index *index)
{
    index->row_key = ARENA_ARRAY(&arena, Tavola__V1__KeyPart *, 1);
    index->row_key[index->n_row_key++] = a_part("Size");
}
static void unique(Tavola__V1__Index *index)
{
    index->unique = 1;
}
static void filtered(Tavola__V1__Index *index)
{
    index->filter = text("Size gt 5");
}
static void projected(Tavola__V1__Index *index)
{
    index->projection = ARENA_NEW(&arena, Tavola__V1__Projection);
    tavola__v1__projection__init(index->projection);
    index->projection->columns_case = TAVOLA__V1__PROJECTION__COLUMNS_SOME;
}
static void another_key(Tavola__V1__Index *index)
{
    put_part(index, "Boss");
}
static void longer_key(Tavola__V1__Index *index)
{
    put_part(index, "Manager");
    put_part(index, "Boss");
}
static void folded_key(Tavola__V1__Index *index)
{
    put_part(index, "Manager");
    index->partition_key[0]->fold_case = 1;
}

static const struct refusal_case refusal_cases[] = {
    { "no source table", no_source_table, "OUT_OF_RANGE_INPUT", "", "index.copies.source_table" },
    { "no key of the source", no_key, "INVALID_INPUT", "a literal or a property",
        "index.copies.source_partition_key" },
    { "a key of nothing", key_of_nothing, "INVALID_INPUT", "a literal or a property",
        "index.copies.source_row_key" },
    { "a literal that is no key", forbidden_literal, "OUT_OF_RANGE_INPUT", "not allowed in keys",
        "index.copies.source_partition_key" },
    { "literals alone", literals_alone, "INVALID_INPUT", "at least one is a property",
        "index.copies.source_row_key" },
    { "no name of a property", named_by_no_property, "PROPERTY_NAME_INVALID", "",
        "index.copies.source_row_key" },
    { "named by the Timestamp", named_by_timestamp, "PROPERTY_NAME_INVALID", "",
        "index.copies.source_row_key" },
    { "no copies", no_copies, "INVALID_INPUT", "0 properties, allowed are 1 to 64",
        "index.copies.properties" },
    { "65 copies", many_copies, "INVALID_INPUT", "65", "index.copies.properties" },
    { "a copy twice", copy_twice, "INVALID_INPUT", "ManagerName twice", "index.copies.properties" },
    { "a copy of a key", copy_of_a_key, "PROPERTY_NAME_INVALID", "", "index.copies.properties" },
    { "a copy over a key", copy_over_a_key, "PROPERTY_NAME_INVALID", "", "index.copies.properties" },
    { "a copy over the name of the source", copy_over_the_name, "INVALID_INPUT", "names the source",
        "index.copies.properties" },
    { "a version over the name of the source", version_over_the_name, "INVALID_INPUT", "names the source",
        "index.copies.version_property" },
    { "a version over a copy", version_over_a_copy, "INVALID_INPUT", "of its own",
        "index.copies.version_property" },
    { "a version in the Timestamp", version_without_a_name, "PROPERTY_NAME_INVALID", "",
        "index.copies.version_property" },
    { "a list", as_list, "INVALID_INPUT", "COPY", "index.shape" },
    { "in the same partition", in_the_same_partition, "INVALID_INPUT", "OTHER_PARTITION", "index.place" },
    { "eventual", eventual, "INVALID_INPUT", "STRONG", "index.consistency" },
    { "a row key", with_a_row_key, "INVALID_INPUT", "none", "index.row_key" },
    { "unique", unique, "INVALID_INPUT", "false", "index.unique" },
    { "a filter", filtered, "INVALID_INPUT", "none", "index.filter" },
    { "some properties", projected, "INVALID_INPUT", "keys_only", "index.projection" },
    { "another key", another_key, "INVALID_INPUT", "leave it out", "index.partition_key" },
    { "a longer key", longer_key, "INVALID_INPUT", "leave it out", "index.partition_key" },
    { "a key without case", folded_key, "INVALID_INPUT", "leave it out", "index.partition_key" },
};

START_TEST(bad_rules_are_refused)
{
    assert_spoilt_is_refused(&refusal_cases[_i], a_declaration());
}
END_TEST

START_TEST(what_follows_from_a_rule_is_filled_in)
{
    Tavola__V1__Index *message = a_declaration();
    struct index index;

    message->shape = TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_UNSPECIFIED;
    message->copies->source_partition_key = a_property("PartitionKey");
    ck_assert_int_eq(codec_index_decode(message, &arena, &index, &err), STATUS_OK);

    ck_assert_int_eq(index.shape, INDEX_COPY);
    ck_assert(index.place == PLACE_OTHER_PARTITION && index_is_strong(&index));
    ck_assert_int_eq(index.projection, PROJECT_KEYS_ONLY);
    ck_assert_uint_eq(index.partition_key.count, 2);
    ck_assert(str_equal(index.partition_key.parts[0].text, STR_LITERAL("PartitionKey")));
    ck_assert(str_equal(index.partition_key.parts[1].text, STR_LITERAL("Manager")));
    ck_assert_uint_eq(index.row_key.count, 0);
}
END_TEST

START_TEST(a_rule_comes_back)
{
    Tavola__V1__Index *message = a_declaration(), *back;
    struct index index;

    put_part(message, "Manager");
    put_pair(message->copies, "Grade", "Level");
    message->copies->keep = 1;
    message->copies->version_property = text("ManagerVersion");
    ck_assert_int_eq(codec_index_decode(message, &arena, &index, &err), STATUS_OK);
    back = codec_index_message(index.definition, &arena);

    ck_assert_int_eq(back->consistency, TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG);
    ck_assert_uint_eq(back->n_partition_key, 1);
    ck_assert(back->projection->keys_only);
    ck_assert(str_equal(codec_str(back->copies->source_table), STR_LITERAL("Managers")));
    ck_assert(str_equal(codec_str(back->copies->source_partition_key->literal), STR_LITERAL("company")));
    ck_assert(str_equal(codec_str(back->copies->source_row_key->property), STR_LITERAL("Manager")));
    ck_assert(back->copies->keep);
    ck_assert(str_equal(codec_str(back->copies->version_property), STR_LITERAL("ManagerVersion")));
    ck_assert_uint_eq(back->copies->n_properties, 2);
    ck_assert(str_equal(wire_find_bytes(codec_str(back->copies->properties[0]), 1), STR_LITERAL("Grade")));
    ck_assert(str_equal(wire_find_bytes(codec_str(back->copies->properties[1]), 2), STR_LITERAL("Name")));
}
END_TEST

START_TEST(an_index_without_a_rule_shows_none)
{
    Tavola__V1__Index *message = a_declaration();
    struct index index;

    message->copies = NULL;
    put_part(message, "Manager");
    ck_assert_int_eq(codec_index_decode(message, &arena, &index, &err), STATUS_OK);
    ck_assert_ptr_null(index.copies);
    ck_assert_ptr_null(codec_index_message(index.definition, &arena)->copies);
}
END_TEST

Suite *test_codec_copies_suite(void)
{
    Suite *suite = suite_create("codec_copies");
    TCase *tc = tcase_create("codec_copies");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, bad_rules_are_refused, 0, ARRAY_LEN(refusal_cases));
    tcase_add_test(tc, what_follows_from_a_rule_is_filled_in);
    tcase_add_test(tc, a_rule_comes_back);
    tcase_add_test(tc, an_index_without_a_rule_shows_none);
    suite_add_tcase(suite, tc);
    return suite;
}
