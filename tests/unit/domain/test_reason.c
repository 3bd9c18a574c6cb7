/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/reason.c.
 */
#include "domain/reason.h"

#include <check.h>

START_TEST(every_reason_is_complete)
{
    const struct reason_info *info = reason_info((enum reason)_i);

    ck_assert_ptr_nonnull(info->name);
    ck_assert_ptr_nonnull(info->cause);
    ck_assert_ptr_nonnull(info->remedy);
    ck_assert_msg(info->status != STATUS_OK && info->status < STATUS_COUNT, "%s", info->name);
    ck_assert_msg(info->cause[strlen(info->cause) - 1] == '.', "%s: the cause is a sentence", info->name);
    ck_assert_msg(info->remedy[strlen(info->remedy) - 1] == '.', "%s: the remedy is a sentence", info->name);
}
END_TEST

START_TEST(a_reason_is_found_by_its_name_which_is_unique)
{
    const struct reason_info *info = reason_info((enum reason)_i);

    ck_assert_ptr_eq(reason_find(info->name), info);
}
END_TEST

START_TEST(an_unknown_name_is_not_found)
{
    ck_assert_ptr_null(reason_find("NO_SUCH_REASON"));
    ck_assert_ptr_null(reason_find(""));
    ck_assert_ptr_null(reason_find(NULL));
}
END_TEST

static const struct status_case {
    enum reason reason;
    const char *name;
    enum status want;
} status_cases[] = {
    { REASON_INVALID_INPUT, "INVALID_INPUT", STATUS_INVALID },
    { REASON_OUT_OF_RANGE_INPUT, "OUT_OF_RANGE_INPUT", STATUS_OUT_OF_RANGE },
    { REASON_REQUEST_BODY_TOO_LARGE, "REQUEST_BODY_TOO_LARGE", STATUS_LIMIT },
    { REASON_NOT_IMPLEMENTED, "NOT_IMPLEMENTED", STATUS_UNIMPLEMENTED },
    { REASON_TABLE_ALREADY_EXISTS, "TABLE_ALREADY_EXISTS", STATUS_EXISTS },
    { REASON_TABLE_NOT_FOUND, "TABLE_NOT_FOUND", STATUS_NOT_FOUND },
    { REASON_RESOURCE_NOT_FOUND, "RESOURCE_NOT_FOUND", STATUS_NOT_FOUND },
    { REASON_ENTITY_ALREADY_EXISTS, "ENTITY_ALREADY_EXISTS", STATUS_EXISTS },
    { REASON_UPDATE_CONDITION_NOT_SATISFIED, "UPDATE_CONDITION_NOT_SATISFIED", STATUS_STALE },
    { REASON_INDEX_EXISTS, "INDEX_EXISTS", STATUS_EXISTS },
    { REASON_INDEX_NOT_READY, "INDEX_NOT_READY", STATUS_PRECONDITION },
    { REASON_INDEX_OWNED, "INDEX_OWNED", STATUS_PRECONDITION },
    { REASON_TRANSACTION_ID_REUSED, "TRANSACTION_ID_REUSED", STATUS_EXISTS },
    { REASON_CATALOGUE_CHANGE_BLOCKED, "CATALOGUE_CHANGE_BLOCKED", STATUS_UNAVAILABLE },
    { REASON_OUTCOME_UNKNOWN, "OUTCOME_UNKNOWN", STATUS_MAYBE_DONE },
    { REASON_SERVER_BUSY, "SERVER_BUSY", STATUS_LIMIT },
    { REASON_SERVER_DRAINING, "SERVER_DRAINING", STATUS_UNAVAILABLE },
    { REASON_STORE_UNAVAILABLE, "STORE_UNAVAILABLE", STATUS_UNAVAILABLE },
    { REASON_OPERATION_TIMED_OUT, "OPERATION_TIMED_OUT", STATUS_TIMEOUT },
    { REASON_CANCELLED, "CANCELLED", STATUS_CANCELLED },
    { REASON_INTERNAL_ERROR, "INTERNAL_ERROR", STATUS_INTERNAL },
};

START_TEST(an_error_carries_the_name_and_status_of_its_reason)
{
    const struct status_case *c = &status_cases[_i];
    struct error err = { 0 };

    enum status got = reason_set(&err, c->reason, "%d of %s", 3, "them");

    ck_assert_int_eq(got, c->want);
    ck_assert_int_eq(err.status, c->want);
    ck_assert_str_eq(err.reason, c->name);
    ck_assert_str_eq(err.message, "3 of them");
    ck_assert_int_eq(reason_set(NULL, c->reason, "no server listens"), c->want);
}
END_TEST

Suite *test_reason_suite(void)
{
    Suite *suite = suite_create("reason");
    TCase *tc = tcase_create("reason");

    tcase_add_loop_test(tc, every_reason_is_complete, 0, REASON_COUNT);
    tcase_add_loop_test(tc, a_reason_is_found_by_its_name_which_is_unique, 0, REASON_COUNT);
    tcase_add_test(tc, an_unknown_name_is_not_found);
    tcase_add_loop_test(tc, an_error_carries_the_name_and_status_of_its_reason, 0, ARRAY_LEN(status_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
