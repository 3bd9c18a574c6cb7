/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/connect/connect_codec.c.
 */
#include <check.h>
#include <stdlib.h>

#include "api/codec_error.h"
#include "domain/reason.h"
#include "service/connect/connect_codec.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const struct media_case {
    const char *text;
    bool is_known, is_json, is_stream;
} media_cases[] = {
    { "application/json", true, true, false },
    { "Application/JSON; charset=utf-8", true, true, false },
    { "application/json;charset=\"UTF-8\"", true, true, false },
    { "application/proto", true, false, false },
    { "application/connect+json", true, true, true },
    { "application/connect+proto", true, false, true },
    { "application/json; charset=latin1", false, false, false },
    { "application/jsonx", false, false, false },
    { "application/grpc+proto", false, false, false },
    { "", false, false, false },
};

START_TEST(media_types_say_codec_and_kind)
{
    const struct media_case *c = &media_cases[_i];
    struct connect_media media = { 0 };

    ck_assert_int_eq(connect_media_parse(str_of(c->text), &media), c->is_known);

    ck_assert_int_eq(media.is_json, c->is_json);
    ck_assert_int_eq(media.is_stream, c->is_stream);
}
END_TEST

static const struct code_case {
    int code;
    const char *name;
    int http_status;
} code_cases[] = {
    { 1, "canceled", 499 },
    { 3, "invalid_argument", 400 },
    { 4, "deadline_exceeded", 504 },
    { 5, "not_found", 404 },
    { 6, "already_exists", 409 },
    { 7, "permission_denied", 403 },
    { 8, "resource_exhausted", 429 },
    { 9, "failed_precondition", 400 },
    { 10, "aborted", 409 },
    { 11, "out_of_range", 400 },
    { 12, "unimplemented", 501 },
    { 13, "internal", 500 },
    { 14, "unavailable", 503 },
    { 16, "unauthenticated", 401 },
    { 17, "unknown", 500 },
    { -1, "unknown", 500 },
};

START_TEST(codes_have_names_and_statuses)
{
    const struct code_case *c = &code_cases[_i];

    ck_assert_str_eq(connect_codec_code_name(c->code), c->name);
    ck_assert_int_eq(connect_codec_http_status(c->code), c->http_status);
}
END_TEST

START_TEST(timeouts_have_up_to_ten_digits)
{
    static const char *const bad[] = { "", "-1", "1s", " 1", "12345678901" };
    int64_t ms;

    ck_assert(connect_codec_parse_timeout(STR_LITERAL("9999999999"), &ms));
    ck_assert_int_eq(ms, INT64_C(9999999999));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        ck_assert_msg(!connect_codec_parse_timeout(str_of(bad[i]), &ms), "%s", bad[i]);
}
END_TEST

START_TEST(envelopes_are_taken_as_they_were_written)
{
    struct connect_envelope envelope;
    struct buf bytes;
    struct str rest;

    buf_init(&bytes, &arena);
    connect_envelope_write(&bytes, CONNECT_COMPRESSED, STR_LITERAL("first"));
    connect_envelope_write(&bytes, CONNECT_END, STR_EMPTY);
    ck_assert(str_equal(buf_str(&bytes), STR_LITERAL("\x01\x00\x00\x00\x05"
                                                     "first\x02\x00\x00\x00\x00")));

    rest = buf_str(&bytes);
    ck_assert_int_eq(connect_envelope_take(&rest, &envelope), CONNECT_TAKEN);
    ck_assert(envelope.flags == CONNECT_COMPRESSED && str_equal(envelope.message, STR_LITERAL("first")));
    ck_assert_int_eq(connect_envelope_take(&rest, &envelope), CONNECT_TAKEN);
    ck_assert(envelope.flags == CONNECT_END && envelope.message.len == 0);
    ck_assert_int_eq(connect_envelope_take(&rest, &envelope), CONNECT_NONE_LEFT);
}
END_TEST

START_TEST(a_body_that_ends_inside_of_an_envelope_is_cut_off)
{
    static const struct str bodies[] = { STR_LITERAL("\0"), STR_LITERAL("\0\0\0\0"),
        STR_LITERAL("\0\0\0\0\x02x"), STR_LITERAL("\0\xff\xff\xff\xff") };
    struct connect_envelope envelope;

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct str rest = bodies[i];

        ck_assert_int_eq(connect_envelope_take(&rest, &envelope), CONNECT_CUT_OFF);
    }
}
END_TEST

