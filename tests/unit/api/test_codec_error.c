/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of api/codec_error.c, and of docs/errors.md, which is made from the same tables.
 */
#include "api/codec_error.h"

#include <stdio.h>
#include <stdlib.h>

#include "codec_fixture.h"
#include "domain/reason.h"
#include "google/protobuf/any.pb-c.h"
#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"

static Google__Rpc__Status *unpack_status(struct str details)
{
    ProtobufCMessage *message;

    ck_assert_int_eq(
        codec_unpack(&google__rpc__status__descriptor, details, &arena, &message, &err), STATUS_OK);
    return (Google__Rpc__Status *)message;
}

static Google__Rpc__ErrorInfo *unpack_info(const Google__Rpc__Status *status)
{
    ProtobufCMessage *message;

    ck_assert_uint_ge(status->n_details, 1);
    ck_assert(str_equal(
        codec_str(status->details[0]->type_url), STR_LITERAL("type.googleapis.com/google.rpc.ErrorInfo")));
    ck_assert_int_eq(codec_unpack(&google__rpc__error_info__descriptor, codec_str(status->details[0]->value),
                         &arena, &message, &err),
        STATUS_OK);
    return (Google__Rpc__ErrorInfo *)message;
}

START_TEST(trailers_carry_the_reason)
{
    struct error error;
    struct codec_trailers trailers;
    Google__Rpc__Status *status;
    Google__Rpc__ErrorInfo *info;

    (void)reason_set(&error, REASON_UPDATE_CONDITION_NOT_SATISFIED, "changed");
    error_add_meta(&error, "row_key", STR_LITERAL("r"));
    trailers = codec_trailers_encode(&error, NULL, &arena);
    status = unpack_status(trailers.details);
    info = unpack_info(status);

    ck_assert_int_eq(trailers.code, 10);
    ck_assert_int_eq(status->code, 10);
    ck_assert_uint_eq(status->n_details, 1);
    ck_assert(str_equal(trailers.message, STR_LITERAL("UPDATE_CONDITION_NOT_SATISFIED: changed")));
    ck_assert(str_equal(codec_str(status->message), trailers.message));
    ck_assert(str_equal(codec_str(info->reason), STR_LITERAL("UPDATE_CONDITION_NOT_SATISFIED")));
    ck_assert(str_equal(codec_str(info->domain), STR_LITERAL("tavola")));
    ck_assert(str_equal(codec_str(info->metadata[0]), STR_LITERAL("\x0a\x07row_key\x12\x01r")));
}
END_TEST

/* Compressible text does not help: the limit is about the size that is sent. */
static struct codec_trailers with_entity(size_t bytes)
{
    char *filling = arena_calloc(&arena, 1, bytes + 1);
    struct buf properties;
    struct property_builder builder = { .out = &properties, .last_name = STR_EMPTY };
    struct entity entity = {
        .key = { STR_LITERAL("p"), STR_LITERAL("r") }, .etag = { .table_id = 1, .version = 2 }, .timestamp = 5
    };
    struct value value = { .type = PROPERTY_STRING, .bytes = { memset(filling, 'x', bytes), bytes } };
    struct error error;

    buf_init(&properties, &arena);
    property_build(&builder, STR_LITERAL("A"), &value);
    entity.properties.bytes = buf_str(&properties);
    (void)reason_set(&error, REASON_UPDATE_CONDITION_NOT_SATISFIED, "no");
    error_add_meta(&error, "clause", STR_LITERAL("A eq 1"));
    return codec_trailers_encode(&error, &entity, &arena);
}

START_TEST(an_entity_rides_along_where_it_fits)
{
    Google__Rpc__Status *status = unpack_status(with_entity(1990).details);
    ProtobufCMessage *message;

    ck_assert_uint_eq(status->n_details, 2);
    ck_assert(str_equal(
        codec_str(status->details[1]->type_url), STR_LITERAL("type.googleapis.com/tavola.v1.Entity")));
    ck_assert_int_eq(codec_unpack(&tavola__v1__entity__descriptor, codec_str(status->details[1]->value),
                         &arena, &message, &err),
        STATUS_OK);
    ck_assert(str_equal(codec_str(((Tavola__V1__Entity *)message)->etag), STR_LITERAL("W/\"1.2.c20e6775\"")));
    ck_assert_uint_eq(((Tavola__V1__Entity *)message)->n_properties, 1);
    (void)unpack_info(status);

    ck_assert_uint_eq(unpack_status(with_entity(2048).details)->n_details, 1);
    ck_assert_uint_le(with_entity(1990).details.len, CODEC_TRAILER_ENTITY_BYTES);
}
END_TEST

static const struct retry_case {
    enum reason reason;
    bool retry;
} retry_cases[] = {
    { REASON_SERVER_BUSY, true },
    { REASON_STORE_UNAVAILABLE, true },
    { REASON_SERVER_DRAINING, true },
    { REASON_REQUEST_BODY_TOO_LARGE, false },
    { REASON_INVALID_INPUT, false },
};

START_TEST(a_retry_is_advised_where_it_helps)
{
    const struct retry_case *c = &retry_cases[_i];
    struct error error;

    (void)reason_set(&error, c->reason, "x");
    Google__Rpc__Status *status = unpack_status(codec_trailers_encode(&error, NULL, &arena).details);

    ck_assert_uint_eq(status->n_details, c->retry ? 2 : 1);
}
END_TEST

