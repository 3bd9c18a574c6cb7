/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of api/codec_index.c.
 */
#include "api/codec_index.h"

#include "declaration_fixture.h"
#include "domain/indexes/index_codec.h"
#include "domain/indexes/index_shape.h"

static Tavola__V1__Index *a_declaration(void)
{
    Tavola__V1__Index *out = ARENA_NEW(&arena, Tavola__V1__Index);

    tavola__v1__index__init(out);
    out->name = text("ByColour");
    out->table = text("Things");
    out->shape = TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_COPY;
    out->n_partition_key = 1;
    out->partition_key = ARENA_ARRAY(&arena, Tavola__V1__KeyPart *, 20);
    for (size_t i = 0; i < 20; i++)
        out->partition_key[i] = a_part("Colour");
    return out;
}

static Tavola__V1__Projection *a_projection(size_t count, const char *const *names)
{
    Tavola__V1__Projection *out = ARENA_NEW(&arena, Tavola__V1__Projection);

    tavola__v1__projection__init(out);
    out->columns_case = TAVOLA__V1__PROJECTION__COLUMNS_SOME;
    out->some = ARENA_NEW(&arena, Tavola__V1__PropertyNames);
    tavola__v1__property_names__init(out->some);
    out->some->n_names = count;
    out->some->names = ARENA_ARRAY(&arena, ProtobufCBinaryData, count);
    for (size_t i = 0; i < count; i++)
        out->some->names[i] = text(names[i]);
    return out;
}

