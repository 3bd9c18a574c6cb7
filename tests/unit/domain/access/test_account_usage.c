/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/access/account_usage.c: what an account at its quota may still do.
 */
#include "domain/access/account_usage.h"

#include <check.h>
#include <string.h>

#include "base/macros.h"
#include "domain/reason.h"

enum { QUOTA = 10 };

/* Two writes, or two steps; kind 0 of operation: OPERATION_WRITE. */
static const struct edge_case {
    const char *name;
    enum operation_kind operation;
    int first, second;                    /* kinds of writes or steps */
    bool without_entities, without_bytes; /* whether it is taken */
} edge_cases[] = {
    { "insert", OPERATION_WRITE, WRITE_INSERT, WRITE_DELETE, false, false },
    { "upserts", OPERATION_WRITE, WRITE_DELETE, WRITE_INSERT_OR_REPLACE, false, false },
    { "merging upsert", OPERATION_WRITE, WRITE_REPLACE, WRITE_INSERT_OR_MERGE, false, false },
    { "replace", OPERATION_WRITE, WRITE_REPLACE, WRITE_DELETE, true, false },
    { "merge", OPERATION_WRITE, WRITE_DELETE, WRITE_MERGE, true, false },
    { "delete", OPERATION_WRITE, WRITE_DELETE, WRITE_DELETE, true, true },
    { "steps with an upsert", OPERATION_TRANSACTION_SUBMIT, STEP_MOVE, STEP_INSERT_OR_REPLACE, false, false },
    { "steps with a merging upsert", OPERATION_TRANSACTION_SUBMIT, STEP_INSERT_OR_MERGE, STEP_MOVE, false,
        false },
    { "moves and deletes", OPERATION_TRANSACTION_SUBMIT, STEP_MOVE, STEP_DELETE_IF_EXISTS, true, true },
    { "steps with a put of a blob", OPERATION_TRANSACTION_SUBMIT, STEP_MOVE, STEP_PUT_BLOB, true, false },
    { "a put of a blob and an upsert", OPERATION_TRANSACTION_SUBMIT, STEP_PUT_BLOB, STEP_INSERT_OR_MERGE,
        false, false },
    { "steps that delete blobs", OPERATION_TRANSACTION_SUBMIT, STEP_DELETE_BLOB, STEP_DELETE_BLOB, true,
        true },
    { "a new index", OPERATION_INDEX_CREATE, 0, 0, true, false },
    { "an index anew", OPERATION_INDEX_REPLACE, 0, 0, true, false },
    { "a dropped index", OPERATION_INDEX_DROP, 0, 0, true, true },
    { "a new table", OPERATION_TABLE_CREATE, 0, 0, true, true },
    { "a range that is deleted", OPERATION_RANGE_DELETE, 0, 0, true, true },
    { "a read", OPERATION_GET, 0, 0, true, true },
    { "a page", OPERATION_PAGE, 0, 0, true, true },
};

static bool is_taken(const struct edge_case *c, int64_t entities, int64_t bytes, struct error *err)
{
    static const struct quotas settings = { .entities = QUOTA, .bytes = QUOTA };
    const struct account_usage usage = { entities, bytes, QUOTA_OF_SETTINGS, QUOTA_OF_SETTINGS };
    struct write writes[] = { { .kind = (enum write_kind)c->first }, { .kind = (enum write_kind)c->second } };
    struct step steps[] = { { .kind = (enum step_kind)c->first }, { .kind = (enum step_kind)c->second } };
    struct operation operation = { .kind = c->operation };

    if (c->operation == OPERATION_WRITE)
        operation.in.write = (struct operation_write){ .writes = writes, .count = ARRAY_LEN(writes) };
    if (c->operation == OPERATION_TRANSACTION_SUBMIT)
        operation.in.transaction.transaction =
            (struct transaction){ .steps = steps, .step_count = ARRAY_LEN(steps) };
    *err = (struct error){ 0 };
    return account_usage_admit(&usage, &settings, &operation, err) == STATUS_OK;
}

START_TEST(what_adds_is_refused_at_the_quota)
{
    const struct edge_case *c = &edge_cases[_i];
    struct error err;

    ck_assert_msg(is_taken(c, QUOTA - 1, QUOTA - 1, &err), "%s", c->name);
    ck_assert_msg(is_taken(c, QUOTA, 0, &err) == c->without_entities, "%s without entities", c->name);
    ck_assert_msg(is_taken(c, 0, QUOTA, &err) == c->without_bytes, "%s without bytes", c->name);
    ck_assert_msg(is_taken(c, 2 * QUOTA, 2 * QUOTA, &err) == c->without_bytes, "%s without both", c->name);
}
END_TEST

START_TEST(a_refusal_names_what_is_used_up)
{
    struct error err;

    ck_assert(!is_taken(&edge_cases[0], QUOTA + 2, 0, &err));
    ck_assert_int_eq(err.status, STATUS_LIMIT);
    ck_assert_msg(
        strstr(err.message, "12 entities") && strstr(err.message, "allowed are 10"), "%s", err.message);
    ck_assert(!is_taken(&edge_cases[0], 0, QUOTA, &err));
    ck_assert_msg(strstr(err.message, "10 bytes"), "%s", err.message);
}
END_TEST

START_TEST(an_account_s_own_quota_comes_before_the_settings)
{
    static const struct quotas settings = { .entities = QUOTA }, unbounded = { 0 };
    const struct account_usage by_settings = { QUOTA, QUOTA, QUOTA_OF_SETTINGS, QUOTA_OF_SETTINGS };
    const struct account_usage none = { QUOTA, QUOTA, QUOTA_NONE, QUOTA_NONE };
    const struct account_usage own = { QUOTA, QUOTA, QUOTA + 1, 5 };

    ck_assert_int_eq(account_usage_max_entities(&by_settings, &settings), QUOTA);
    ck_assert_int_eq(account_usage_max_bytes(&by_settings, &settings), QUOTA_NONE);
    ck_assert_int_eq(account_usage_max_entities(&by_settings, &unbounded), QUOTA_NONE);
    ck_assert_int_eq(account_usage_max_entities(&none, &settings), QUOTA_NONE);
    ck_assert_int_eq(account_usage_max_entities(&own, &settings), QUOTA + 1);
    ck_assert_int_eq(account_usage_max_bytes(&own, &settings), 5);
}
END_TEST

Suite *test_account_usage_suite(void)
{
    Suite *suite = suite_create("account_usage");
    TCase *tc = tcase_create("account_usage");

    tcase_add_loop_test(tc, what_adds_is_refused_at_the_quota, 0, ARRAY_LEN(edge_cases));
    tcase_add_test(tc, a_refusal_names_what_is_used_up);
    tcase_add_test(tc, an_account_s_own_quota_comes_before_the_settings);
    suite_add_tcase(suite, tc);
    return suite;
}
