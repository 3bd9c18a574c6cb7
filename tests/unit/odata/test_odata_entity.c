/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of odata/odata_entity.c and odata_selection.c: the bytes of bodies at each level of metadata.
 */
#include "odata/odata_entity.h"

#include <check.h>

#include "base/macros.h"

static struct arena arena;
static struct error err;
static struct buf out;
static struct odata_view view;

static void setup(void)
{
    arena_init(&arena);
    err = (struct error){ 0 };
    buf_init(&out, &arena);
    view = (struct odata_view){ .level = ODATA_LEVEL_MINIMAL,
        .base = STR_LITERAL("http://127.0.0.1:10002/acct"),
        .account = STR_LITERAL("acct"),
        .table = STR_LITERAL("Orders"),
        .selection = { .partition = true, .row = true, .timestamp = true } };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const char *written(void)
{
    buf_append_byte(&out, '\0');
    return out.data;
}

static const char every_type[] =
    "{\"odata.metadata\":\"x\",\"odata.etag\":\"y\",\"PartitionKey\":\"O'Neil\",\"RowKey\":\"\xC3\xA4\","
    "\"Timestamp\":\"ignored\",\"Text\":\"a\\u0000\\u0001\\\"\",\"Yes\":true,\"Small\":-5,\"Large@odata."
    "type\":"
    "\"Edm.Int64\",\"Large\":\"9007199254740993\",\"Half\":0.5,\"Whole\":3.0,\"None@odata.type\":\"Edm."
    "Double\","
    "\"None\":\"NaN\",\"Day\":\"1601-01-01T00:00:00Z\",\"Day@odata.type\":\"Edm.DateTime\",\"Id@odata.type\":"
    "\"Edm.Guid\",\"Id\":\"00112233-4455-6677-8899-AABBCCDDEEFF\",\"Bytes@odata.type\":\"Edm.Binary\","
    "\"Bytes\":"
    "\"AAEC\",\"Gone\":null}";

static struct entity read(const char *body)
{
    struct entity entity;

    ck_assert_msg(
        odata_entity_read(str_of(body), NULL, &arena, &entity, NULL, &err) == STATUS_OK, "%s", err.message);
    entity.timestamp = INT64_C(130216075260000000);
    entity.etag = (struct etag){ .table_id = 1, .version = 2, .key = 3 };
    return entity;
}

#define PLAIN                                                                                                \
    "\"Bytes\":\"AAEC\",\"Day\":\"1601-01-01T00:00:00Z\",\"Half\":0.5,\"Id\":"                               \
    "\"00112233-4455-6677-8899-aabbccddeeff\",\"Large\":\"9007199254740993\",\"None\":\"NaN\",\"Small\":-5," \
    "\"Text\":\"a\\u0000\\u0001\\\"\",\"Whole\":3.0,\"Yes\":true}"
#define ANNOTATED                                                                                            \
    "\"Bytes@odata.type\":\"Edm.Binary\",\"Bytes\":\"AAEC\",\"Day@odata.type\":\"Edm.DateTime\",\"Day\":"    \
    "\"1601-01-01T00:00:00Z\",\"Half\":0.5,\"Id@odata.type\":\"Edm.Guid\",\"Id\":"                           \
    "\"00112233-4455-6677-8899-aabbccddeeff\",\"Large@odata.type\":\"Edm.Int64\",\"Large\":"                 \
    "\"9007199254740993\",\"None@odata.type\":\"Edm.Double\",\"None\":\"NaN\",\"Small\":-5,\"Text\":"        \
    "\"a\\u0000\\u0001\\\"\",\"Whole\":3.0,\"Yes\":true}"
#define KEYS "\"PartitionKey\":\"O'Neil\",\"RowKey\":\"\xC3\xA4\","
#define TIME "\"Timestamp\":\"2013-08-22T01:12:06.0000000Z\","
#define LINK "Orders(PartitionKey='O''Neil',RowKey='%C3%A4')"

START_TEST(no_metadata_is_properties_alone)
{
    struct entity entity = read(every_type);

    view.level = ODATA_LEVEL_NONE;
    odata_entity_write(&view, &entity, &out);
    ck_assert_str_eq(written(), "{" KEYS TIME PLAIN);
}
END_TEST

START_TEST(minimal_metadata_has_etag_and_types)
{
    struct entity entity = read(every_type);

    odata_entity_write(&view, &entity, &out);
    ck_assert_str_eq(written(),
        "{\"odata.metadata\":\"http://127.0.0.1:10002/acct/$metadata#Orders/@Element\","
        "\"odata.etag\":\"W/\\\"1.2.00000003\\\"\"," KEYS TIME ANNOTATED);
}
END_TEST

START_TEST(full_metadata_has_addresses)
{
    struct entity entity = read(every_type);

    view.level = ODATA_LEVEL_FULL;
    odata_entity_write(&view, &entity, &out);
    ck_assert_str_eq(written(),
        "{\"odata.metadata\":\"http://127.0.0.1:10002/acct/$metadata#Orders/@Element\",\"odata.type\":"
        "\"acct.Orders\",\"odata.id\":\"http://127.0.0.1:10002/acct/" LINK "\",\"odata.etag\":"
        "\"W/\\\"1.2.00000003\\\"\",\"odata.editLink\":\"" LINK "\"," KEYS
        "\"Timestamp@odata.type\":\"Edm.DateTime\"," TIME ANNOTATED);
}
END_TEST

START_TEST(a_list_has_its_elements)
{
    struct entity entity = read("{\"PartitionKey\":\"p\",\"RowKey\":\"\",\"A\":1}");
    struct odata_list list;

    odata_list_begin(&list, &view, &out);
    odata_list_add_entity(&list, &entity);
    odata_list_add_entity(&list, &entity);
    odata_list_end(&list);
    ck_assert_str_eq(written(),
        "{\"odata.metadata\":\"http://127.0.0.1:10002/acct/$metadata#Orders\",\"value\":["
        "{\"odata.etag\":\"W/\\\"1.2.00000003\\\"\",\"PartitionKey\":\"p\",\"RowKey\":\"\"," TIME "\"A\":1},"
        "{\"odata.etag\":\"W/\\\"1.2.00000003\\\"\",\"PartitionKey\":\"p\",\"RowKey\":\"\"," TIME
        "\"A\":1}]}");
}
END_TEST

START_TEST(when_an_entity_expires_is_written_if_it_is_asked_for)
{
    struct entity entity = read("{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":1,\"tavola.expires\":"
                                "\"2026-12-31T00:00:00Z\"}");
    static const char kept[] = "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"," TIME "\"A\":1}";

    view.level = ODATA_LEVEL_NONE;
    odata_entity_write(&view, &entity, &out);
    ck_assert_str_eq(written(), kept);
    out.len = 0;
    view.with_expires = true;
    odata_entity_write(&view, &entity, &out);
    ck_assert_str_eq(written(), "{\"PartitionKey\":\"p\",\"RowKey\":\"r\"," TIME
                                "\"tavola.expires\":\"2026-12-31T00:00:00Z\",\"A\":1}");
    out.len = 0;
    entity.expires = 0;
    odata_entity_write(&view, &entity, &out);
    ck_assert_str_eq(written(), kept);
}
END_TEST

START_TEST(an_empty_list_without_metadata)
{
    struct odata_list list;

    view.level = ODATA_LEVEL_NONE;
    odata_list_begin(&list, &view, &out);
    odata_list_end(&list);
    ck_assert_str_eq(written(), "{\"value\":[]}");
}
END_TEST

START_TEST(only_what_is_selected_is_there_and_null_where_it_is_not)
{
    struct entity entity =
        read("{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":1,\"B\":2,\"C\":\"3\",\"C@odata.type\":"
             "\"Edm.Int64\"}");

    ck_assert_int_eq(
        odata_selection_parse(STR_LITERAL("RowKey,X,C, A,C"), &arena, &view.selection, &err), STATUS_OK);
    odata_entity_write(&view, &entity, &out);
    ck_assert_str_eq(written(),
        "{\"odata.metadata\":\"http://127.0.0.1:10002/acct/$metadata#Orders/@Element&$select=RowKey,X,C, "
        "A,C\","
        "\"odata.etag\":\"W/\\\"1.2.00000003\\\"\",\"RowKey\":\"r\",\"A\":1,\"C@odata.type\":\"Edm.Int64\","
        "\"C\":\"3\",\"X\":null}");
}
END_TEST

START_TEST(selections_that_name_no_property_are_refused)
{
    static const char *const bad[] = { "A,,B", ",", "A-B", "a b", "A," };

    for (size_t i = 0; i + 1 < ARRAY_LEN(bad); i++) {
        ck_assert_msg(
            odata_selection_parse(str_of(bad[i]), &arena, &view.selection, &err) != STATUS_OK, "%s", bad[i]);
        ck_assert_str_eq(err.reason, "INVALID_INPUT");
    }
}
END_TEST

START_TEST(tables_are_read_and_written)
{
    struct odata_list list;
    struct str name;

    ck_assert_int_eq(
        odata_entity_read_table(STR_LITERAL("{\"TableName\":\"Orders\"}"), &arena, &name, &err), 0);
    view.level = ODATA_LEVEL_FULL;
    view.table = STR_LITERAL("Tables");
    odata_list_begin(&list, &view, &out);
    odata_list_add_table(&list, name);
    odata_list_end(&list);
    ck_assert_str_eq(written(),
        "{\"odata.metadata\":\"http://127.0.0.1:10002/acct/$metadata#Tables\",\"value\":[{\"odata.type\":"
        "\"acct.Tables\",\"odata.id\":\"http://127.0.0.1:10002/acct/Tables('Orders')\",\"odata.editLink\":"
        "\"Tables('Orders')\",\"TableName\":\"Orders\"}]}");
    out.len = 0;
    view.level = ODATA_LEVEL_MINIMAL;
    odata_entity_write_table(&view, name, &out);
    ck_assert_str_eq(written(),
        "{\"odata.metadata\":\"http://127.0.0.1:10002/acct/$metadata#Tables/@Element\","
        "\"TableName\":\"Orders\"}");
}
END_TEST

START_TEST(the_url_decides_over_the_keys_of_a_body)
{
    struct entity_key key = { STR_LITERAL("p"), STR_LITERAL("r") };
    struct entity entity;

    ck_assert_int_eq(odata_entity_read(STR_LITERAL("{\"PartitionKey\":7,\"RowKey\":\"other\",\"A\":1}"), &key,
                         &arena, &entity, NULL, &err),
        STATUS_OK);
    ck_assert(str_equal(entity.key.row, key.row) && str_equal(entity.key.partition, key.partition));
    ck_assert_int_eq(odata_entity_read(STR_EMPTY, &key, &arena, &entity, NULL, &err), STATUS_OK);
    ck_assert_uint_eq(entity.properties.bytes.len, 0);
    ck_assert_int_ne(odata_entity_read(STR_EMPTY, NULL, &arena, &entity, NULL, &err), STATUS_OK);
}
END_TEST

/* A property's value as a request has it, and as a reply without metadata does. */
static const struct value_case {
    const char *in, *out; /* out NULL: refused */
    const char *reason;
} value_cases[] = {
    { "2147483647", "2147483647", NULL },
    { "2147483648", "2147483648.0", NULL },
    { "9007199254740993", "9007199254740992.0", NULL },
    { "123456789012345678901234567890", "1.2345678901234568e+29", NULL },
    { "-18446744073709551617", "-1.8446744073709552e+19", NULL },
    { "1e0", "1.0", NULL },
    { "-0.0", "-0.0", NULL },
    { "1e400", NULL, "INVALID_INPUT" },
    { "[1]", NULL, "INVALID_INPUT" },
    { "{}", NULL, "INVALID_INPUT" },
    { "\"NaN\"", "\"NaN\"", NULL },
    { "9223372036854775807,\"A@odata.type\":\"Edm.Int64\"", "\"9223372036854775807\"", NULL },
    { "9223372036854775808,\"A@odata.type\":\"Edm.Int64\"", NULL, "INVALID_INPUT" },
    { "\"-9223372036854775808\",\"A@odata.type\":\"Edm.Int64\"", "\"-9223372036854775808\"", NULL },
    { "\"12x\",\"A@odata.type\":\"Edm.Int64\"", NULL, "INVALID_INPUT" },
    { "\"7\",\"A@odata.type\":\"Edm.Int32\"", "7", NULL },
    { "\"true\",\"A@odata.type\":\"Edm.Boolean\"", "true", NULL },
    { "\"yes\",\"A@odata.type\":\"Edm.Boolean\"", NULL, "INVALID_INPUT" },
    { "1,\"A@odata.type\":\"Edm.Boolean\"", NULL, "INVALID_INPUT" },
    { "1.0,\"A@odata.type\":\"Edm.Boolean\"", NULL, "INVALID_INPUT" },
    { "[],\"A@odata.type\":\"Edm.Boolean\"", NULL, "INVALID_INPUT" },
    { "5e-324", "5e-324", NULL },
    { "1.5e-323", "1.5e-323", NULL },
    { "2.2250738585072014e-308", "2.2250738585072014e-308", NULL },
    { "3,\"A@odata.type\":\"Edm.Double\"", "3.0", NULL },
    { "\"-Infinity\",\"A@odata.type\":\"Edm.Double\"", "\"-Infinity\"", NULL },
    { "\"\",\"A@odata.type\":\"Edm.DateTime\"", NULL, "INVALID_INPUT" },
    { "\"1600-12-31T23:59:59Z\",\"A@odata.type\":\"Edm.DateTime\"", NULL, "OUT_OF_RANGE_INPUT" },
    { "\"9999-12-31T23:59:59.99999999Z\",\"A@odata.type\":\"Edm.DateTime\"",
        "\"9999-12-31T23:59:59.9999999Z\"", NULL },
    { "\"2008-07-10T02:00:00.1230000+02:00\",\"A@odata.type\":\"Edm.DateTime\"",
        "\"2008-07-10T00:00:00.123Z\"", NULL },
    { "\"x\",\"A@odata.type\":\"Edm.Guid\"", NULL, "INVALID_INPUT" },
    { "\"x\",\"A@odata.type\":\"Edm.Duration\"", NULL, "INVALID_INPUT" },
    { "\"!\",\"A@odata.type\":\"Edm.Binary\"", NULL, "INVALID_INPUT" },
    { "1,\"A\":2", NULL, "DUPLICATE_PROPERTIES_SPECIFIED" },
    { "\"\\ud800\"", NULL, "INVALID_INPUT" },
};

START_TEST(values_are_read_exactly_or_refused)
{
    const struct value_case *c = &value_cases[_i];
    struct entity_key key = { STR_LITERAL("p"), STR_LITERAL("r") };
    struct str body = arena_format(&arena, "{\"A\":%s}", c->in);
    struct entity entity;

    ck_assert_int_eq(odata_entity_read(body, &key, &arena, &entity, NULL, &err) == STATUS_OK, c->out != NULL);
    if (!c->out) {
        ck_assert_str_eq(err.reason, c->reason);
        return;
    }
    view.level = ODATA_LEVEL_NONE;
    view.selection = (struct odata_selection){ 0 };
    odata_entity_write(&view, &entity, &out);
    ck_assert_str_eq(written(), arena_format(&arena, "{\"A\":%s}", c->out).data);
}
END_TEST

START_TEST(a_time_out_of_range_is_told_as_the_live_service_tells_it)
{
    struct entity_key key = { STR_LITERAL("p"), STR_LITERAL("r") };
    struct entity entity;

    ck_assert_int_eq(
        odata_entity_read(
            STR_LITERAL("{\"Born\":\"1600-12-31T23:59:59Z\",\"Born@odata.type\":\"Edm.DateTime\"}"), &key,
            &arena, &entity, NULL, &err),
        STATUS_OUT_OF_RANGE);
    ck_assert_str_eq(err.message, "The 'Born' parameter of value '12/31/1600 23:59:59' is out of range.");
    ck_assert_str_eq(err.reason, "OUT_OF_RANGE_INPUT");
}
END_TEST

START_TEST(deep_json_is_refused)
{
    struct buf body;
    struct entity entity;

    buf_init(&body, &arena);
    buf_append(&body, STR_LITERAL("{\"A\":"));
    for (int i = 0; i < 1000000; i++)
        buf_append_byte(&body, '[');
    ck_assert_int_ne(odata_entity_read(buf_str(&body), NULL, &arena, &entity, NULL, &err), STATUS_OK);
    ck_assert_str_eq(err.reason, "INVALID_INPUT");
}
END_TEST

START_TEST(a_writer_ends_with_the_size_of_a_reply)
{
    struct entity entity = read("{\"PartitionKey\":\"p\",\"RowKey\":\"r\",\"A\":1}");
    struct odata_writer writer;
    size_t begin;

    odata_writer_init(&writer, &view, &out);
    begin = out.len;
    while (writer.sink.add(&writer.sink, &entity))
        continue;
    ck_assert_uint_le(out.len, 3 * 1024 * 1024);
    ck_assert_uint_gt(writer.list.count, 1000);
    writer.sink.reset(&writer.sink);
    ck_assert_uint_eq(out.len, begin);
    ck_assert_uint_eq(writer.list.count, 0);
}
END_TEST

Suite *test_odata_entity_suite(void)
{
    Suite *suite = suite_create("odata_entity");
    TCase *tc = tcase_create("odata_entity");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, no_metadata_is_properties_alone);
    tcase_add_test(tc, minimal_metadata_has_etag_and_types);
    tcase_add_test(tc, full_metadata_has_addresses);
    tcase_add_test(tc, a_list_has_its_elements);
    tcase_add_test(tc, when_an_entity_expires_is_written_if_it_is_asked_for);
    tcase_add_test(tc, an_empty_list_without_metadata);
    tcase_add_test(tc, only_what_is_selected_is_there_and_null_where_it_is_not);
    tcase_add_test(tc, selections_that_name_no_property_are_refused);
    tcase_add_test(tc, tables_are_read_and_written);
    tcase_add_test(tc, the_url_decides_over_the_keys_of_a_body);
    tcase_add_loop_test(tc, values_are_read_exactly_or_refused, 0, ARRAY_LEN(value_cases));
    tcase_add_test(tc, a_time_out_of_range_is_told_as_the_live_service_tells_it);
    tcase_add_test(tc, deep_json_is_refused);
    tcase_add_test(tc, a_writer_ends_with_the_size_of_a_reply);
    suite_add_tcase(suite, tc);
    return suite;
}