static void break_name(Tavola__V1__Index *index)
{
    index->name = text("a_b");
}
static void no_table(Tavola__V1__Index *index)
{
    index->table = text("");
}
static void no_shape(Tavola__V1__Index *index)
{
    index->shape = 0;
}
static void shape_of_nobody(Tavola__V1__Index *index)
{
    index->shape = 9;
}
static void same_partition(Tavola__V1__Index *index)
{
    index->place = TAVOLA__V1__INDEX_PLACE__INDEX_PLACE_SAME_PARTITION;
}
static void in_partition(Tavola__V1__Index *index)
{
    same_partition(index);
    index->partition_key[0] = a_part("PartitionKey");
}
static void same_partition_and_more(Tavola__V1__Index *index)
{
    in_partition(index);
    index->n_partition_key = 2;
}
static void same_partition_inverted(Tavola__V1__Index *index)
{
    in_partition(index);
    index->partition_key[0]->inverted = 1;
}
static void same_partition_literal(Tavola__V1__Index *index)
{
    in_partition(index);
    index->partition_key[0]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
}
static void same_partition_later(Tavola__V1__Index *index)
{
    in_partition(index);
    index->consistency = TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL;
}
static void rule_of_nobody(Tavola__V1__Index *index)
{
    index->on_violation = (Tavola__V1__OnViolation)3;
}
static void place_of_nobody(Tavola__V1__Index *index)
{
    index->place = (Tavola__V1__IndexPlace)-1;
}
static void reject(Tavola__V1__Index *index)
{
    index->on_violation = TAVOLA__V1__ON_VIOLATION__ON_VIOLATION_REJECT;
}
static void strong(Tavola__V1__Index *index)
{
    index->consistency = TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG;
}
static void unique(Tavola__V1__Index *index)
{
    index->unique = 1;
    index->shape = TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_LIST;
}
static void unique_literal(Tavola__V1__Index *index)
{
    index->unique = 1;
    index->partition_key[0]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
}
static void filtered(Tavola__V1__Index *index)
{
    index->filter = text("Size gt 5");
}
static void filtered_wrong(Tavola__V1__Index *index)
{
    index->filter = text("Size gt");
}
static void filtered_by_no_boolean(Tavola__V1__Index *index)
{
    index->filter = text("RowKey");
}
static void filtered_by_no_function(Tavola__V1__Index *index)
{
    index->filter = text("exits(A)");
}
static void filtered_by_unsupported(Tavola__V1__Index *index)
{
    index->filter = text("A eq B");
}
static void filtered_at_length(Tavola__V1__Index *index)
{
    index->filter = codec_bytes(arena_format(&arena, "A eq 1%*s", 4091, ""));
}
static void folded(Tavola__V1__Index *index)
{
    index->partition_key[0]->fold_case = 1;
}
static void folded_literal(Tavola__V1__Index *index)
{
    folded(index);
    index->partition_key[0]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
    index->partition_key[0]->literal = text("A");
}
static void folded_number(Tavola__V1__Index *index)
{
    folded(index);
    index->partition_key[0]->width = 3;
}
static void folded_and_inverted(Tavola__V1__Index *index)
{
    folded(index);
    index->partition_key[0]->inverted = 1;
}
static void same_partition_folded(Tavola__V1__Index *index)
{
    same_partition_inverted(index);
    index->partition_key[0]->inverted = 0;
    folded(index);
}
static void no_parts(Tavola__V1__Index *index)
{
    index->n_partition_key = 0;
}
static void many_parts(Tavola__V1__Index *index)
{
    index->n_partition_key = 17;
}
static void part_of_nothing(Tavola__V1__Index *index)
{
    index->partition_key[0]->source_case = TAVOLA__V1__KEY_PART__SOURCE__NOT_SET;
}
static void nameless_part(Tavola__V1__Index *index)
{
    index->partition_key[0]->property = text("");
}
static void misnamed_part(Tavola__V1__Index *index)
{
    index->partition_key[0]->property = text("a b");
}
static void forbidden_literal(Tavola__V1__Index *index)
{
    index->partition_key[0]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
    index->partition_key[0]->literal = text("a/b");
}
static void part_that_is_not_utf8(Tavola__V1__Index *index)
{
    index->partition_key[0]->property = text("\xff");
}
static void too_wide(Tavola__V1__Index *index)
{
    index->partition_key[0]->width = 20;
}
static void wide_literal(Tavola__V1__Index *index)
{
    index->partition_key[0]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
    index->partition_key[0]->width = 3;
}
static void projected_list(Tavola__V1__Index *index)
{
    index->shape = TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_LIST;
    index->projection = a_projection(1, (const char *const[]){ "A" });
}
static void list_of_everything(Tavola__V1__Index *index)
{
    index->shape = TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_LIST;
    index->partition_key[0]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
}
static void empty_projection(Tavola__V1__Index *index)
{
    index->projection = a_projection(0, NULL);
}
static void spoilt_row_key(Tavola__V1__Index *index)
{
    index->n_row_key = 2;
    index->row_key = ARENA_ARRAY(&arena, Tavola__V1__KeyPart *, 2);
    index->row_key[0] = a_part("Size");
    index->row_key[1] = a_part("9");
}
static void inverted_literal(Tavola__V1__Index *index)
{
    index->partition_key[0]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
    index->partition_key[0]->inverted = 1;
}
static void nameless_projection(Tavola__V1__Index *index)
{
    index->projection = a_projection(2, (const char *const[]){ "A", "" });
}
static void name_twice(Tavola__V1__Index *index)
{
    index->projection = a_projection(3, (const char *const[]){ "A", "B", "A" });
}
static void keys_only_false(Tavola__V1__Index *index)
{
    index->projection = a_projection(0, NULL);
    index->projection->columns_case = TAVOLA__V1__PROJECTION__COLUMNS_KEYS_ONLY;
    index->projection->keys_only = 0;
}

