/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of api/json/entity_json.c: entities as REST clients write them, in and out.
 */
#include "api/json/entity_json.h"

#include <check.h>

#include "base/macros.h"

static struct arena arena;
static struct error err;

static void setup(void)
{
    arena_init(&arena);
    err = (struct error){ 0 };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* Read JSON, and write it again. */
static const struct form_case {
    const char *in, *out;
} form_cases[] = {
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"\"}", "{\"PartitionKey\": \"p\", \"RowKey\": \"\"}" },
    { "{\"RowKey\":\"r\",\"A\":\"x\",\"PartitionKey\":\"p\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A\": \"x\"}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"B\":2147483647,\"A\":2147483648}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A\": 2147483648.0, \"B\": 2147483647}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":1.0,\"B\":0.1,\"C\":1e300,\"D\":true}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A\": 1.0, \"B\": 0.1, \"C\": 1e+300, \"D\": true}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"9007199254740993\",\"A@odata.type\":\"Edm.Int64\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A@odata.type\": \"Edm.Int64\", \"A\": "
        "\"9007199254740993\"}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":7,\"A@odata.type\":\"Edm.Int64\",\"B\":\"7\",\"B@odata."
      "type\":\"Edm.Int32\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A@odata.type\": \"Edm.Int64\", \"A\": \"7\", \"B\": "
        "7}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"NaN\",\"A@odata.type\":\"Edm.Double\",\"B\":3,\"B@"
      "odata.type\":\"Edm.Double\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A@odata.type\": \"Edm.Double\", \"A\": \"NaN\", "
        "\"B\": 3.0}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"AAECAw==\",\"A@odata.type\":\"Edm.Binary\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A@odata.type\": \"Edm.Binary\", \"A\": "
        "\"AAECAw==\"}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"1815-12-10T00:00:00.5Z\",\"A@odata.type\":\"Edm."
      "DateTime\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A@odata.type\": \"Edm.DateTime\", \"A\": "
        "\"1815-12-10T00:00:00.5Z\"}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"00112233-4455-6677-8899-AABBCCDDEEFF\",\"A@odata."
      "type\":\"Edm.Guid\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"A@odata.type\": \"Edm.Guid\", \"A\": "
        "\"00112233-4455-6677-8899-aabbccddeeff\"}" },
    { "{\"odata.etag\":\"x\",\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"Timestamp\":\"y\",\"A\":null,\"B@"
      "odata.type\":\"Edm.Guid\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\"}" },
    { "{\"tavola.expires\":\"2026-12-31T01:00:00.5+01:00\",\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":1}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"tavola.expires\": \"2026-12-31T00:00:00.5Z\", \"A\": "
        "1}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"tavola.expires\":\"1601-01-01\"}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\", \"tavola.expires\": "
        "\"1601-01-01T00:00:00.0000001Z\"}" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"tavola.expires\":null}",
        "{\"PartitionKey\": \"p\", \"RowKey\": \"r\"}" },
    { "{\"PartitionKey\":\"p\\u00e4\",\"RowKey\":\"r\",\"A\":\"\\u0000\\\"\"}",
        "{\"PartitionKey\": \"p\xc3\xa4\", \"RowKey\": \"r\", \"A\": \"\\u0000\\\"\"}" },
};

START_TEST(an_entity_is_read_and_written)
{
    struct entity entity;
    struct buf out;

    buf_init(&out, &arena);
    ck_assert_msg(entity_json_read(str_of(form_cases[_i].in), &arena, &entity, NULL, &err) == STATUS_OK, "%s",
        err.message);
    entity_json_write(&entity, STR_EMPTY, &out);
    buf_append_byte(&out, '\0');
    ck_assert_str_eq(out.data, form_cases[_i].out);
}
END_TEST

START_TEST(etag_and_time_come_with_what_was_stored)
{
    struct entity entity = { .key = { STR_LITERAL("p"), STR_LITERAL("r") }, .timestamp = 1 };
    struct buf out;

    buf_init(&out, &arena);
    entity_json_write(&entity, STR_LITERAL("W/\"1\""), &out);
    buf_append_byte(&out, '\0');
    ck_assert_str_eq(out.data,
        "{\"odata.etag\": \"W/\\\"1\\\"\", \"PartitionKey\": \"p\", \"RowKey\": \"r\", \"Timestamp\": "
        "\"1601-01-01T00:00:00.0000001Z\"}");
}
END_TEST

