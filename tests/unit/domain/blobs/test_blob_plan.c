/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/blobs/blob_plan.c.
 */
#include "domain/blobs/blob_plan.h"

#include <check.h>

#include "base/macros.h"
#include "domain/limits.h"

enum { CHUNK = LIMIT_BLOB_CHUNK_BYTES };

static const struct blob_id stored = { { 1 } }, other = { { 2 } };

static const struct condition_case {
    const char *what;
    struct blob_condition condition;
    const struct blob_id *current;
    enum status want;
} condition_cases[] = {
    { "none, a blob", { 0 }, &stored, STATUS_OK },
    { "none, no blob", { 0 }, NULL, STATUS_OK },
    { "absent, no blob", { .must_be_absent = true }, NULL, STATUS_OK },
    { "absent, a blob", { .must_be_absent = true }, &stored, STATUS_EXISTS },
    { "exists, a blob", { .must_exist = true }, &stored, STATUS_OK },
    { "exists, no blob", { .must_exist = true }, NULL, STATUS_STALE },
    { "this content, it is", { .must_match = true, .etag = { { 1 } } }, &stored, STATUS_OK },
    { "this content, another", { .must_match = true, .etag = { { 1 } } }, &other, STATUS_STALE },
    { "this content, no blob", { .must_match = true, .etag = { { 1 } } }, NULL, STATUS_STALE },
};

START_TEST(a_condition_holds_or_not)
{
    const struct condition_case *c = &condition_cases[_i];
    struct error err = { 0 };

    ck_assert_msg(
        blob_condition_check(&c->condition, c->current, &err) == c->want, "%s: %s", c->what, err.message);
}
END_TEST

static const struct range_case {
    int64_t size, offset, length, first, last, skip, bytes;
} range_cases[] = {
    { 0, 0, 0, 0, -1, 0, 0 },
    { 10, 0, 0, 0, 0, 0, 10 },
    { 10, 10, 0, 0, -1, 10, 0 },
    { 10, 3, 4, 0, 0, 3, 4 },
    { 10, 3, 400, 0, 0, 3, 7 },
    { CHUNK, 0, 0, 0, 0, 0, CHUNK },
    { CHUNK, CHUNK, 5, 1, 0, 0, 0 },
    { 3 * CHUNK + 1, 0, 0, 0, 3, 0, 3 * CHUNK + 1 },
    { 3 * CHUNK, CHUNK - 1, 2, 0, 1, CHUNK - 1, 2 },
    { 3 * CHUNK, CHUNK, CHUNK, 1, 1, 0, CHUNK },
    { 3 * CHUNK, 0, INT64_MAX, 0, 2, 0, 3 * CHUNK },
    { LIMIT_BLOB_BYTES, LIMIT_BLOB_BYTES - 1, 1, LIMIT_BLOB_BYTES / CHUNK - 1, LIMIT_BLOB_BYTES / CHUNK - 1,
        CHUNK - 1, 1 },
};

START_TEST(a_range_has_the_chunks_that_hold_it)
{
    const struct range_case *c = &range_cases[_i];
    struct blob_span span;
    struct error err = { 0 };

    ck_assert_int_eq(blob_plan_range(c->size, c->offset, c->length, &span, &err), STATUS_OK);
    ck_assert_int_eq(span.first, c->first);
    ck_assert_int_eq(span.last, c->last);
    ck_assert_int_eq(span.skip, c->skip);
    ck_assert_int_eq(span.length, c->bytes);
}
END_TEST

START_TEST(a_range_behind_the_end_is_refused)
{
    struct blob_span span;
    struct error err = { 0 };

    ck_assert_int_eq(blob_plan_range(10, 11, 0, &span, &err), STATUS_OUT_OF_RANGE);
    ck_assert_int_eq(blob_plan_range(10, INT64_MAX, INT64_MAX, &span, &err), STATUS_OUT_OF_RANGE);
}
END_TEST

START_TEST(an_upload_continues_where_it_is_and_only_while_it_is_open)
{
    struct blob_upload upload = { .state = BLOB_CONTENT_OPEN, .stored = CHUNK };
    struct error err = { 0 };

    ck_assert_int_eq(blob_plan_continue(&upload, CHUNK, &err), STATUS_OK);
    ck_assert_int_eq(blob_plan_continue(&upload, 0, &err), STATUS_PRECONDITION);
    upload.state = BLOB_CONTENT_CURRENT;
    ck_assert_int_eq(blob_plan_continue(&upload, 0, &err), STATUS_OK);
    upload.state = BLOB_CONTENT_DISCARDED;
    ck_assert_int_eq(blob_plan_continue(&upload, CHUNK, &err), STATUS_NOT_FOUND);
}
END_TEST

START_TEST(the_largest_blob_is_accepted)
{
    struct error err = { 0 };

    ck_assert_int_eq(blob_plan_size(LIMIT_BLOB_BYTES, &err), STATUS_OK);
    ck_assert_int_eq(blob_plan_size(LIMIT_BLOB_BYTES + 1, &err), STATUS_INVALID);
    ck_assert_str_eq(err.reason, "BLOB_TOO_LARGE");
}
END_TEST

Suite *test_blob_plan_suite(void)
{
    Suite *suite = suite_create("blob_plan");
    TCase *tc = tcase_create("blob_plan");

    tcase_add_loop_test(tc, a_condition_holds_or_not, 0, ARRAY_LEN(condition_cases));
    tcase_add_loop_test(tc, a_range_has_the_chunks_that_hold_it, 0, ARRAY_LEN(range_cases));
    tcase_add_test(tc, a_range_behind_the_end_is_refused);
    tcase_add_test(tc, an_upload_continues_where_it_is_and_only_while_it_is_open);
    tcase_add_test(tc, the_largest_blob_is_accepted);
    suite_add_tcase(suite, tc);
    return suite;
}