static const struct refusal_case refusal_cases[] = {
    { "a bad name", break_name, "INVALID_RESOURCE_NAME", "", "index.name" },
    { "no table", no_table, "OUT_OF_RANGE_INPUT", "", "index.table" },
    { "no shape", no_shape, "INVALID_INPUT", "index.shape", "index.shape" },
    { "an unknown shape", shape_of_nobody, "INVALID_INPUT", "index.shape", "index.shape" },
    { "another key in the same partition", same_partition, "INVALID_INPUT", "PartitionKey",
        "index.partition_key" },
    { "a second part in the same partition", same_partition_and_more, "INVALID_INPUT", "one part",
        "index.partition_key" },
    { "an inverted key in the same partition", same_partition_inverted, "INVALID_INPUT", "inverted",
        "index.partition_key" },
    { "a literal in the same partition", same_partition_literal, "INVALID_INPUT", "one part",
        "index.partition_key" },
    { "the same partition, later", same_partition_later, "INVALID_INPUT", "STRONG", "index.consistency" },
    { "an unknown place", place_of_nobody, "INVALID_INPUT", "index.place", "index.place" },
    { "an unknown rule", rule_of_nobody, "INVALID_INPUT", "index.on_violation", "index.on_violation" },
    { "a unique list", unique, "INVALID_INPUT", "LIST", "index.unique" },
    { "a unique literal", unique_literal, "INVALID_INPUT", "property", "index.unique" },
    { "half a filter", filtered_wrong, "INVALID_INPUT", "filter", "index.filter" },
    { "a filter that is not Boolean", filtered_by_no_boolean, "INVALID_INPUT", "Boolean", "index.filter" },
    { "a filter with a function that is none", filtered_by_no_function, "NOT_IMPLEMENTED", "exits",
        "index.filter" },
    { "a filter of two properties", filtered_by_unsupported, "NOT_IMPLEMENTED", "literal", "index.filter" },
    { "a filter of 4,097 bytes", filtered_at_length, "INVALID_INPUT", "4097", "index.filter" },
    { "a literal without case", folded_literal, "INVALID_INPUT", "a literal",
        "index.partition_key[0].fold_case" },
    { "a width without case", folded_number, "INVALID_INPUT", "width", "index.partition_key[0].fold_case" },
    { "inverted without case", folded_and_inverted, "INVALID_INPUT", "inverted",
        "index.partition_key[0].fold_case" },
    { "a key without case in the same partition", same_partition_folded, "INVALID_INPUT", "fold_case",
        "index.partition_key" },
    { "no parts", no_parts, "INVALID_INPUT", "index.partition_key", "index.partition_key" },
    { "17 parts", many_parts, "INVALID_INPUT", "16", "index.partition_key" },
    { "a part of nothing", part_of_nothing, "INVALID_INPUT", "literal or a property",
        "index.partition_key[0]" },
    { "a property without name", nameless_part, "INVALID_INPUT", "empty", "index.partition_key[0].property" },
    { "a name no property can have", misnamed_part, "PROPERTY_NAME_INVALID", "a b",
        "index.partition_key[0].property" },
    { "a literal that keys may not hold", forbidden_literal, "OUT_OF_RANGE_INPUT", "literal",
        "index.partition_key[0].literal" },
    { "a name that is not UTF-8", part_that_is_not_utf8, "INVALID_INPUT", "UTF-8",
        "index.partition_key[0].property" },
    { "20 digits", too_wide, "INVALID_INPUT", "width", "index.partition_key[0].width" },
    { "a wide literal", wide_literal, "INVALID_INPUT", "literals", "index.partition_key[0].width" },
    { "a projected list", projected_list, "INVALID_INPUT", "index.projection", "index.projection" },
    { "a list of everything", list_of_everything, "INVALID_INPUT", "LIST", "index.partition_key" },
    { "a row key's second part", spoilt_row_key, "PROPERTY_NAME_INVALID", "9", "index.row_key[1].property" },
    { "an inverted literal", inverted_literal, "INVALID_INPUT", "literals",
        "index.partition_key[0].inverted" },
    { "a projected name that is none", nameless_projection, "INVALID_INPUT", "[1]",
        "index.projection.some.names[1]" },
    { "a projection of no names", empty_projection, "INVALID_INPUT", "0 names",
        "index.projection.some.names" },
    { "a name twice", name_twice, "INVALID_INPUT", "twice", "index.projection.some.names" },
    { "keys_only false", keys_only_false, "INVALID_INPUT", "keys_only", "index.projection.keys_only" },
};

START_TEST(bad_declarations_are_refused)
{
    assert_spoilt_is_refused(&refusal_cases[_i], a_declaration());
}
END_TEST

