/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/token.h"

#include <check.h>

#include "base/base64url.h"
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

/* What token_encode made of a_token() before positions were sealed. */
static const char signed_token[] = "AQFUqLdxkguDGeQKcGFydGl0aW9u_wNyb3cH4pQoeImvu8VSSY7ZaU2T";

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

static struct str either_form(bool is_sealed)
{
    struct token token = a_token();

    return is_sealed ? token_encode(&key, &token, &arena) : str_of(signed_token);
}

START_TEST(a_changed_token_is_refused)
{
    struct str text = either_form(_i);

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

START_TEST(a_token_of_the_version_before_is_read)
{
    struct token back = { .purpose = TOKEN_PAGE, .query = STR_LITERAL("query") };
    struct error err = { 0 };

    ck_assert_int_eq(token_decode(&key, str_of(signed_token), &arena, &back, &err), STATUS_OK);
    ck_assert_int_eq(back.table_id, 42);
    ck_assert(str_equal(back.first, a_token().first) && str_equal(back.second, a_token().second));
    ck_assert_int_eq(decode(&other_key, str_of(signed_token), TOKEN_PAGE, "query"), STATUS_INVALID);
    ck_assert_int_eq(decode(&key, str_of(signed_token), TOKEN_LIST, "query"), STATUS_INVALID);
}
END_TEST

static const struct seal_case {
    enum token_purpose purpose;
    bool is_sealed;
} seal_cases[] = {
    { TOKEN_PAGE, true },
    { TOKEN_LOOKUP, true },
    { TOKEN_LIST, true },
    { TOKEN_COUNT, true },
    { TOKEN_SCAN, true },
    { TOKEN_CHANGES, true },
    { TOKEN_CONSISTENCY, false },
    { TOKEN_HISTORY, false },
};

START_TEST(a_position_cannot_be_read_in_its_token)
{
    const struct seal_case *c = &seal_cases[_i];
    struct token token = a_token();
    struct str text, bytes;

    token.purpose = c->purpose;
    text = token_encode(&key, &token, &arena);
    ck_assert_int_eq(decode(&key, text, c->purpose, "query"), STATUS_OK);
    ck_assert(str_equal(text, token_encode(&key, &token, &arena)));
    ck_assert(base64url_decode(text, &arena, &bytes));
    ck_assert((memmem(bytes.data, bytes.len, "partition", 9) == NULL) == c->is_sealed);
    ck_assert((memmem(bytes.data, bytes.len, "row", 3) == NULL) == c->is_sealed);
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
    tcase_add_loop_test(tc, a_changed_token_is_refused, 0, 2);
    tcase_add_test(tc, a_token_of_the_version_before_is_read);
    tcase_add_loop_test(tc, a_position_cannot_be_read_in_its_token, 0, ARRAY_LEN(seal_cases));
    tcase_add_test(tc, the_longest_keys_fit_into_a_token);
    suite_add_tcase(suite, tc);
    return suite;
}
