/* SPDX-License-Identifier: Apache-2.0 */
/* test_entities.c - typed entities in memory: every type, JSON, text; and options that cannot be used. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "client/lib/tavola.h"

static const char guid[] = "00112233-4455-6677-8899-aabbccddeeff";

static struct tavola_entity *an_entity_of_every_type(void)
{
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY("sales", "é 1"));

    tavola_entity_set_string(entity, "Name", "Ada");
    tavola_entity_set_boolean(entity, "Active", true);
    tavola_entity_set_int32(entity, "Age", -36);
    tavola_entity_set_int64(entity, "Salary", INT64_MIN);
    tavola_entity_set_double(entity, "Share", 0.1);
    tavola_entity_set_datetime(entity, "Born", (struct tavola_time){ -4861641600, 500000000 });
    tavola_entity_set_guid(entity, "Id", guid);
    tavola_entity_set_binary(entity, "Photo", "a\0b", 3);
    return entity;
}

/* Of any entity that holds what that of an_entity_of_every_type holds. */
static void assert_every_type(const struct tavola_entity *entity)
{
    const struct tavola_value *born = tavola_entity_get(entity, "Born");
    const struct tavola_value *photo = tavola_entity_get(entity, "Photo");

    ck_assert_uint_eq(tavola_entity_count(entity), 8);
    ck_assert_str_eq(tavola_entity_key(entity).partition, "sales");
    ck_assert_str_eq(tavola_entity_key(entity).row, "é 1");
    ck_assert_str_eq(tavola_entity_string(entity, "Name", "-"), "Ada");
    ck_assert(tavola_entity_boolean(entity, "Active", false));
    ck_assert_int_eq(tavola_entity_int64(entity, "Age", 0), -36);
    ck_assert_int_eq(tavola_entity_get(entity, "Age")->type, TAVOLA_INT32);
    ck_assert_int_eq(tavola_entity_int64(entity, "Salary", 0), INT64_MIN);
    ck_assert_double_eq(tavola_entity_double(entity, "Share", 0), 0.1);
    ck_assert_int_eq(born->type, TAVOLA_DATETIME);
    ck_assert_int_eq(born->time.seconds, -4861641600);
    ck_assert_int_eq(born->time.nanos, 500000000);
    ck_assert_int_eq(tavola_entity_get(entity, "Id")->type, TAVOLA_GUID);
    ck_assert_str_eq(tavola_entity_get(entity, "Id")->data, guid);
    ck_assert_uint_eq(photo->size, 3);
    ck_assert_mem_eq(photo->data, "a\0b", 3);
}

START_TEST(an_entity_keeps_every_type)
{
    struct tavola_entity *entity = an_entity_of_every_type();
    struct tavola_entity *copy = tavola_entity_copy(entity);

    assert_every_type(entity);
    tavola_entity_free(entity);
    assert_every_type(copy);
    tavola_entity_free(copy);
}
END_TEST

START_TEST(json_has_every_type)
{
    struct tavola_entity *entity = an_entity_of_every_type(), *read = NULL;
    char *json = tavola_entity_to_json(entity);
    struct tavola_error error;

    ck_assert_msg(
        tavola_entity_from_json(json, strlen(json), &read, &error) == TAVOLA_OK, "%s", error.message);
    assert_every_type(read);
    tavola_free(json);
    tavola_entity_free(entity);
    tavola_entity_free(read);
}
END_TEST

static const struct tavola_time midnight = { 1798675200, 500000000 }; /* 2026-12-31T00:00:00.5Z */

static void assert_expires(const struct tavola_entity *entity, struct tavola_time want)
{
    ck_assert_int_eq(tavola_entity_expires(entity).seconds, want.seconds);
    ck_assert_int_eq(tavola_entity_expires(entity).nanos, want.nanos);
}

START_TEST(json_has_the_time_at_which_an_entity_expires)
{
    struct tavola_entity *entity = an_entity_of_every_type(), *read = NULL;
    char *json;

    tavola_entity_set_expires(entity, midnight);
    json = tavola_entity_to_json(entity);
    ck_assert_int_eq(tavola_entity_from_json(json, strlen(json), &read, NULL), TAVOLA_OK);
    assert_expires(read, midnight);
    assert_every_type(read);
    tavola_free(json);
    tavola_entity_free(entity);
    tavola_entity_free(read);
}
END_TEST

START_TEST(text_sets_the_time_at_which_an_entity_expires)
{
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY("p", "r"));
    struct tavola_error error;

    ck_assert_int_eq(
        tavola_entity_set_text(entity, "tavola.expires", NULL, "2026-12-31T00:00:00.5Z", NULL), TAVOLA_OK);
    assert_expires(entity, midnight);
    ck_assert_int_eq(
        tavola_entity_set_text(entity, "tavola.expires", "datetime", "1999-01-01", NULL), TAVOLA_OK);
    assert_expires(entity, (struct tavola_time){ 915148800, 0 });
    ck_assert_int_eq(
        tavola_entity_set_text(entity, "tavola.expires", "int32", "5", &error), TAVOLA_INVALID_ARGUMENT);
    ck_assert_str_eq(error.message, "tavola.expires: its type is DateTime, not \"int32\"");
    ck_assert_int_eq(
        tavola_entity_set_text(entity, "tavola.expires", NULL, "soon", &error), TAVOLA_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "is not a time such as"));
    ck_assert_int_eq(
        tavola_entity_set_text(entity, "tavola.expires", NULL, "1600-01-01", &error), TAVOLA_OUT_OF_RANGE);
    ck_assert_uint_eq(tavola_entity_count(entity), 0);
    tavola_entity_free(entity);
}
END_TEST

