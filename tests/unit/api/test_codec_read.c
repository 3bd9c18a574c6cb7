/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of api/codec.c, codec_entity.c and codec_read.c: requests in, spliced replies out.
 */
#include "api/codec_read.h"

#include "codec_fixture.h"
#include "domain/limits.h"

/* ---- requests ---- */

static const struct malformed_case {
    const char *name;
    const char *bytes;
    size_t len;
} malformed_cases[] = {
    { "a length beyond the end",
        "\x0a\x05"
        "ab",
        4 },
    { "a tag alone", "\x0a", 1 },
    { "a group", "\x0b", 1 },
    { "field number 0", "\x02\x00", 2 },
    { "a varint without end", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11 },
    { "a key that is no message", "\x12\x02\x0a\x05", 4 },
};

START_TEST(malformed_requests_are_refused)
{
    const struct malformed_case *c = &malformed_cases[_i];
    ProtobufCMessage *message;

    enum status status = codec_unpack(
        &tavola__v1__get_entity_request__descriptor, str_of_bytes(c->bytes, c->len), &arena, &message, &err);

    ck_assert_msg(status == STATUS_INVALID, "%s", c->name);
    assert_refused(status, "INVALID_INPUT");
}
END_TEST

START_TEST(unknown_fields_are_ignored)
{
    ProtobufCMessage *message;

    ck_assert_int_eq(codec_unpack(&tavola__v1__get_entity_request__descriptor,
                         STR_LITERAL("\x0a\x01t\xfa\x07\x03xyz"), &arena, &message, &err),
        STATUS_OK);
    ck_assert(str_equal(codec_str(((Tavola__V1__GetEntityRequest *)message)->table), STR_LITERAL("t")));
}
END_TEST

/* Refused early: what was read of it is not kept. */
START_TEST(a_request_has_no_more_elements_than_have_room)
{
    enum { FEW = 1000, MANY = 500000 };
    char *bytes = arena_calloc(&arena, MANY, 2);
    struct arena before;
    ProtobufCMessage *message;
    enum status status;

    for (size_t i = 0; i < MANY; i++)
        bytes[2 * i] = 0x12; /* an empty key */
    ck_assert_int_eq(codec_unpack(&tavola__v1__batch_get_entities_request__descriptor,
                         str_of_bytes(bytes, 2 * FEW), &arena, &message, &err),
        STATUS_OK);
    ck_assert_uint_eq(((Tavola__V1__BatchGetEntitiesRequest *)message)->n_keys, FEW);
    before = arena;
    status = codec_unpack(&tavola__v1__batch_get_entities_request__descriptor, str_of_bytes(bytes, 2 * MANY),
        &arena, &message, &err);
    assert_refused(status, "INVALID_INPUT");
    ck_assert_ptr_nonnull(strstr(err.message, "too many small elements"));
    ck_assert_uint_eq(arena.held_bytes, before.held_bytes);
}
END_TEST

START_TEST(a_request_has_at_most_4_mib)
{
    char *bytes = arena_calloc(&arena, 1, LIMIT_REQUEST_BYTES + 1);
    ProtobufCMessage *message;

    enum status status = codec_unpack(&tavola__v1__get_entity_request__descriptor,
        str_of_bytes(bytes, LIMIT_REQUEST_BYTES + 1), &arena, &message, &err);

    assert_refused(status, "REQUEST_BODY_TOO_LARGE");
    ck_assert_int_eq(status, STATUS_LIMIT);
}
END_TEST

static const struct page_case {
    int32_t asked, got;
} page_cases[] = { { 0, 1000 }, { 1, 1 }, { 1000, 1000 }, { 1001, 1000 }, { INT32_MAX, 1000 } };

START_TEST(page_sizes_are_bounded)
{
    int32_t got;

    ck_assert_int_eq(codec_read_page_size(page_cases[_i].asked, &got, &err), STATUS_OK);
    ck_assert_int_eq(got, page_cases[_i].got);
    assert_refused(codec_read_page_size(-1, &got, &err), "INVALID_INPUT");
}
END_TEST

/* Every name an entity can have, and each several times. */
START_TEST(any_names_an_entity_can_have_may_be_selected)
{
    Tavola__V1__ReadOptions options = TAVOLA__V1__READ_OPTIONS__INIT;
    struct selection selection;
    size_t max = LIMIT_PROPERTIES + 3;

    options.select = ARENA_ARRAY(&arena, ProtobufCBinaryData, 2 * max);
    for (size_t i = 0; i < 2 * max; i++)
        options.select[i] = text(arena_format(&arena, "Name%zu", i % max).data);
    options.select[0] = options.select[max] = text("PartitionKey");
    options.n_select = 2 * max;
    ck_assert_int_eq(codec_read_selection_decode(&options, &arena, &selection, &err), STATUS_OK);
    ck_assert_uint_eq(selection.count, max);
    for (size_t i = 1; i < max; i++)
        ck_assert(str_equal(selection.names[i], str_of(arena_format(&arena, "Name%zu", i).data)));

    options.select[2 * max - 1] = text("OneMore");
    assert_refused(codec_read_selection_decode(&options, &arena, &selection, &err), "INVALID_INPUT");
    ck_assert_str_eq(err.field, arena_format(&arena, "options.select[%zu]", 2 * max - 1).data);
}
END_TEST