START_TEST(a_declaration_comes_back)
{
    Tavola__V1__Index *message = a_declaration();
    Tavola__V1__Index *back;
    struct index index;

    message->n_row_key = 2;
    message->row_key = ARENA_ARRAY(&arena, Tavola__V1__KeyPart *, 2);
    message->row_key[0] = a_part("Size");
    message->row_key[0]->width = 4;
    message->row_key[0]->inverted = 1;
    folded(message);
    message->row_key[1] = a_part("");
    message->row_key[1]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
    message->row_key[1]->literal = text("x-y");
    message->projection = a_projection(2, (const char *const[]){ "Zoom", "Age" });
    filtered(message);
    ck_assert_int_eq(codec_index_decode(message, &arena, &index, &err), STATUS_OK);
    back = codec_index_message(index.definition, &arena);

    ck_assert_int_eq(index.place, PLACE_OTHER_PARTITION);
    ck_assert_int_eq(back->consistency, TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL);
    ck_assert_int_eq(back->on_violation, TAVOLA__V1__ON_VIOLATION__ON_VIOLATION_SKIP);
    ck_assert(str_equal(codec_str(back->name), STR_LITERAL("ByColour")));
    ck_assert(str_equal(codec_str(back->table), STR_LITERAL("Things")));
    ck_assert(str_equal(codec_str(back->filter), STR_LITERAL("Size gt 5")) && index.filter);
    ck_assert_uint_eq(back->n_row_key, 2);
    ck_assert_int_eq(back->row_key[0]->width, 4);
    ck_assert(back->row_key[0]->inverted && !back->row_key[0]->fold_case);
    ck_assert(back->partition_key[0]->fold_case && index.partition_key.parts[0].fold_case);
    ck_assert(str_equal(codec_str(back->row_key[1]->literal), STR_LITERAL("x-y")));
    ck_assert(str_equal(codec_str(back->projection->some->names[0]), STR_LITERAL("Age")));
    ck_assert(str_equal(codec_str(back->projection->some->names[1]), STR_LITERAL("Zoom")));
}
END_TEST

START_TEST(an_index_in_the_same_partition_is_strong)
{
    Tavola__V1__Index *message = a_declaration();
    Tavola__V1__Index *back;
    struct index index;

    in_partition(message);
    message->n_row_key = 1;
    message->row_key = ARENA_ARRAY(&arena, Tavola__V1__KeyPart *, 1);
    message->row_key[0] = a_part("Size");
    reject(message);
    message->unique = 1;
    ck_assert_int_eq(codec_index_decode(message, &arena, &index, &err), STATUS_OK);
    back = codec_index_message(index.definition, &arena);

    ck_assert(index.place == PLACE_SAME_PARTITION && index_is_strong(&index));
    ck_assert_int_eq(index.on_violation, VIOLATION_REJECT);
    ck_assert(index.is_unique && back->unique);
    ck_assert_int_eq(back->place, TAVOLA__V1__INDEX_PLACE__INDEX_PLACE_SAME_PARTITION);
    ck_assert_int_eq(back->consistency, TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG);
    ck_assert_int_eq(back->on_violation, TAVOLA__V1__ON_VIOLATION__ON_VIOLATION_REJECT);
}
END_TEST

/* An index that is being made STRONG is shown with the consistency that look-ups can rely on. */
START_TEST(an_index_in_other_partitions_may_be_strong)
{
    static const struct {
        enum index_consistency stored;
        Tavola__V1__IndexConsistency told, becoming;
    } cases[] = {
        { INDEX_EVENTUAL, TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL, 0 },
        { INDEX_STRONG, TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG, 0 },
        { INDEX_BECOMING_STRONG, TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL,
            TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG },
    };
    Tavola__V1__Index *message = a_declaration();
    struct index_view view = { .lag.open_intents = -1 };
    struct index index;

    strong(message);
    ck_assert_int_eq(codec_index_decode(message, &arena, &index, &err), STATUS_OK);
    ck_assert(index.place == PLACE_OTHER_PARTITION && index_is_strong(&index));
    index.consistency = cases[_i].stored;
    view.definition = index_codec_encode(&index, &arena);

    ck_assert_int_eq(codec_index_message(view.definition, &arena)->consistency, cases[_i].told);
    ck_assert_int_eq(codec_index_status_message(&view, &arena)->becoming, cases[_i].becoming);
}
END_TEST

