/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/token.h"

#include <check.h>

#include "domain/limits.h"

static struct arena arena;
static const struct token_key key = { { 1, 2, 3 } }, other_key = { { 1, 2, 4 } };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct token a_token(void)
{
    return (struct token){ .purpose = TOKEN_PAGE,
        .table_id = 42,
        .query = STR_LITERAL("query"),
        .first = STR_LITERAL("partition\xFF"),
        .second = STR_LITERAL("row") };
}

static enum status decode(
    const struct token_key *with, struct str text, enum token_purpose purpose, const char *query)
{
    struct token out = { .purpose = purpose, .query = str_of(query) };
    struct error err = { 0 };
    enum status status = token_decode(with, text, &arena, &out, &err);

    ck_assert(status == STATUS_OK || strcmp(err.reason, "PAGE_TOKEN_INVALID") == 0);
    return status;
}

START_TEST(a_token_comes_back)
{
    struct token token = a_token(), back;
    struct error err = { 0 };

    for (size_t len = 0; len <= token.first.len; len++) {
        struct token cut = token;

        cut.first.len = len;
        cut.table_id = -(int64_t)len;
        back = (struct token){ .purpose = TOKEN_PAGE, .query = cut.query };
        ck_assert_int_eq(
            token_decode(&key, token_encode(&key, &cut, &arena), &arena, &back, &err), STATUS_OK);
        ck_assert_int_eq(back.table_id, cut.table_id);
        ck_assert(str_equal(back.first, cut.first) && str_equal(back.second, cut.second));
    }
}
END_TEST

START_TEST(a_token_opens_only_what_it_was_made_for)
{
    struct token token = a_token();
    struct str text = token_encode(&key, &token, &arena);

    ck_assert_int_eq(decode(&key, text, TOKEN_PAGE, "query"), STATUS_OK);
    ck_assert_int_eq(decode(&key, text, TOKEN_LIST, "query"), STATUS_INVALID);
    ck_assert_int_eq(decode(&key, text, TOKEN_PAGE, "another"), STATUS_INVALID);
    ck_assert_int_eq(decode(&key, text, TOKEN_PAGE, ""), STATUS_INVALID);
    ck_assert_int_eq(decode(&other_key, text, TOKEN_PAGE, "query"), STATUS_INVALID);
}
END_TEST

START_TEST(a_changed_token_is_refused)
{
    struct token token = a_token();
    struct str text = token_encode(&key, &token, &arena);

    for (size_t i = 0; i < text.len; i++) {
        char *changed = arena_alloc(&arena, text.len);

        memcpy(changed, text.data, text.len);
        changed[i] = changed[i] == 'A' ? 'B' : 'A';
        ck_assert_int_eq(decode(&key, str_of_bytes(changed, text.len), TOKEN_PAGE, "query"), STATUS_INVALID);
        ck_assert_int_eq(decode(&key, str_of_bytes(text.data, i), TOKEN_PAGE, "query"), STATUS_INVALID);
    }
    ck_assert_int_eq(decode(&key, str_of("no token!"), TOKEN_PAGE, "query"), STATUS_INVALID);
    ck_assert_int_eq(
        decode(&key, arena_format(&arena, "%.*sA", STR_ARG(text)), TOKEN_PAGE, "query"), STATUS_INVALID);
}
END_TEST

START_TEST(the_longest_keys_fit_into_a_token)
{
    struct token token = a_token();
    char *longest = arena_alloc(&arena, LIMIT_KEY_BYTES);

    memset(longest, 'x', LIMIT_KEY_BYTES);
    token.first = token.second = str_of_bytes(longest, LIMIT_KEY_BYTES);
    ck_assert_uint_le(token_encode(&key, &token, &arena).len, LIMIT_TOKEN_BYTES);
    ck_assert_int_eq(decode(&key, token_encode(&key, &token, &arena), TOKEN_PAGE, "query"), STATUS_OK);
}
END_TEST

Suite *test_token_suite(void)
{
    Suite *suite = suite_create("token");
    TCase *tc = tcase_create("token");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_token_comes_back);
    tcase_add_test(tc, a_token_opens_only_what_it_was_made_for);
    tcase_add_test(tc, a_changed_token_is_refused);
    tcase_add_test(tc, the_longest_keys_fit_into_a_token);
    suite_add_tcase(suite, tc);
    return suite;
}