START_TEST(waiting_for_a_transaction_is_refused_by_name)
{
    Tavola__V1__ReadOptions options = TAVOLA__V1__READ_OPTIONS__INIT;
    struct selection selection;
    struct str waited = STR_EMPTY;

    ck_assert_int_eq(codec_read_selection_decode(NULL, &arena, &selection, &err), STATUS_OK);
    ck_assert_int_eq(codec_read_wait_decode(NULL, &waited, &err), STATUS_OK);
    ck_assert_uint_eq(waited.len, 0);
    options.wait_for_transaction = text("t");
    ck_assert_int_eq(codec_read_wait_decode(&options, &waited, &err), STATUS_OK);
    ck_assert(str_equal(waited, STR_LITERAL("t")));
    options.wait_for_transaction = text("no\nid");
    assert_refused(codec_read_wait_decode(&options, &waited, &err), "TRANSACTION_NOT_FOUND");
}
END_TEST

START_TEST(a_batch_get_has_1_to_1000_keys)
{
    Tavola__V1__EntityKey **keys = ARENA_ARRAY(&arena, Tavola__V1__EntityKey *, 1001);
    struct operation_get get;

    for (size_t i = 0; i < 1001; i++)
        keys[i] = a_key("p", "r");
    ck_assert_int_eq(codec_read_keys_decode(keys, 1000, &arena, &get, &err), STATUS_OK);
    assert_refused(codec_read_keys_decode(keys, 0, &arena, &get, &err), "INVALID_INPUT");
    assert_refused(codec_read_keys_decode(keys, 1001, &arena, &get, &err), "INVALID_INPUT");
    keys[7] = a_key("p", "a#b");
    assert_refused(codec_read_keys_decode(keys, 9, &arena, &get, &err), "OUT_OF_RANGE_INPUT");
    ck_assert_str_eq(meta("operation_index"), "7");
}
END_TEST

/* ---- replies ---- */

/* An entity with the String properties A and B, the second of this many bytes. */
static struct entity stored_entity(const char *row, size_t bytes)
{
    struct value a = { .type = PROPERTY_STRING, .bytes = STR_LITERAL("one") };
    struct value b = { .type = PROPERTY_BINARY };
    struct entity out = { .etag = { .table_id = 3, .version = 5 }, .timestamp = INT64_C(132223104000000000) };
    struct property_builder builder;
    struct buf properties;

    b.bytes = str_of_bytes(arena_calloc(&arena, 1, bytes), bytes);
    buf_init(&properties, &arena);
    builder = (struct property_builder){ .out = &properties };
    property_build(&builder, STR_LITERAL("A"), &a);
    property_build(&builder, STR_LITERAL("B"), &b);
    out.key = (struct entity_key){ STR_LITERAL("p"), str_of(row) };
    out.properties.bytes = buf_str(&properties);
    return out;
}

static Tavola__V1__QueryEntitiesResponse *unpack_page(const struct buf *out)
{
    ProtobufCMessage *message;

    ck_assert_int_eq(
        codec_unpack(&tavola__v1__query_entities_response__descriptor, buf_str(out), &arena, &message, &err),
        STATUS_OK);
    return (Tavola__V1__QueryEntitiesResponse *)message;
}

START_TEST(a_spliced_entity_reads_back)
{
    const struct selection everything = { 0 };
    struct entity entity = stored_entity("r", 3);
    Tavola__V1__QueryEntitiesResponse *page;
    struct buf out;

    buf_init(&out, &arena);
    struct written written = codec_read_entities_write(&out, 1, &entity, 1, &everything, &arena);
    page = unpack_page(&out);

    ck_assert_uint_eq(written.count, 1);
    ck_assert_uint_eq(out.len, codec_entity_bytes(&entity));
    ck_assert_uint_eq(page->n_entities, 1);
    ck_assert(str_equal(codec_str(page->entities[0]->partition_key), STR_LITERAL("p")));
    ck_assert(str_equal(codec_str(page->entities[0]->etag), STR_LITERAL("W/\"3.5.c20e6775\"")));
    ck_assert_int_gt(page->entities[0]->timestamp->seconds, 0);
    ck_assert_uint_eq(page->entities[0]->n_properties, 2);
}
END_TEST

START_TEST(empty_keys_are_left_out)
{
    struct entity entity = { .key = { STR_EMPTY, STR_EMPTY }, .etag = { .table_id = 1, .version = 1 } };
    struct buf out;

    entity.properties.bytes = STR_EMPTY;
    buf_init(&out, &arena);
    codec_entity_write(&out, 1, &entity);

    ck_assert_uint_eq(out.len, codec_entity_bytes(&entity));
    ck_assert_mem_eq(out.data, "\x0a\x12\x22\x10W/\"1.1.00000001\"", 20);
}
END_TEST

