/* SPDX-License-Identifier: Apache-2.0 */
/* test_request_record.c - which requests are the same, and that a repeat gets the answer of the first. */
#include "domain/writes/request_record.h"

#include <check.h>

#include "domain/reason.h"
#include "tests/support/builders.h"
#include "tests/support/golden.h"

enum { TABLE = 7 };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct write a_replace(const char *row, const char *text)
{
    return a_write(WRITE_REPLACE, "p", row, some_texts(&arena, "Text", text, NULL));
}

static struct operation *a_request(const char *table, struct write write)
{
    struct operation *operation = a_write_operation(&arena, table, write);

    operation->in.write.request_id = STR_LITERAL("r");
    return operation;
}

static bool same(const struct operation *a, const struct operation *b)
{
    return str_equal(request_record_digest(a, TABLE, &arena), request_record_digest(b, TABLE, &arena));
}

START_TEST(equal_content_has_an_equal_digest)
{
    const struct operation *request = a_request("Things", a_replace("r", "x"));
    struct write other = a_replace("r", "x");

    ck_assert_uint_eq(request_record_digest(request, TABLE, &arena).len, REQUEST_DIGEST_BYTES);
    ck_assert(same(request, a_request("tHINGS", a_replace("r", "x"))));
    ck_assert(!str_equal(
        request_record_digest(request, TABLE, &arena), request_record_digest(request, TABLE + 1, &arena)));
    ck_assert(!same(request, a_request("Things", a_replace("s", "x"))));
    ck_assert(!same(request, a_request("Things", a_replace("r", "y"))));
    other.kind = WRITE_MERGE;
    ck_assert(!same(request, a_request("Things", other)));
    other = a_replace("r", "x");
    other.condition.kind = CONDITION_EXISTS;
    ck_assert(!same(request, a_request("Things", other)));
    other.condition = if_match((struct etag){ .table_id = 1, .version = 2 });
    ck_assert(!same(request, a_request("Things", other)));
    other.condition = (struct condition){ 0 };
    other.expires = 5;
    ck_assert(!same(request, a_request("Things", other)));
    other.expires = 0;
    other.condition = (struct condition){ .text = STR_LITERAL("A eq 1") };
    ck_assert(!same(request, a_request("Things", other)));
    other = a_replace("r", "x");
    ck_assert(!same(request, a_group(&arena, "Things", &other, 1)));
}
END_TEST

START_TEST(the_borders_between_parts_count)
{
    struct write a = a_write(WRITE_DELETE, "ab", "c", (struct property_list){ STR_EMPTY });
    struct write b = a_write(WRITE_DELETE, "a", "bc", (struct property_list){ STR_EMPTY });

    ck_assert(!same(a_request("Things", a), a_request("Things", b)));
}
END_TEST

static struct request_record record_of(const struct operation *operation)
{
    return (struct request_record){ request_record_digest(operation, TABLE, &arena),
        request_record_response(operation, &arena) };
}

START_TEST(results_come_back_as_they_were)
{
    struct write writes[] = { a_replace("r", "x"), a_replace("s", "x") };
    struct operation *first = a_group(&arena, "Things", writes, 2),
                     *again = a_group(&arena, "Things", writes, 2);
    struct write_result results[] = { { { 7, INT64_MAX, UINT32_MAX }, 123456789 }, { { 0, 0, 0 }, 0 } };
    struct request_record record;

    first->out.write.results = results;
    record = record_of(first);
    request_record_replay(&record, request_record_digest(again, TABLE, &arena), again);

    ck_assert_reason(again, "OK");
    ck_assert(again->out.write.replayed);
    for (int i = 0; i < 2; i++) {
        ck_assert(etag_equal(again->out.write.results[i].etag, results[i].etag));
        ck_assert_uint_eq(again->out.write.results[i].etag.key, results[i].etag.key);
        ck_assert_int_eq(again->out.write.results[i].timestamp, results[i].timestamp);
    }
}
END_TEST

START_TEST(what_was_left_open_comes_back)
{
    struct operation *first = a_request("Things", a_replace("r", "x"));
    struct operation *again = a_request("Things", a_replace("r", "x"));
    struct write_result result = { { 7, 1, 0 }, 1 };
    int16_t bucket = 5;
    struct intent_block block = { 1, 2, 3, 4, &bucket, 1 };
    const struct consistency left_open = { 6, 7, STR_EMPTY, STR_EMPTY, &block, 1 };
    struct request_record record;

    first->out.write = (struct outcome_write){ .results = &result, .left_open = &left_open };
    record = record_of(first);
    request_record_replay(&record, request_record_digest(again, TABLE, &arena), again);

    ck_assert_reason(again, "OK");
    ck_assert(str_equal(
        consistency_encode(again->out.write.left_open, &arena), consistency_encode(&left_open, &arena)));
}
END_TEST

START_TEST(a_refusal_comes_back_as_it_was)
{
    struct operation *first = a_request("Things", a_replace("r", "x"));
    struct operation *again = a_request("Things", a_replace("r", "x"));
    struct request_record record;
    struct error err;

    reason_set(&err, REASON_UPDATE_CONDITION_NOT_SATISFIED, "0:no, 100%% no");
    error_add_meta(&err, "actual", STR_LITERAL("W/\"1.2\""));
    error_add_meta(&err, "partition_key", STR_EMPTY);
    operation_fail(first, &err);
    record = record_of(first);
    request_record_replay(&record, request_record_digest(again, TABLE, &arena), again);

    ck_assert_reason(again, "UPDATE_CONDITION_NOT_SATISFIED");
    ck_assert_int_eq(again->status, STATUS_STALE);
    ck_assert_str_eq(again->error->message, "0:no, 100% no");
    ck_assert_uint_eq(again->error->meta_count, 3);
    ck_assert_str_eq(again->error->meta[2].key, "replayed");
    ck_assert_str_eq(meta_of(again->error, "actual"), "W/\"1.2\"");
    ck_assert_str_eq(again->error->meta[1].key, "partition_key");
}
END_TEST

