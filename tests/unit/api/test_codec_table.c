/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of codec_table: the settings that an UpdateTable changes, named by its mask or, without one, by the fields
 * that are set; filters of lists.
 */
#include "api/codec_table.h"

#include "domain/catalogue/access_policy.h"
#include "domain/filter/access_path.h"
#include "domain/limits.h"
#include "domain/ticks.h"
#include "tests/unit/api/codec_fixture.h"

enum { MAX_PATHS = 4 };

static Tavola__V1__Table table;
static Google__Protobuf__FieldMask mask;
static ProtobufCBinaryData paths[MAX_PATHS];
static Tavola__V1__UpdateTableRequest request;
static struct table_change change;

static void prepare(void)
{
    setup();
    tavola__v1__table__init(&table);
    google__protobuf__field_mask__init(&mask);
    tavola__v1__update_table_request__init(&request);
    table.name = text("Things");
    mask.paths = paths;
    request.table = &table;
}

static void name_path(const char *path)
{
    paths[mask.n_paths++] = text(path);
    request.update_mask = &mask;
}

static Tavola__V1__AccessPolicy *add_policy(const char *id, const char *permissions)
{
    static Tavola__V1__AccessPolicy *policies[LIMIT_POLICIES_PER_TABLE + 1];
    Tavola__V1__AccessPolicy *out = ARENA_NEW(&arena, Tavola__V1__AccessPolicy);

    tavola__v1__access_policy__init(out);
    out->id = text(id);
    out->permissions = text(permissions);
    policies[table.n_policies++] = out;
    table.policies = policies;
    return out;
}

static enum status decode(void)
{
    return codec_table_change_decode(&request, &arena, &change, &err);
}

START_TEST(without_a_mask_what_is_set_changes)
{
    table.default_max_plan = TAVOLA__V1__ACCESS_PATH__ACCESS_PATH_ROW_RANGE;
    ck_assert_int_eq(decode(), STATUS_OK);
    ck_assert(change.sets_default_max_plan && !change.sets_policies);
    ck_assert_int_eq(change.default_max_plan, ACCESS_ROW_RANGE);

    add_policy("readers", "r");
    ck_assert_int_eq(decode(), STATUS_OK);
    ck_assert(change.sets_default_max_plan && change.sets_policies);
}
END_TEST

START_TEST(a_mask_names_all_that_changes)
{
    table.default_max_plan = TAVOLA__V1__ACCESS_PATH__ACCESS_PATH_ROW_RANGE;
    add_policy("readers", "r");
    name_path("policies");
    ck_assert_int_eq(decode(), STATUS_OK);
    ck_assert(!change.sets_default_max_plan && change.sets_policies);
}
END_TEST

START_TEST(a_mask_can_take_away)
{
    struct access_policies policies;

    name_path("default_max_plan");
    name_path("policies");
    ck_assert_int_eq(decode(), STATUS_OK);
    ck_assert(change.sets_default_max_plan && change.sets_policies);
    ck_assert_int_eq(change.default_max_plan, 0);
    ck_assert(access_policies_decode(change.policies, &arena, &policies));
    ck_assert_uint_eq(policies.count, 0);
}
END_TEST

START_TEST(policies_come_out_as_they_went_in)
{
    Google__Protobuf__Timestamp start = GOOGLE__PROTOBUF__TIMESTAMP__INIT,
                                expiry = GOOGLE__PROTOBUF__TIMESTAMP__INIT;
    struct access_policies policies;
    Tavola__V1__AccessPolicy *policy = add_policy("readers", "ri");

    start.seconds = 5;
    expiry.seconds = 6;
    policy->start = &start;
    policy->expiry = &expiry;
    add_policy("nothing", "");
    ck_assert_int_eq(decode(), STATUS_OK);
    ck_assert(access_policies_decode(change.policies, &arena, &policies));
    ck_assert_uint_eq(policies.count, 2);
    ck_assert(str_equal(policies.items[0].id, STR_LITERAL("readers")));
    ck_assert_int_eq(policies.items[0].expiry - policies.items[0].start, TICKS_PER_SECOND);
    ck_assert(policies.items[0].permissions != 0 && policies.items[1].permissions == 0);
    ck_assert_int_eq(policies.items[1].start + policies.items[1].expiry, 0);
}
END_TEST

/* ---- refusals ---- */

static void no_table(void)
{
    request.table = NULL;
}

static void nothing(void)
{
}

static void an_empty_mask(void)
{
    request.update_mask = &mask;
}

static void an_unknown_path(void)
{
    name_path("colour");
}

static void a_path_that_is_fixed(void)
{
    name_path("default_max_plan");
    name_path("name");
}

static void an_unknown_plan(void)
{
    table.default_max_plan = (Tavola__V1__AccessPath)6;
}

static void a_plan_below_zero(void)
{
    table.default_max_plan = (Tavola__V1__AccessPath)-1;
}

