/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of api/codec_write.c.
 */
#include "api/codec_write.h"

#include "base/wire.h"
#include "codec_fixture.h"

/* ---- preconditions ---- */

static const struct precondition_case {
    const char *name;
    enum write_kind kind;
    const char *if_match; /* NULL: no precondition at all */
    const char *reason;   /* NULL: accepted */
} precondition_cases[] = {
    { "an insert needs none", WRITE_INSERT, NULL, NULL },
    { "an insert takes none", WRITE_INSERT, "*", "INVALID_INPUT" },
    { "an upsert takes none, not even an empty one", WRITE_INSERT_OR_MERGE, "", "INVALID_INPUT" },
    { "an upsert takes none", WRITE_INSERT_OR_REPLACE, "W/\"1.1\"", "INVALID_INPUT" },
    { "a replace needs one", WRITE_REPLACE, NULL, "INVALID_INPUT" },
    { "an empty one is none", WRITE_REPLACE, "", "INVALID_INPUT" },
    { "a replace takes a star", WRITE_REPLACE, "*", NULL },
    { "a merge takes an etag", WRITE_MERGE, "W/\"1.1\"", NULL },
    { "a merge needs one", WRITE_MERGE, NULL, "INVALID_INPUT" },
    { "a strong etag is none", WRITE_MERGE, "\"1.1\"", "INVALID_INPUT" },
};

START_TEST(preconditions_fit_their_writes)
{
    const struct precondition_case *c = &precondition_cases[_i];
    Tavola__V1__Precondition *precondition = c->if_match ? if_match(c->if_match) : NULL;
    struct write write;

    enum status status = codec_write_decode(c->kind, an_entity("p", "r"), precondition, &arena, &write, &err);

    if (c->reason)
        assert_refused(status, c->reason);
    else
        ck_assert_msg(status == STATUS_OK, "%s: %s", c->name, err.message);
}
END_TEST

START_TEST(a_condition_stands_alone_or_beside_an_etag)
{
    Tavola__V1__Precondition *precondition = if_match(_i ? "W/\"1.1\"" : "");
    struct write write;

    precondition->condition = text("A eq 1");
    ck_assert_int_eq(
        codec_write_delete_decode(a_key("p", "r"), precondition, &arena, &write, &err), STATUS_OK);

    ck_assert_int_eq(write.condition.kind, _i ? CONDITION_MATCHES : CONDITION_NONE);
    ck_assert(str_equal(write.condition.text, STR_LITERAL("A eq 1")));
    ck_assert_ptr_nonnull(write.condition.filter);
}
END_TEST

START_TEST(a_condition_that_is_no_filter_is_refused)
{
    Tavola__V1__Precondition *precondition = if_match("*");
    struct write write;

    precondition->condition = text("A eq");
    assert_refused(
        codec_write_delete_decode(a_key("p", "r"), precondition, &arena, &write, &err), "INVALID_INPUT");
    ck_assert_str_ne(meta("position"), "");
    precondition->condition = text("A eq 1");
    assert_refused(codec_write_decode(WRITE_INSERT, an_entity("p", "r"), precondition, &arena, &write, &err),
        "INVALID_INPUT");
}
END_TEST

START_TEST(an_absent_entity_is_not_an_empty_one)
{
    struct write write;

    assert_refused(
        codec_write_decode(WRITE_INSERT, NULL, NULL, &arena, &write, &err), "PROPERTIES_NEED_VALUE");
    assert_refused(
        codec_write_delete_decode(NULL, if_match("*"), &arena, &write, &err), "PROPERTIES_NEED_VALUE");
    ck_assert_int_eq(
        codec_write_decode(WRITE_INSERT, an_entity("", ""), NULL, &arena, &write, &err), STATUS_OK);
}
END_TEST

START_TEST(keys_keep_their_length)
{
    Tavola__V1__Entity *entity = an_entity("p", "r");
    struct write write;

    entity->partition_key = (ProtobufCBinaryData){ .data = (uint8_t *)"a\0b", .len = 3 };

    assert_refused(
        codec_write_decode(WRITE_INSERT, entity, NULL, &arena, &write, &err), "OUT_OF_RANGE_INPUT");
}
END_TEST

/* ---- batches ---- */

static Tavola__V1__ExecuteBatchRequest *a_batch(size_t count)
{
    Tavola__V1__ExecuteBatchRequest *out = ARENA_NEW(&arena, Tavola__V1__ExecuteBatchRequest);

    tavola__v1__execute_batch_request__init(out);
    out->n_operations = count;
    out->operations = ARENA_ARRAY(&arena, Tavola__V1__BatchOperation *, count);
    for (size_t i = 0; i < count; i++) {
        out->operations[i] = ARENA_NEW(&arena, Tavola__V1__BatchOperation);
        tavola__v1__batch_operation__init(out->operations[i]);
        out->operations[i]->action_case = TAVOLA__V1__BATCH_OPERATION__ACTION_INSERT;
        out->operations[i]->insert = an_entity("p", arena_format(&arena, "r%zu", i).data);
    }
    return out;
}

