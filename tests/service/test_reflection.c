/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/probes/reflection.c.
 */
#include "service/probes/reflection.h"

#include <check.h>

#include "api/codec.h"
#include "base/wire.h"
#include "grpc/reflection/v1/reflection.pb-c.h"

typedef Grpc__Reflection__V1__ServerReflectionResponse response;

static struct arena arena;
static struct error err;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static response *ask(uint32_t field, const char *text)
{
    ProtobufCMessage *message;
    struct buf request, out;

    buf_init(&request, &arena);
    buf_init(&out, &arena);
    wire_write_bytes(&request, field, str_of(text));
    ck_assert_int_eq(reflection_answer(buf_str(&request), &arena, &out, &err), STATUS_OK);
    ck_assert_int_eq(codec_unpack(&grpc__reflection__v1__server_reflection_response__descriptor,
                         buf_str(&out), &arena, &message, &err),
        STATUS_OK);
    return (response *)message;
}

/* 0: not found. */
static size_t files_for(uint32_t field, const char *text)
{
    response *answer = ask(field, text);

    if (answer->message_response_case ==
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE) {
        ck_assert_int_eq(answer->error_response->error_code, 5);
        return 0;
    }
    return answer->file_descriptor_response->n_file_descriptor_proto;
}

static const struct symbol_case {
    const char *symbol;
    size_t files; /* with all imported files */
} symbol_cases[] = {
    { "tavola.v1.Value", 2 },
    { "tavola.v1.Value.string_value", 2 },
    { "tavola.v1.Value.kind", 2 },
    { "tavola.v1.Entity.PropertiesEntry", 2 },
    { "tavola.v1.EntityService", 5 },
    { "tavola.v1.EntityService.GetEntity", 5 },
    { "tavola.v1.AccessPath", 1 },
    { "tavola.v1.ACCESS_PATH_POINT", 1 },
    { "tavola.v1.IndexService", 7 },
    { "google.rpc.BadRequest.FieldViolation", 2 },
    { "google.protobuf.Timestamp", 1 },
    { "grpc.health.v1.Health.Watch", 1 },
    { "grpc.health.v1.HealthCheckResponse.ServingStatus", 1 },
    { "grpc.reflection.v1.ServerReflection", 1 },
    { "grpc.reflection.v1alpha.ServerReflection", 1 },
    { "tavola.v1", 0 },
    { "tavola.v1.", 0 },
    { "tavola.v1.Valu", 0 },
    { "tavola.v1.Value.", 0 },
    { "tavola.v1.Value-string_value", 0 },
    { "tavola.v1-Value", 0 },
    { "tavola.v1.Value.string_value.x", 0 },
    { "Value", 0 },
    { "", 0 },
};

START_TEST(symbols_are_found_in_their_files)
{
    const struct symbol_case *c = &symbol_cases[_i];

    ck_assert_msg(files_for(4, c->symbol) == c->files, "%s: %zu", c->symbol, files_for(4, c->symbol));
}
END_TEST

START_TEST(files_are_found_by_name)
{
    ck_assert_uint_eq(files_for(3, "tavola/v1/entity.proto"), 2);
    ck_assert_uint_eq(files_for(3, "grpc/health/v1/health.proto"), 1);
    ck_assert_uint_eq(files_for(3, "tavola/v1/nothing.proto"), 0);
    ck_assert_uint_eq(files_for(3, ""), 0);
}
END_TEST

START_TEST(services_are_listed)
{
    response *answer = ask(7, "");

    ck_assert_uint_eq(answer->list_services_response->n_service, 10);
}
END_TEST

START_TEST(there_are_no_extensions)
{
    ck_assert_uint_eq(files_for(5, ""), 0);
    ck_assert_uint_eq(ask(6, "tavola.v1.Entity")->all_extension_numbers_response->n_extension_number, 0);
    ck_assert_uint_eq(files_for(6, "tavola.v1.Nothing"), 0);
}
END_TEST

/* A request may be as long as its caller likes, and the caller need not read the answer. */
START_TEST(the_question_is_not_repeated_in_the_answer)
{
    ck_assert_ptr_null(ask(4, "tavola.v1.Value")->original_request);
}
END_TEST

START_TEST(nonsense_is_refused)
{
    struct buf out;

    buf_init(&out, &arena);
    ck_assert_int_eq(reflection_answer(STR_LITERAL("\x22\x7f"), &arena, &out, &err), STATUS_INVALID);
    ck_assert_int_eq(reflection_answer(STR_EMPTY, &arena, &out, &err), STATUS_INVALID);
    ck_assert_int_eq(reflection_answer(STR_LITERAL("\x0a\x01h"), &arena, &out, &err), STATUS_INVALID);
}
END_TEST

Suite *test_reflection_suite(void)
{
    Suite *suite = suite_create("reflection");
    TCase *tc = tcase_create("reflection");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, symbols_are_found_in_their_files, 0, ARRAY_LEN(symbol_cases));
    tcase_add_test(tc, files_are_found_by_name);
    tcase_add_test(tc, services_are_listed);
    tcase_add_test(tc, there_are_no_extensions);
    tcase_add_test(tc, the_question_is_not_repeated_in_the_answer);
    tcase_add_test(tc, nonsense_is_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