START_TEST(a_selection_keeps_the_chosen)
{
    struct str names[] = { STR_LITERAL("B"), STR_LITERAL("Z") };
    const struct selection selection = { names, 2 };
    struct entity entity = stored_entity("r", 3);
    Tavola__V1__QueryEntitiesResponse *page;
    struct buf out;

    buf_init(&out, &arena);
    (void)codec_read_entities_write(&out, 1, &entity, 1, &selection, &arena);
    page = unpack_page(&out);

    ck_assert_uint_eq(page->entities[0]->n_properties, 1);
}
END_TEST

START_TEST(a_page_ends_before_3_mib)
{
    const struct selection everything = { 0 };
    struct entity entities[5];
    struct buf out;

    for (size_t i = 0; i < ARRAY_LEN(entities); i++)
        entities[i] = stored_entity("r", 1000000);
    buf_init(&out, &arena);
    struct written written =
        codec_read_entities_write(&out, 1, entities, ARRAY_LEN(entities), &everything, &arena);

    ck_assert_uint_eq(written.count, 3);
    ck_assert_uint_le(out.len, LIMIT_REPLY_BYTES);
    ck_assert_int_gt(written.property_bytes, 3000000);
}
END_TEST

START_TEST(a_page_has_one_entity_however_large)
{
    const struct selection everything = { 0 };
    struct entity entities[2] = { stored_entity("a", 4000000), stored_entity("b", 1) };
    struct buf out;

    buf_init(&out, &arena);

    ck_assert_uint_eq(codec_read_entities_write(&out, 1, entities, 2, &everything, &arena).count, 1);
}
END_TEST

START_TEST(a_batch_get_answers_in_order_what_fits)
{
    const struct selection everything = { 0 };
    struct entity_key keys[5];
    struct entity entities[5];
    bool found[5] = { true, false, true, true, true };
    struct operation operation = { .kind = OPERATION_GET };
    Tavola__V1__BatchGetEntitiesResponse *reply;
    ProtobufCMessage *message;
    struct buf out;

    for (size_t i = 0; i < 5; i++) {
        entities[i] = stored_entity("r", 1000000);
        keys[i] = entities[i].key;
    }
    operation.in.get = (struct operation_get){ .keys = keys, .count = 5 };
    operation.out.get = (struct outcome_get){ .entities = entities, .found = found, .count = 5 };
    buf_init(&out, &arena);
    codec_read_batch_get_write(&out, &operation, &everything, &arena);
    ck_assert_int_eq(codec_unpack(&tavola__v1__batch_get_entities_response__descriptor, buf_str(&out), &arena,
                         &message, &err),
        STATUS_OK);
    reply = (Tavola__V1__BatchGetEntitiesResponse *)message;

    ck_assert_uint_eq(reply->n_results, 4);
    ck_assert_int_eq(reply->results[0]->outcome_case, TAVOLA__V1__BATCH_GET_RESULT__OUTCOME_ENTITY);
    ck_assert_int_eq(reply->results[1]->outcome_case, TAVOLA__V1__BATCH_GET_RESULT__OUTCOME_ERROR);
    ck_assert_int_eq(reply->results[1]->error->code, 5);
}
END_TEST

/* ---- values ---- */

START_TEST(a_null_value_is_refused)
{
    Tavola__V1__Value value = TAVOLA__V1__VALUE__INIT;
    struct value out;

    assert_refused(codec_entity_value_decode(&value, "equals", &arena, &out, &err), "INVALID_INPUT");
    assert_refused(codec_entity_value_decode(NULL, "equals", &arena, &out, &err), "INVALID_INPUT");
    value.kind_case = TAVOLA__V1__VALUE__KIND_INT32_VALUE;
    value.int32_value = -7;
    ck_assert_int_eq(codec_entity_value_decode(&value, "equals", &arena, &out, &err), STATUS_OK);
    ck_assert_int_eq(out.type, PROPERTY_INT32);
    ck_assert_int_eq(out.integer, -7);
}
END_TEST

Suite *test_codec_read_suite(void)
{
    Suite *suite = suite_create("codec_read");
    TCase *tc = tcase_create("codec_read");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, malformed_requests_are_refused, 0, ARRAY_LEN(malformed_cases));
    tcase_add_test(tc, unknown_fields_are_ignored);
    tcase_add_test(tc, a_request_has_no_more_elements_than_have_room);
    tcase_add_test(tc, a_request_has_at_most_4_mib);
    tcase_add_loop_test(tc, page_sizes_are_bounded, 0, ARRAY_LEN(page_cases));
    tcase_add_test(tc, any_names_an_entity_can_have_may_be_selected);
    tcase_add_test(tc, waiting_for_a_transaction_is_refused_by_name);
    tcase_add_test(tc, a_batch_get_has_1_to_1000_keys);
    tcase_add_test(tc, a_spliced_entity_reads_back);
    tcase_add_test(tc, empty_keys_are_left_out);
    tcase_add_test(tc, a_selection_keeps_the_chosen);
    tcase_add_test(tc, a_page_ends_before_3_mib);
    tcase_add_test(tc, a_page_has_one_entity_however_large);
    tcase_add_test(tc, a_batch_get_answers_in_order_what_fits);
    tcase_add_test(tc, a_null_value_is_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