START_TEST(a_batch_holds_up_to_100)
{
    struct operation_write out;

    ck_assert_int_eq(codec_write_batch_decode(a_batch(100), &arena, &out, &err), STATUS_OK);
    ck_assert_uint_eq(out.count, 100);
    ck_assert(out.atomic && out.is_group);
    assert_refused(codec_write_batch_decode(a_batch(0), &arena, &out, &err), "INVALID_INPUT");
    assert_refused(codec_write_batch_decode(a_batch(101), &arena, &out, &err), "INVALID_INPUT");
    ck_assert_str_eq(meta("limit"), "100");
}
END_TEST

START_TEST(a_batch_has_one_partition)
{
    Tavola__V1__ExecuteBatchRequest *batch = a_batch(3);
    struct operation_write out;

    batch->operations[2]->insert->partition_key = text("other");

    assert_refused(
        codec_write_batch_decode(batch, &arena, &out, &err), "COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS");
    ck_assert_str_eq(meta("operation_index"), "2");
    ck_assert_int_eq(strncmp(err.message, "2:", 2), 0);
}
END_TEST

START_TEST(a_batch_names_an_entity_once)
{
    Tavola__V1__ExecuteBatchRequest *batch = a_batch(5);
    struct operation_write out;

    batch->operations[1]->insert->row_key = text("same");
    batch->operations[3]->insert->row_key = text("same");

    assert_refused(codec_write_batch_decode(batch, &arena, &out, &err), "INVALID_DUPLICATE_ROW");
    ck_assert_str_eq(meta("operation_index"), "3");
    ck_assert_int_eq(strncmp(err.message, "3:", 2), 0);
}
END_TEST

START_TEST(a_bad_write_in_a_batch_is_named)
{
    Tavola__V1__ExecuteBatchRequest *batch = a_batch(2);
    struct operation_write out;

    batch->operations[1]->insert->row_key = text("a/b");
    assert_refused(codec_write_batch_decode(batch, &arena, &out, &err), "OUT_OF_RANGE_INPUT");
    ck_assert_str_eq(meta("operation_index"), "1");
    ck_assert_int_eq(strncmp(err.message, "1:", 2), 0);

    batch->operations[1]->action_case = TAVOLA__V1__BATCH_OPERATION__ACTION__NOT_SET;
    assert_refused(codec_write_batch_decode(batch, &arena, &out, &err), "INVALID_INPUT");
    ck_assert_int_eq(strncmp(err.message, "1:", 2), 0);
}
END_TEST

/* ---- results ---- */

START_TEST(a_result_reads_back)
{
    struct write_result result = { .etag = { .table_id = 7, .version = 9 },
        .timestamp = INT64_C(132223104000000001) };
    Tavola__V1__InsertEntityResponse *reply;
    struct buf out;

    buf_init(&out, &arena);
    codec_write_result(&out, 1, &result, STR_LITERAL("token"), false);
    reply = tavola__v1__insert_entity_response__unpack(NULL, out.len, (uint8_t *)out.data);

    ck_assert_ptr_nonnull(reply);
    ck_assert(str_equal(codec_str(reply->result->etag), STR_LITERAL("W/\"7.9\"")));
    ck_assert_int_eq(reply->result->timestamp->nanos, 100);
    ck_assert(str_equal(codec_str(reply->result->consistency_token), STR_LITERAL("token")));
    tavola__v1__insert_entity_response__free_unpacked(reply, NULL);
}
END_TEST

START_TEST(the_result_of_a_delete_is_empty)
{
    struct write_result result = { 0 };
    struct buf out;

    buf_init(&out, &arena);
    codec_write_result(&out, 1, &result, STR_EMPTY, false);

    ck_assert_mem_eq(out.data, "\x0a\x00", 2);
    ck_assert_uint_eq(out.len, 2);
}
END_TEST

Suite *test_codec_write_suite(void)
{
    Suite *suite = suite_create("codec_write");
    TCase *tc = tcase_create("codec_write");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, preconditions_fit_their_writes, 0, ARRAY_LEN(precondition_cases));
    tcase_add_loop_test(tc, a_condition_stands_alone_or_beside_an_etag, 0, 2);
    tcase_add_test(tc, a_condition_that_is_no_filter_is_refused);
    tcase_add_test(tc, an_absent_entity_is_not_an_empty_one);
    tcase_add_test(tc, keys_keep_their_length);
    tcase_add_test(tc, a_batch_holds_up_to_100);
    tcase_add_test(tc, a_batch_has_one_partition);
    tcase_add_test(tc, a_batch_names_an_entity_once);
    tcase_add_test(tc, a_bad_write_in_a_batch_is_named);
    tcase_add_test(tc, a_result_reads_back);
    tcase_add_test(tc, the_result_of_a_delete_is_empty);
    suite_add_tcase(suite, tc);
    return suite;
}