START_TEST(the_entity_of_a_refusal_comes_back)
{
    struct entity entity = { a_key("p", "r"), { 7, 8, 0 }, 99, some_texts(&arena, "A", "old", NULL), 77 };
    struct operation *first = a_request("Things", a_replace("r", "x"));
    struct operation *again = a_request("Things", a_replace("r", "x"));
    const struct entity *current;
    struct request_record record;
    struct error err;

    reason_set(&err, REASON_UPDATE_CONDITION_NOT_SATISFIED, "no");
    operation_fail(first, &err);
    first->out.write.current = &entity;
    record = record_of(first);
    request_record_replay(&record, request_record_digest(again, TABLE, &arena), again);
    current = again->out.write.current;

    ck_assert_ptr_nonnull(current);
    ck_assert_int_eq(entity_key_compare(&current->key, &entity.key), 0);
    ck_assert(etag_equal(current->etag, entity.etag));
    ck_assert_int_eq(current->timestamp, 99);
    ck_assert_int_eq(current->expires, 77);
    ck_assert(str_equal(current->properties.bytes, entity.properties.bytes));
}
END_TEST

START_TEST(stored_answers_stay_as_they_are)
{
    struct write writes[] = { a_replace("r", "x"), a_replace("s", "x") };
    struct operation *group = a_group(&arena, "Things", writes, 2);
    struct write_result results[] = { { { 7, INT64_MAX, UINT32_MAX }, 123456789 }, { { 0, 0, 0 }, 0 } };
    int16_t bucket = 5;
    struct intent_block block = { 1, 2, 3, 4, &bucket, 1 };
    const struct consistency left_open = { 6, 7, STR_EMPTY, STR_EMPTY, &block, 1 };

    group->out.write = (struct outcome_write){ .results = results, .left_open = &left_open };
    require_bytes(request_record_response(group, &arena),
        "010a17080710ffffffffffffffff7f18959aef3a20ffffffff0f0a06080010001800320b0607000001010203"
        "010105");
    require_bytes(request_record_digest(group, TABLE, &arena),
        "6611ce9eac4a330a558d168e860453dab970a485425543774cd9bde00fc5b86d");
}
END_TEST

START_TEST(stored_refusals_stay_as_they_are)
{
    struct entity entity = { a_key("p", "r"), { 7, 8, 9 }, 99, some_texts(&arena, "A", "old", NULL), 77 };
    struct operation *request = a_request("Things", a_replace("r", "x"));
    struct error err;

    reason_set(&err, REASON_UPDATE_CONDITION_NOT_SATISFIED, "no");
    error_add_meta(&err, "actual", STR_LITERAL("W"));
    error_add_meta(&err, "partition_key", STR_EMPTY);
    operation_fail(request, &err);
    require_bytes(request_record_response(request, &arena),
        "01121e5550444154455f434f4e444954494f4e5f4e4f545f5341544953464945441a026e6f220b0a06616374"
        "75616c12015722110a0d706172746974696f6e5f6b65791200");
    request->out.write.current = &entity;
    require_bytes(request_record_response(request, &arena),
        "01121e5550444154455f434f4e444954494f4e5f4e4f545f5341544953464945441a026e6f220b0a06616374"
        "75616c12015722110a0d706172746974696f6e5f6b657912002a1c0a0170120172180720082863320c7a0a0a"
        "014112050a036f6c64384d");
}
END_TEST

START_TEST(an_id_serves_one_request)
{
    struct operation *first = a_request("Things", a_replace("r", "x"));
    struct operation *other = a_request("Things", a_replace("r", "y"));
    struct write_result result = { { 7, 1, 0 }, 1 };
    struct request_record record;

    first->out.write.results = &result;
    record = record_of(first);
    request_record_replay(&record, request_record_digest(other, TABLE, &arena), other);

    ck_assert_reason(other, "REQUEST_ID_REUSED");
    ck_assert_int_eq(other->status, STATUS_EXISTS);
}
END_TEST

START_TEST(damaged_records_are_no_answer)
{
    static const char *const damaged[] = { "", "\x02", "\x01", "\x01\x0a", "\x01\x0a\x01", "\x01\x12\x01X",
        "\x01\x0a\x02\x08\x07\x0a\x02\x08\x07" };
    struct operation *again = a_request("Things", a_replace("r", "x"));
    struct str digest = request_record_digest(again, TABLE, &arena);
    struct request_record record = { digest, str_of(damaged[_i]) };

    request_record_replay(&record, digest, again);

    ck_assert_reason(again, "INTERNAL_ERROR");
}
END_TEST

Suite *test_request_record_suite(void)
{
    Suite *suite = suite_create("request_record");
    TCase *tc = tcase_create("request_record");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, equal_content_has_an_equal_digest);
    tcase_add_test(tc, the_borders_between_parts_count);
    tcase_add_test(tc, results_come_back_as_they_were);
    tcase_add_test(tc, what_was_left_open_comes_back);
    tcase_add_test(tc, a_refusal_comes_back_as_it_was);
    tcase_add_test(tc, the_entity_of_a_refusal_comes_back);
    tcase_add_test(tc, stored_answers_stay_as_they_are);
    tcase_add_test(tc, stored_refusals_stay_as_they_are);
    tcase_add_test(tc, an_id_serves_one_request);
    tcase_add_loop_test(tc, damaged_records_are_no_answer, 0, 7);
    suite_add_tcase(suite, tc);
    return suite;
}