static const struct refused_case {
    const char *in, *reason, *message;
} refused_cases[] = {
    { "", "INVALID_INPUT", "line 1, column 0 of the JSON" },
    { "[]", "INVALID_INPUT", "a JSON object is required" },
    { "{\"PartitionKey\":\"p\"}", "PROPERTIES_NEED_VALUE", "RowKey is missing" },
    { "{\"PartitionKey\":5,\"RowKey\":\"r\"}", "PROPERTIES_NEED_VALUE",
        "PartitionKey is missing or not text" },
    { "{\"PartitionKey\":\"a/b\",\"RowKey\":\"r\"}", "OUT_OF_RANGE_INPUT", "PartitionKey" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":1,\"A\":2}", "DUPLICATE_PROPERTIES_SPECIFIED",
        "duplicate" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A b\":1}", "PROPERTY_NAME_INVALID", "A b" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":{}}", "INVALID_INPUT",
        "A: a property is text, a number" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":[1]}", "INVALID_INPUT",
        "A: a property is text, a number" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":1,\"A@odata.type\":\"Edm.Byte\"}", "INVALID_INPUT",
        "A: its type must be one of Edm.String" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":2147483648,\"A@odata.type\":\"Edm.Int32\"}",
        "INVALID_INPUT", "A: the value is not a valid Edm.Int32" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":1.5,\"A@odata.type\":\"Edm.Int64\"}", "INVALID_INPUT",
        "A: the value is not a valid Edm.Int64" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"yes\",\"A@odata.type\":\"Edm.Boolean\"}",
        "INVALID_INPUT", "A: the value is not a valid Edm.Boolean" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"?\",\"A@odata.type\":\"Edm.Binary\"}",
        "INVALID_INPUT", "A: the value is not a valid Edm.Binary" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":5,\"A@odata.type\":\"Edm.String\"}", "INVALID_INPUT",
        "A: the value is not a valid Edm.String" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":\"x\",\"A@odata.type\":\"Edm.Guid\"}", "INVALID_INPUT",
        "A" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"tavola.expires\":\"soon\"}", "INVALID_INPUT",
        "tavola.expires: the value is not a time such as 2026-01-31T12:00:00Z" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"tavola.expires\":5}", "INVALID_INPUT",
        "tavola.expires: the value is not a time" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"tavola.expires\":\"1600-12-31\"}", "OUT_OF_RANGE_INPUT",
        "tavola.expires: the time is not in the years 1601 to 9999" },
    { "{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"tavola.other\":1}", "PROPERTY_NAME_INVALID",
        "tavola.other" },
};

START_TEST(what_is_no_entity_is_refused)
{
    const struct refused_case *c = &refused_cases[_i];
    struct entity entity;

    ck_assert_int_ne(entity_json_read(str_of(c->in), &arena, &entity, NULL, &err), STATUS_OK);
    ck_assert_str_eq(err.reason, c->reason);
    ck_assert_msg(strstr(err.message, c->message) != NULL, "%s", err.message);
}
END_TEST

START_TEST(a_word_has_the_type_that_it_names)
{
    struct str slice;

    ck_assert_int_eq(entity_json_read_text(
                         STR_LITERAL("A"), STR_LITERAL("int32"), STR_LITERAL("36"), &arena, &slice, &err),
        STATUS_OK);
    ck_assert(str_equal(slice, str_of_bytes("\x0a\x01"
                                            "A\x12\x02\x18\x48",
                                   7)));
    ck_assert_int_eq(entity_json_read_text(
                         STR_LITERAL("A"), STR_LITERAL("Edm.Int64"), STR_LITERAL("x"), &arena, &slice, &err),
        STATUS_INVALID);
    ck_assert_int_eq(
        entity_json_read_text(STR_LITERAL("A"), STR_LITERAL("int"), STR_LITERAL("1"), &arena, &slice, &err),
        STATUS_INVALID);
    ck_assert_int_eq(entity_json_read_text(
                         STR_LITERAL("A"), STR_LITERAL("string"), STR_LITERAL("\xff"), &arena, &slice, &err),
        STATUS_INVALID);
}
END_TEST

Suite *test_entity_json_suite(void)
{
    Suite *suite = suite_create("entity_json");
    TCase *tc = tcase_create("entity_json");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, an_entity_is_read_and_written, 0, ARRAY_LEN(form_cases));
    tcase_add_test(tc, etag_and_time_come_with_what_was_stored);
    tcase_add_loop_test(tc, what_is_no_entity_is_refused, 0, ARRAY_LEN(refused_cases));
    tcase_add_test(tc, a_word_has_the_type_that_it_names);
    suite_add_tcase(suite, tc);
    return suite;
}