START_TEST(trailers_stay_under_3_kib)
{
    struct error error;
    struct codec_trailers trailers;
    char wide[601];
    size_t sent;

    for (size_t i = 0; i < 300; i++)
        memcpy(wide + 2 * i, "\xc3\xa9", 2);
    wide[600] = 0;
    (void)reason_set(&error, REASON_STORE_UNAVAILABLE, "%.500s", wide);
    for (int i = 0; i < ERROR_META_COUNT; i++)
        error_add_meta(&error, "partition_key", str_of(wide));
    trailers = codec_trailers_encode(&error, NULL, &arena);
    sent = trailers.message.len * 3 + (trailers.details.len + 2) / 3 * 4;

    ck_assert_uint_le(sent, CODEC_TRAILER_BYTES);
    ck_assert_uint_eq(unpack_info(unpack_status(trailers.details))->n_metadata, ERROR_META_COUNT);
}
END_TEST

START_TEST(what_failed_inside_is_not_told)
{
    struct error error;

    (void)error_set(&error, STATUS_INTERNAL, "relation secrets does not exist");
    struct codec_trailers trailers = codec_trailers_encode(&error, NULL, &arena);

    ck_assert_int_eq(trailers.code, 13);
    ck_assert(
        str_equal(trailers.message, STR_LITERAL("INTERNAL_ERROR: the server failed; its log has the cause")));
    ck_assert(str_equal(
        codec_str(unpack_info(unpack_status(trailers.details))->reason), STR_LITERAL("INTERNAL_ERROR")));
}
END_TEST

START_TEST(text_that_is_not_utf8_is_made_so)
{
    ck_assert(str_equal(codec_text(STR_LITERAL("a\xff"
                                               "b\xc3\xa9"),
                            &arena),
        STR_LITERAL("a?b??")));
    ck_assert(str_equal(codec_text(STR_LITERAL("a\xc3\xa9"), &arena), STR_LITERAL("a\xc3\xa9")));
}
END_TEST

/* ---- docs/errors.md ---- */

static const char *const code_names[] = { "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
    "UNAUTHENTICATED" };

static struct str errors_page(void)
{
    struct buf out;

    buf_init(&out, &arena);
    buf_format(&out,
        "# Errors\n\n"
        "<!-- Made from the table of reasons in domain/reason.c; UPDATE_DOCS=1 and the test unit_api write "
        "it. -->\n\n"
        "A failed call has a gRPC status code and, in the trailer `grpc-status-details-bin`, one\n"
        "`google.rpc.ErrorInfo` with a reason, the domain `tavola` and metadata that names the offender: "
        "`table`,\n"
        "`partition_key`, `row_key`, `property`, `operation_index`, `limit`, `actual`, `position`, "
        "`allowed`; `replayed`\nsays that a request_id was used before and this is what it was told then. "
        "Decide by\n"
        "the reason; the rest of the message is for people and may change. `google.rpc.RetryInfo` comes with "
        "what passes by\nitself.\n\n"
        "The message begins with the same reason, a colon and a space, for people and for clients that do "
        "not decode details:\n`TABLE_NOT_FOUND: table people does not exist`. `README.md` shows it in three "
        "clients, and `examples/reason.py`\nreads the ErrorInfo. Errors inside replies (of imports, steps "
        "and dead letters) have a field `reason`, and a\nmessage without it.\n\n"
        "Some failures come from the transport, without an ErrorInfo: UNIMPLEMENTED for a method that does "
        "not exist,\nRESOURCE_EXHAUSTED for a message over 16 MiB, UNAVAILABLE if no server answers or the "
        "connection is lost, and what\na stopping server leaves behind (`docs/callers.md`).\n\n"
        "| reason | code | cause | what to do |\n| --- | --- | --- | --- |\n");
    for (int i = 0; i < REASON_COUNT; i++) {
        const struct reason_info *info = reason_info((enum reason)i);

        buf_format(&out, "| `%s` | %s | %s | %s |\n", info->name,
            code_names[codec_error_status_code(info->status)], info->cause, info->remedy);
    }
    return buf_str(&out);
}

START_TEST(the_page_of_errors_is_up_to_date)
{
    struct str page = errors_page();
    struct str path = STR_LITERAL(DOCS_FOLDER "/errors.md");
    bool update = getenv("UPDATE_DOCS") != NULL;
    FILE *file = fopen(path.data, update ? "w+" : "r");
    char *stored = arena_calloc(&arena, 1, page.len + 2);
    size_t len;

    ck_assert_msg(file != NULL, "cannot open %s", path.data);
    if (update) {
        fwrite(page.data, 1, page.len, file);
        rewind(file);
    }
    len = fread(stored, 1, page.len + 1, file);
    fclose(file);

    ck_assert_msg(str_equal(str_of_bytes(stored, len), page),
        "docs/errors.md is stale: run the test unit_api once with UPDATE_DOCS=1");
}
END_TEST

Suite *test_codec_error_suite(void)
{
    Suite *suite = suite_create("codec_error");
    TCase *tc = tcase_create("codec_error");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, trailers_carry_the_reason);
    tcase_add_test(tc, an_entity_rides_along_where_it_fits);
    tcase_add_loop_test(tc, a_retry_is_advised_where_it_helps, 0, ARRAY_LEN(retry_cases));
    tcase_add_test(tc, trailers_stay_under_3_kib);
    tcase_add_test(tc, what_failed_inside_is_not_told);
    tcase_add_test(tc, text_that_is_not_utf8_is_made_so);
    tcase_add_test(tc, the_page_of_errors_is_up_to_date);
    suite_add_tcase(suite, tc);
    return suite;
}