START_TEST(a_change_names_a_consistency)
{
    static const int valid[] = { 0, INDEX_STRONG + 1, INDEX_EVENTUAL + 1 };
    Tavola__V1__UpdateIndexRequest request = TAVOLA__V1__UPDATE_INDEX_REQUEST__INIT;
    enum index_consistency out = INDEX_BECOMING_STRONG;
    bool is_valid = _i == 1 || _i == 2;

    request.consistency = (Tavola__V1__IndexConsistency)_i;
    ck_assert_int_eq(codec_index_update_decode(&request, &out, &err), is_valid ? STATUS_OK : STATUS_INVALID);
    if (is_valid)
        ck_assert_int_eq(out, valid[_i] - 1);
    else
        ck_assert_str_eq(err.field, "consistency");
}
END_TEST

START_TEST(damaged_declarations_are_noticed)
{
    Tavola__V1__Index *message = a_declaration();
    struct index index;

    ck_assert_int_eq(codec_index_decode(message, &arena, &index, &err), STATUS_OK);
    for (size_t len = 0; len + 2 < index.definition.len; len++) {
        struct index back = { 0 };
        struct str cut = str_of_bytes(index.definition.data, len);

        if (index_codec_decode(cut, &arena, &back))
            ck_assert(str_equal(back.name, index.name)); /* a whole number of fields is left */
    }
    ck_assert_ptr_null(codec_index_message(STR_LITERAL("\x0a\x09what"), &arena));
    ck_assert_ptr_null(codec_index_message(STR_EMPTY, &arena));
}
END_TEST

/* ---- look-ups ---- */

START_TEST(a_range_has_one_type)
{
    Tavola__V1__LookupIndexRequest request = TAVOLA__V1__LOOKUP_INDEX_REQUEST__INIT;
    Tavola__V1__ValueRange range = TAVOLA__V1__VALUE_RANGE__INIT;
    Tavola__V1__Value low = TAVOLA__V1__VALUE__INIT, high = TAVOLA__V1__VALUE__INIT;
    struct operation_lookup out;

    low.kind_case = TAVOLA__V1__VALUE__KIND_INT32_VALUE;
    high.kind_case = TAVOLA__V1__VALUE__KIND_INT64_VALUE;
    range.at_least = &low;
    range.below = &high;
    request.range = &range;
    assert_refused(codec_index_lookup_decode(&request, &arena, &out, &err), "INVALID_INPUT");
    ck_assert_str_eq(err.field, "range");
    range.below = NULL;
    ck_assert_int_eq(codec_index_lookup_decode(&request, &arena, &out, &err), STATUS_OK);
    ck_assert(out.range.has_at_least && !out.range.has_below);
}
END_TEST

START_TEST(a_value_that_is_none_is_named)
{
    Tavola__V1__LookupIndexRequest request = TAVOLA__V1__LOOKUP_INDEX_REQUEST__INIT;
    Tavola__V1__ValueRange range = TAVOLA__V1__VALUE_RANGE__INIT;
    Tavola__V1__Value good = TAVOLA__V1__VALUE__INIT, none = TAVOLA__V1__VALUE__INIT;
    Tavola__V1__Value *equals[] = { &good, &none };
    struct operation_lookup out;

    good.kind_case = TAVOLA__V1__VALUE__KIND_INT32_VALUE;
    request.equals = equals;
    request.n_equals = 2;
    assert_refused(codec_index_lookup_decode(&request, &arena, &out, &err), "INVALID_INPUT");
    ck_assert_str_eq(err.field, "equals[1]");
    request.n_equals = 1;
    request.range = &range;
    range.below = &none;
    assert_refused(codec_index_lookup_decode(&request, &arena, &out, &err), "INVALID_INPUT");
    ck_assert_str_eq(err.field, "range.below");
}
END_TEST