START_TEST(a_property_is_replaced_and_removed_also_after_reading)
{
    static const char json[] = "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A\": 1, \"B\": \"b\"}";
    struct tavola_entity *entity = NULL;
    const char *name = NULL;

    ck_assert_int_eq(tavola_entity_from_json(json, sizeof(json) - 1, &entity, NULL), TAVOLA_OK);
    tavola_entity_set_string(entity, "A", "text");
    tavola_entity_remove(entity, "B");
    tavola_entity_remove(entity, "None");
    ck_assert_uint_eq(tavola_entity_count(entity), 1);
    ck_assert_ptr_nonnull(tavola_entity_at(entity, 0, &name));
    ck_assert_str_eq(name, "A");
    ck_assert_str_eq(tavola_entity_string(entity, "A", "-"), "text");
    ck_assert_str_eq(tavola_entity_string(entity, "B", "gone"), "gone");
    ck_assert_int_eq(tavola_entity_int64(entity, "A", 7), 7);
    ck_assert_ptr_null(tavola_entity_at(entity, 1, &name));
    tavola_entity_free(entity);
}
END_TEST

static const struct text_case {
    const char *type, *text;
    enum tavola_type want;
} text_cases[] = {
    { NULL, "36", TAVOLA_STRING },
    { "int32", "36", TAVOLA_INT32 },
    { "Edm.Int64", "9007199254740993", TAVOLA_INT64 },
    { "double", "NaN", TAVOLA_DOUBLE },
    { "BOOLEAN", "true", TAVOLA_BOOLEAN },
    { "datetime", "2026-01-31T12:00:00Z", TAVOLA_DATETIME },
    { "guid", "00112233-4455-6677-8899-AABBCCDDEEFF", TAVOLA_GUID },
    { "binary", "AP8=", TAVOLA_BINARY },
    { "int32", "3000000000", TAVOLA_NULL },
    { "guid", "0011", TAVOLA_NULL },
    { "integer", "1", TAVOLA_NULL },
    { "datetime", "yesterday", TAVOLA_NULL },
};

START_TEST(a_value_is_read_from_text)
{
    const struct text_case *c = &text_cases[_i];
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY("p", "r"));
    struct tavola_error error;
    enum tavola_code code = tavola_entity_set_text(entity, "X", c->type, c->text, &error);

    if (c->want == TAVOLA_NULL) {
        ck_assert_int_eq(code, TAVOLA_INVALID_ARGUMENT);
        ck_assert_str_eq(error.reason, "INVALID_INPUT");
        ck_assert_ptr_nonnull(strstr(error.message, "X"));
        ck_assert_ptr_null(tavola_entity_get(entity, "X"));
    } else {
        ck_assert_msg(code == TAVOLA_OK, "%s", error.message);
        ck_assert_int_eq(tavola_entity_get(entity, "X")->type, c->want);
    }
    tavola_entity_free(entity);
}
END_TEST

static bool give_nothing(void *context, char *out, size_t size)
{
    (void)context;
    (void)out;
    (void)size;
    return false;
}

static const struct options_case {
    struct tavola_options options;
    const char *message;
} options_cases[] = {
    { { .target = "h:1", .token = "t", .give_token = give_nothing }, "exclude each other" },
    { { .target = "unix:/x", .account = "acme" }, "belong together" },
    { { .target = "unix:/x", .account = "acme", .account_key = "secret" }, "is not a key" },
    { { .target = "unix:/x", .certificate = "c" }, "need TLS" },
    { { .target = "db.example:1", .token = "t" }, "in plain text" },
    { { .target = "db.example:1", .give_token = give_nothing }, "in plain text" },
    { { .target = "unix:/x", .keepalive_ms = 500 }, "at least 10000" },
    { { .target = "unix:/x", .timeout_ms = -1 }, "not negative" },
    { { .target = "unix:/x", .ca = "/nowhere" }, "/nowhere" },
};

START_TEST(options_that_cannot_be_used_are_refused)
{
    const struct options_case *c = &options_cases[_i];
    struct tavola_error error = { 0 };
    struct tavola *client = NULL;

    ck_assert_int_eq(tavola_open(&c->options, &client, &error), TAVOLA_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, c->message) != NULL, "%s", error.message);
    ck_assert_ptr_null(client);
}
END_TEST

Suite *test_entities_suite(void);

Suite *test_entities_suite(void)
{
    Suite *suite = suite_create("entities");
    TCase *tc = tcase_create("entities");

    tcase_add_test(tc, an_entity_keeps_every_type);
    tcase_add_test(tc, json_has_every_type);
    tcase_add_test(tc, json_has_the_time_at_which_an_entity_expires);
    tcase_add_test(tc, text_sets_the_time_at_which_an_entity_expires);
    tcase_add_test(tc, a_property_is_replaced_and_removed_also_after_reading);
    tcase_add_loop_test(tc, a_value_is_read_from_text, 0, (int)(sizeof(text_cases) / sizeof(text_cases[0])));
    tcase_add_loop_test(tc, options_that_cannot_be_used_are_refused, 0,
        (int)(sizeof(options_cases) / sizeof(options_cases[0])));
    suite_add_tcase(suite, tc);
    return suite;
}