static void too_many_policies(void)
{
    for (int i = 0; i <= LIMIT_POLICIES_PER_TABLE; i++)
        add_policy(arena_format(&arena, "p%d", i).data, "r");
}

static void a_policy_twice(void)
{
    add_policy("readers", "r");
    add_policy("readers", "a");
}

static void letters_out_of_order(void)
{
    add_policy("readers", "ar");
}

static void a_time_out_of_range(void)
{
    static Google__Protobuf__Timestamp time = GOOGLE__PROTOBUF__TIMESTAMP__INIT;

    time.seconds = INT64_MAX;
    add_policy("readers", "r")->expiry = &time;
}

static const struct refusal_case {
    void (*make)(void);
    const char *reason;
} refusals[] = {
    { no_table, "INVALID_INPUT" },
    { nothing, "INVALID_INPUT" },
    { an_empty_mask, "INVALID_INPUT" },
    { an_unknown_path, "INVALID_INPUT" },
    { a_path_that_is_fixed, "INVALID_INPUT" },
    { an_unknown_plan, "INVALID_INPUT" },
    { a_plan_below_zero, "INVALID_INPUT" },
    { too_many_policies, "INVALID_INPUT" },
    { a_policy_twice, "INVALID_INPUT" },
    { letters_out_of_order, "INVALID_INPUT" },
    { a_time_out_of_range, "OUT_OF_RANGE_INPUT" },
};

START_TEST(what_cannot_be_done_is_refused)
{
    refusals[_i].make();

    assert_refused(decode(), refusals[_i].reason);
}
END_TEST

START_TEST(a_wrong_path_is_named_with_those_there_are)
{
    name_path("colour");

    assert_refused(decode(), "INVALID_INPUT");
    ck_assert_str_eq(meta("actual"), "colour");
    ck_assert_str_eq(
        meta("allowed"), "default_max_plan, policies, change_feed, sample_queries, periods, blob_properties");
}
END_TEST

#define BOOLEANS "a comparison, a Boolean property, or one of startswith, contains, endswith, exists"

static const struct filter_case {
    const char *text;
    const char *position, *allowed;
} wrong_filters[] = {
    { "Foo eq 1", "0", "TableName" },
    { "TableName eq 'a' or tableName eq 'a'", "20", "TableName" },
    { "Zoo and (startswith(TableName, 'a') or not exists(Bar))", "0", "TableName" },
    { "TableName ge 'a' and Timestamp ge datetime'2026-01-01T00:00:00Z'", "21", "TableName" },
    { "PartitionKey eq '' and [Foo]", "0", "TableName" },
    { "TableName ge 'a' and [Foo]", "22", "TableName" },
    { "TableName eq 1 add", "18", "" },
    { "TableName", "0", BOOLEANS },
    { "TableName eq 'a' or not TableName", "24", BOOLEANS },
};

START_TEST(tables_are_filtered_by_their_names_alone)
{
    const struct filter_case *c = &wrong_filters[_i];
    const struct filter *filter = NULL;

    assert_refused(codec_table_filter_decode(text(c->text), &arena, &filter, &err), "INVALID_INPUT");
    ck_assert_str_eq(meta("position"), c->position);
    ck_assert_str_eq(meta("allowed"), c->allowed);
    ck_assert_str_eq(err.field, "filter");
    ck_assert_ptr_null(filter);
}
END_TEST

START_TEST(names_of_tables_may_be_asked_for_in_any_way)
{
    const struct filter *filter = NULL;

    ck_assert_int_eq(
        codec_table_filter_decode(text("exists(TableName) or not (TableName lt 'b')"), &arena, &filter, &err),
        STATUS_OK);
    ck_assert_ptr_nonnull(filter);
    ck_assert_int_eq(codec_table_filter_decode(text(""), &arena, &filter, &err), STATUS_OK);
    ck_assert_ptr_null(filter);
}
END_TEST

Suite *test_codec_table_suite(void);

Suite *test_codec_table_suite(void)
{
    Suite *suite = suite_create("codec_table");
    TCase *tc = tcase_create("codec_table");

    tcase_add_checked_fixture(tc, prepare, teardown);
    tcase_add_test(tc, without_a_mask_what_is_set_changes);
    tcase_add_test(tc, a_mask_names_all_that_changes);
    tcase_add_test(tc, a_mask_can_take_away);
    tcase_add_test(tc, policies_come_out_as_they_went_in);
    tcase_add_loop_test(tc, what_cannot_be_done_is_refused, 0, ARRAY_LEN(refusals));
    tcase_add_test(tc, a_wrong_path_is_named_with_those_there_are);
    tcase_add_loop_test(tc, tables_are_filtered_by_their_names_alone, 0, ARRAY_LEN(wrong_filters));
    tcase_add_test(tc, names_of_tables_may_be_asked_for_in_any_way);
    suite_add_tcase(suite, tc);
    return suite;
}