START_TEST(a_lookup_trusts_entries_or_reads_sources)
{
    Tavola__V1__LookupIndexRequest request = TAVOLA__V1__LOOKUP_INDEX_REQUEST__INIT;
    struct operation_lookup out;

    request.read_sources = true;
    ck_assert_int_eq(codec_index_lookup_decode(&request, &arena, &out, &err), STATUS_OK);
    ck_assert(out.read_sources && !out.trust_index);
    request.trust_index = true;
    assert_refused(codec_index_lookup_decode(&request, &arena, &out, &err), "INVALID_INPUT");
    ck_assert_str_eq(err.field, "read_sources");
}
END_TEST

START_TEST(a_lookup_selects_properties)
{
    Tavola__V1__LookupIndexRequest request = TAVOLA__V1__LOOKUP_INDEX_REQUEST__INIT;
    ProtobufCBinaryData names[] = { text("Name"), text("Name"), text("a b") };
    struct operation_lookup out;

    request.select = names;
    request.n_select = 2;
    ck_assert_int_eq(codec_index_lookup_decode(&request, &arena, &out, &err), STATUS_OK);
    ck_assert_uint_eq(out.select_count, 1);
    ck_assert(str_equal(out.select[0], STR_LITERAL("Name")));
    request.n_select = 3;
    assert_refused(codec_index_lookup_decode(&request, &arena, &out, &err), "INVALID_INPUT");
    ck_assert_str_eq(err.field, "select[2]");
}
END_TEST

START_TEST(a_lookup_is_the_same_on_every_page)
{
    Tavola__V1__LookupIndexRequest request = TAVOLA__V1__LOOKUP_INDEX_REQUEST__INIT;
    struct str first = codec_index_lookup_identity(&request, &arena);

    request.page_size = 7;
    request.page_token = text("abc");
    ck_assert(str_equal(first, codec_index_lookup_identity(&request, &arena)));
    request.keys_only = 1;
    ck_assert(!str_equal(first, codec_index_lookup_identity(&request, &arena)));
}
END_TEST

/* The numbers of shapes are stored in declarations. */
START_TEST(the_shapes_are_those_of_the_api)
{
    const ProtobufCEnumDescriptor *descriptor = &tavola__v1__index_shape__descriptor;

    ck_assert_uint_eq(descriptor->n_values, INDEX_SHAPE_END);
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        const ProtobufCEnumValue *value = &descriptor->values[i];

        if (value->value == 0)
            continue;
        ck_assert(index_shape_is_known(value->value));
        ck_assert_str_eq(
            value->name + strlen("INDEX_SHAPE_"), index_shape_rules((enum index_shape)value->value)->name);
    }
}
END_TEST

Suite *test_codec_index_suite(void)
{
    Suite *suite = suite_create("codec_index");
    TCase *tc = tcase_create("codec_index");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, bad_declarations_are_refused, 0, ARRAY_LEN(refusal_cases));
    tcase_add_test(tc, a_declaration_comes_back);
    tcase_add_test(tc, an_index_in_the_same_partition_is_strong);
    tcase_add_loop_test(tc, an_index_in_other_partitions_may_be_strong, 0, 3);
    tcase_add_loop_test(tc, a_change_names_a_consistency, 0, 4);
    tcase_add_test(tc, damaged_declarations_are_noticed);
    tcase_add_test(tc, a_range_has_one_type);
    tcase_add_test(tc, a_value_that_is_none_is_named);
    tcase_add_test(tc, a_lookup_trusts_entries_or_reads_sources);
    tcase_add_test(tc, a_lookup_selects_properties);
    tcase_add_test(tc, a_lookup_is_the_same_on_every_page);
    tcase_add_test(tc, the_shapes_are_those_of_the_api);
    suite_add_tcase(suite, tc);
    return suite;
}