START_TEST(an_error_has_its_details_in_base64_and_as_json)
{
    struct error err = { 0 };
    struct codec_trailers trailers;
    struct buf out;
    char *text;

    (void)reason_set(&err, REASON_TABLE_NOT_FOUND, "no table of the name \"x\"");
    error_add_meta(&err, "table", STR_LITERAL("x"));
    trailers = codec_trailers_encode(&err, NULL, &arena);
    buf_init(&out, &arena);
    connect_codec_write_error(&out, trailers.code, trailers.message, trailers.details);
    buf_append_byte(&out, '\0');
    text = out.data;

    ck_assert_str_eq(text,
        "{\"code\":\"not_found\",\"message\":\"TABLE_NOT_FOUND: no table of the name "
        "\\\"x\\\"\",\"details\":["
        "{\"type\":\"google.rpc.ErrorInfo\",\"value\":\"Cg9UQUJMRV9OT1RfRk9VTkQSBnRhdm9sYRoKCgV0YWJsZRIBeA\","
        "\"debug\":{\"reason\":\"TABLE_NOT_FOUND\",\"domain\":\"tavola\",\"metadata\":{\"table\":\"x\"}}}]}");
}
END_TEST

START_TEST(values_are_counted_outside_of_texts)
{
    struct error err = { 0 };
    struct buf json;

    buf_init(&json, &arena);
    buf_append(&json, STR_LITERAL("{\"a\\\"b\":\""));
    for (int i = 0; i < CONNECT_MAX_JSON_VALUES; i++)
        buf_append_byte(&json, ',');
    buf_append(&json, STR_LITERAL("\",\"c\":[1,2]}"));
    ck_assert_int_eq(connect_codec_check_values(buf_str(&json), &err), STATUS_OK);

    for (int i = 0; i < CONNECT_MAX_JSON_VALUES; i++)
        buf_append_byte(&json, ',');
    ck_assert_int_eq(connect_codec_check_values(buf_str(&json), &err), STATUS_LIMIT);
    ck_assert_str_eq(err.reason, "REQUEST_BODY_TOO_LARGE");
    ck_assert_int_eq(connect_codec_check_values(STR_LITERAL("\"\\"), &err), STATUS_OK);
}
END_TEST

static const struct escape_case {
    const char *text, *want; /* want NULL: refused */
} escape_cases[] = {
    { "", "" },
    { "a%20b+c", "a b c" },
    { "%7B%7d", "{}" },
    { "%", NULL },
    { "%4", NULL },
    { "x%4", NULL },
    { "%gg", NULL },
};

START_TEST(parameters_are_unescaped)
{
    const struct escape_case *c = &escape_cases[_i];
    struct str out = STR_EMPTY;

    ck_assert_int_eq(connect_codec_unescape(str_of(c->text), &arena, &out), c->want != NULL);

    if (c->want)
        ck_assert(str_equal(out, str_of(c->want)));
}
END_TEST

START_TEST(parameters_are_found_by_name)
{
    struct str query = STR_LITERAL("encoding=json&message=%7B%7D&base64&message=second");
    struct str value;

    ck_assert(connect_codec_find_parameter(query, "message", &value));
    ck_assert(str_equal(value, STR_LITERAL("%7B%7D")));
    ck_assert(connect_codec_find_parameter(query, "base64", &value));
    ck_assert_uint_eq(value.len, 0);
    ck_assert(!connect_codec_find_parameter(query, "mess", &value));
}
END_TEST

Suite *test_connect_codec_suite(void)
{
    Suite *suite = suite_create("connect_codec");
    TCase *tc = tcase_create("connect_codec");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, media_types_say_codec_and_kind, 0, ARRAY_LEN(media_cases));
    tcase_add_loop_test(tc, codes_have_names_and_statuses, 0, ARRAY_LEN(code_cases));
    tcase_add_test(tc, timeouts_have_up_to_ten_digits);
    tcase_add_test(tc, envelopes_are_taken_as_they_were_written);
    tcase_add_test(tc, a_body_that_ends_inside_of_an_envelope_is_cut_off);
    tcase_add_test(tc, an_error_has_its_details_in_base64_and_as_json);
    tcase_add_test(tc, values_are_counted_outside_of_texts);
    tcase_add_loop_test(tc, parameters_are_unescaped, 0, ARRAY_LEN(escape_cases));
    tcase_add_test(tc, parameters_are_found_by_name);
    suite_add_tcase(suite, tc);
    return suite;
}
