/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of odata/odata_error.c: the bytes of errors, and that the tables have everything.
 */
#include "odata/odata_error.h"

#include <check.h>
#include <ctype.h>

#include "base/macros.h"
#include "domain/reason.h"

static struct arena arena;
static struct error err;
static const struct odata_error_place place = { .request_id =
                                                    STR_LITERAL("b7c3d0f2-1002-0000-0000-000000000000"),
    .now = INT64_C(130216075260000000) + INT64_C(8595) };

static void setup(void)
{
    arena_init(&arena);
    err = (struct error){ 0 };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const char *json(void)
{
    struct buf out;

    buf_init(&out, &arena);
    odata_error_write_json(&err, &place, &out);
    return arena_copy(&arena, buf_str(&out)).data;
}

#define TAIL "\\nRequestId:b7c3d0f2-1002-0000-0000-000000000000\\nTime:2013-08-22T01:12:06.0008595Z"

START_TEST(json_has_code_text_request_and_time)
{
    (void)reason_set(&err, REASON_ENTITY_ALREADY_EXISTS, "there is one");

    ck_assert_str_eq(json(),
        "{\"odata.error\":{\"code\":\"EntityAlreadyExists\",\"message\":{\"lang\":\"en-US\","
        "\"value\":\"The specified entity already exists." TAIL "\"}}}");
}
END_TEST

START_TEST(what_has_no_text_of_its_own_says_what_is_wrong)
{
    (void)reason_set(&err, REASON_INVALID_INPUT, "the \"name\" \xFF");

    ck_assert_str_eq(json(), "{\"odata.error\":{\"code\":\"InvalidInput\",\"message\":{\"lang\":\"en-US\","
                             "\"value\":\"the \\\"name\\\" ?" TAIL "\"}}}");
}
END_TEST

START_TEST(the_operation_of_a_batch_is_numbered)
{
    (void)reason_set(&err, REASON_RESOURCE_NOT_FOUND, "7:absent");
    error_add_meta_int(&err, "operation_index", 7);

    ck_assert_str_eq(json(),
        "{\"odata.error\":{\"code\":\"ResourceNotFound\",\"message\":{\"lang\":\"en-US\","
        "\"value\":\"7:The specified resource does not exist." TAIL "\"}}}");
}
END_TEST

START_TEST(xml_has_the_same)
{
    struct buf out;

    buf_init(&out, &arena);
    (void)reason_set(&err, REASON_INVALID_INPUT, "<a> & \x01");
    odata_error_write_xml(&err, &place, &out);
    buf_append_byte(&out, '\0');

    ck_assert_str_eq(out.data,
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>InvalidInput</Code><Message>&lt;a&gt; &amp; "
        "\n"
        "RequestId:b7c3d0f2-1002-0000-0000-000000000000\nTime:2013-08-22T01:12:06.0008595Z</Message></"
        "Error>");
}
END_TEST

START_TEST(internal_causes_are_not_told)
{
    (void)error_set(&err, STATUS_INTERNAL, "secret");

    ck_assert_ptr_null(strstr(json(), "secret"));
    ck_assert_int_eq(odata_error_find(&err)->http, 500);
}
END_TEST

/* UPPER_SNAKE as UpperSnake. */
static const char *camel_case(const char *name)
{
    struct buf out;

    buf_init(&out, &arena);
    for (bool upper = true; *name; name++) {
        if (*name != '_')
            buf_append_byte(&out, (uint8_t)(upper ? *name : tolower((unsigned char)*name)));
        upper = *name == '_';
    }
    buf_append_byte(&out, '\0');
    return out.data;
}

/* Our own word for what the service knows by another name. */
static bool has_other_name(enum reason reason)
{
    static const enum reason others[] = { REASON_PAGE_TOKEN_INVALID, REASON_SERVER_DRAINING,
        REASON_STORE_UNAVAILABLE, REASON_OUTCOME_UNKNOWN, REASON_CANCELLED, REASON_CATALOGUE_CHANGE_BLOCKED,
        REASON_AUTHORIZATION_SOURCE_IP_MISMATCH };

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (reason == others[i])
            return true;
    return false;
}

START_TEST(every_reason_has_a_code_and_a_status)
{
    for (int i = 0; i < REASON_COUNT; i++) {
        const struct odata_error_info *info;

        (void)reason_set(&err, (enum reason)i, "x");
        info = odata_error_find(&err);
        ck_assert_msg(info->http >= 400 && info->http <= 599 && info->code, "%s", err.reason);
        if (!has_other_name((enum reason)i))
            ck_assert_str_eq(info->code, camel_case(err.reason));
    }
}
END_TEST

START_TEST(every_refusal_has_a_code_and_a_status)
{
    for (int i = 0; i < ODATA_REFUSAL_COUNT; i++) {
        const struct odata_error_info *info;

        ck_assert_int_ne(odata_error_refuse(&err, (enum odata_refusal)i, "what is wrong"), STATUS_OK);
        info = odata_error_find(&err);
        ck_assert_str_eq(info->code, i == ODATA_REFUSAL_MISSING_CORS_HEADER        ? "InvalidHeaderValue"
                                     : i == ODATA_REFUSAL_X_METHOD_NOT_USING_POST  ? "XMethodNotUsingPost"
                                     : i == ODATA_REFUSAL_X_METHOD_INCORRECT_COUNT ? "XMethodIncorrectCount"
                                     : i == ODATA_REFUSAL_X_METHOD_INCORRECT_VALUE ? "XMethodIncorrectValue"
                                                                                   : camel_case(err.reason));
        ck_assert(info->http >= 400 && info->http <= 499);
    }
}
END_TEST

Suite *test_odata_error_suite(void)
{
    Suite *suite = suite_create("odata_error");
    TCase *tc = tcase_create("odata_error");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, json_has_code_text_request_and_time);
    tcase_add_test(tc, what_has_no_text_of_its_own_says_what_is_wrong);
    tcase_add_test(tc, the_operation_of_a_batch_is_numbered);
    tcase_add_test(tc, xml_has_the_same);
    tcase_add_test(tc, internal_causes_are_not_told);
    tcase_add_test(tc, every_reason_has_a_code_and_a_status);
    tcase_add_test(tc, every_refusal_has_a_code_and_a_status);
    suite_add_tcase(suite, tc);
    return suite;
}
