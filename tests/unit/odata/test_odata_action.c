/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of odata/odata_action.c: verbs, resources, and verbs in a header.
 */
#include "odata/odata_action.h"

#include <check.h>

#include "base/macros.h"

static const struct action_case {
    const char *method, *tunnelled, *target;
    enum odata_action action;
    const char *reason; /* NULL: allowed */
} action_cases[] = {
    { "GET", NULL, "/a/Tables", ODATA_ACTION_QUERY_TABLES, NULL },
    { "GET", NULL, "/a/Tables('T')", ODATA_ACTION_GET_TABLE, NULL },
    { "POST", NULL, "/a/Tables", ODATA_ACTION_CREATE_TABLE, NULL },
    { "DELETE", NULL, "/a/Tables('T')", ODATA_ACTION_DELETE_TABLE, NULL },
    { "GET", NULL, "/a/T?comp=acl", ODATA_ACTION_GET_ACL, NULL },
    { "PUT", NULL, "/a/T?comp=acl", ODATA_ACTION_SET_ACL, NULL },
    { "GET", NULL, "/a/T()", ODATA_ACTION_QUERY_ENTITIES, NULL },
    { "GET", NULL, "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_GET_ENTITY, NULL },
    { "POST", NULL, "/a/T", ODATA_ACTION_INSERT_ENTITY, NULL },
    { "PUT", NULL, "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_REPLACE_ENTITY, NULL },
    { "MERGE", NULL, "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_MERGE_ENTITY, NULL },
    { "PATCH", NULL, "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_MERGE_ENTITY, NULL },
    { "DELETE", NULL, "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_DELETE_ENTITY, NULL },
    { "POST", NULL, "/a/$batch", ODATA_ACTION_BATCH, NULL },
    { "GET", NULL, "/a?restype=service&comp=properties", ODATA_ACTION_GET_SERVICE_PROPERTIES, NULL },
    { "PUT", NULL, "/a/?restype=service&comp=properties", ODATA_ACTION_SET_SERVICE_PROPERTIES, NULL },
    { "GET", NULL, "/a-secondary?restype=service&comp=stats", ODATA_ACTION_GET_SERVICE_STATS, NULL },
    { "OPTIONS", NULL, "/a/T", ODATA_ACTION_PREFLIGHT, NULL },
    { "GET", NULL, "/a-secondary/T", ODATA_ACTION_QUERY_ENTITIES, NULL },
    { "POST", "MERGE", "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_MERGE_ENTITY, NULL },
    { "POST", "PATCH", "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_MERGE_ENTITY, NULL },
    { "POST", "PUT", "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_REPLACE_ENTITY, NULL },
    { "POST", "DELETE", "/a/Tables('T')", ODATA_ACTION_DELETE_TABLE, NULL },
    { "GET", NULL, "/a", ODATA_ACTION_COUNT, "METHOD_NOT_ALLOWED" },
    { "get", NULL, "/a/T", ODATA_ACTION_COUNT, "METHOD_NOT_ALLOWED" },
    { "PUT", NULL, "/a/Tables", ODATA_ACTION_COUNT, "METHOD_NOT_ALLOWED" },
    { "POST", NULL, "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_COUNT, "METHOD_NOT_ALLOWED" },
    { "GET", NULL, "/a/T?comp=other", ODATA_ACTION_COUNT, "METHOD_NOT_ALLOWED" },
    { "POST", NULL, "/a-secondary/T", ODATA_ACTION_COUNT, "INSUFFICIENT_ACCOUNT_PERMISSIONS" },
    { "PUT", "MERGE", "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_COUNT, "X_METHOD_NOT_USING_POST" },
    { "POST", "GET", "/a/T(PartitionKey='',RowKey='')", ODATA_ACTION_COUNT, "X_METHOD_INCORRECT_VALUE" },
};

START_TEST(a_verb_and_a_resource_make_an_action)
{
    const struct action_case *c = &action_cases[_i];
    struct odata_verb verb = { str_of(c->method), str_of(c->tunnelled), c->tunnelled != NULL };
    enum odata_action action = ODATA_ACTION_COUNT;
    struct odata_target target;
    struct error err = { 0 };
    ARENA_SCOPE arena;

    arena_init(&arena);
    ck_assert_int_eq(odata_target_parse(STR_EMPTY, str_of(c->target), &arena, &target, &err), STATUS_OK);

    ck_assert_int_eq(odata_action_find(&verb, &target, &action, &err) == STATUS_OK, c->reason == NULL);

    ck_assert_int_eq(action, c->action);
    ck_assert_str_eq(err.reason ? err.reason : "", c->reason ? c->reason : "");
}
END_TEST

START_TEST(two_tunnelled_verbs_are_refused)
{
    struct odata_verb verb = { STR_LITERAL("POST"), STR_LITERAL("PUT"), 2 };
    struct odata_target target = { .resource = ODATA_RESOURCE_ENTITY };
    enum odata_action action;
    struct error err = { 0 };

    ck_assert_int_ne(odata_action_find(&verb, &target, &action, &err), STATUS_OK);
    ck_assert_str_eq(err.reason, "X_METHOD_INCORRECT_COUNT");
}
END_TEST

Suite *test_odata_action_suite(void)
{
    Suite *suite = suite_create("odata_action");
    TCase *tc = tcase_create("odata_action");

    tcase_add_loop_test(tc, a_verb_and_a_resource_make_an_action, 0, ARRAY_LEN(action_cases));
    tcase_add_test(tc, two_tunnelled_verbs_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
