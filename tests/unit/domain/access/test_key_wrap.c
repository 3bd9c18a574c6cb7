/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/access/key_wrap.c: stored forms of account keys, and wrapping keys from text.
 */
#include "domain/access/key_wrap.h"

#include <check.h>
#include <string.h>

#include "base/macros.h"

#define FIRST "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
#define SECOND "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"

static const uint8_t nonce[WRAP_NONCE_BYTES] = { 1, 2, 3 };
static const struct account_key account_key = { "thirty-two bytes, as a key has." };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct wrapping_keys keys_of(const char *text)
{
    struct wrapping_keys keys = { 0 };
    struct error err = { 0 };

    ck_assert_msg(
        *text == 0 || key_wrap_parse(str_of(text), &keys, &err) == STATUS_OK, "%s: %s", text, err.message);
    return keys;
}

static struct str sealed(const char *keys)
{
    struct wrapping_keys with = keys_of(keys);

    return key_wrap_seal(&with, STR_LITERAL("acme"), &account_key, nonce, &arena);
}

static bool opens(const char *keys, const char *account, struct str stored, struct error *err)
{
    struct wrapping_keys with = keys_of(keys);
    struct account_key out = { 0 };

    *err = (struct error){ 0 };
    if (key_wrap_open(&with, str_of(account), stored, &out, err) != STATUS_OK)
        return false;
    ck_assert_int_eq(memcmp(out.bytes, account_key.bytes, ACCOUNT_KEY_BYTES), 0);
    return true;
}

START_TEST(a_key_comes_back_with_its_wrapping_key_alone)
{
    struct str stored = sealed(FIRST);
    struct error err;

    ck_assert_uint_eq(stored.len, WRAPPED_KEY_BYTES);
    ck_assert(!memmem(stored.data, stored.len, account_key.bytes, 8));
    ck_assert(opens(FIRST, "acme", stored, &err));
    ck_assert(opens(SECOND "\n" FIRST "\n", "acme", stored, &err));
    ck_assert(!opens(SECOND, "acme", stored, &err));
    ck_assert_msg(strstr(err.message, "acme") && strstr(err.message, "do not have"), "%s", err.message);
    ck_assert(!opens("", "acme", stored, &err));
    ck_assert_int_eq(err.status, STATUS_INVALID);
}
END_TEST

START_TEST(a_key_in_clear_opens_with_any_wrapping_key)
{
    struct error err;

    ck_assert_uint_eq(sealed("").len, ACCOUNT_KEY_BYTES);
    ck_assert(opens("", "acme", sealed(""), &err));
    ck_assert(opens(FIRST, "acme", sealed(""), &err));
}
END_TEST

START_TEST(a_wrapped_key_is_of_its_account)
{
    struct error err;

    ck_assert(!opens(FIRST, "globex", sealed(FIRST), &err));
}
END_TEST

/* Every byte of the stored form matters. */
START_TEST(a_damaged_key_is_refused)
{
    struct str stored = sealed(FIRST);
    char bytes[WRAPPED_KEY_BYTES];
    struct error err;

    memcpy(bytes, stored.data, sizeof(bytes));
    bytes[_i] = (char)(bytes[_i] ^ 1);
    ck_assert(!opens(FIRST, "acme", str_of_bytes(bytes, sizeof(bytes)), &err));
    if (_i != ACCOUNT_KEY_BYTES) /* so many bytes are a key in clear */
        ck_assert(!opens(FIRST, "acme", str_of_bytes(stored.data, (size_t)_i), &err));
}
END_TEST

START_TEST(what_is_current_need_not_be_stored_anew)
{
    struct wrapping_keys none = { 0 }, first = keys_of(FIRST), both = keys_of(SECOND " " FIRST);

    ck_assert(key_wrap_is_current(&none, sealed("")));
    ck_assert(!key_wrap_is_current(&none, sealed(FIRST)));
    ck_assert(!key_wrap_is_current(&first, sealed("")));
    ck_assert(key_wrap_is_current(&first, sealed(FIRST)));
    ck_assert(!key_wrap_is_current(&both, sealed(FIRST)));
    ck_assert(key_wrap_is_current(&both, sealed(SECOND)));
}
END_TEST

static const char *const wrong_texts[] = {
    "",
    "\n",
    "abc",
    FIRST "0",
    FIRST SECOND,
    "g00102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
    FIRST "," SECOND,
    FIRST " " FIRST " " FIRST " " FIRST " " FIRST,
};

START_TEST(what_is_no_wrapping_key_is_refused_and_not_repeated)
{
    struct wrapping_keys keys;
    struct error err = { 0 };

    ck_assert_int_eq(key_wrap_parse(str_of(wrong_texts[_i]), &keys, &err), STATUS_INVALID);
    ck_assert_msg(strstr(err.message, "64 hexadecimal digits"), "%s", err.message);
    ck_assert(!strstr(err.message, "0102"));
}
END_TEST

Suite *test_key_wrap_suite(void)
{
    Suite *suite = suite_create("key_wrap");
    TCase *tc = tcase_create("key_wrap");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_key_comes_back_with_its_wrapping_key_alone);
    tcase_add_test(tc, a_key_in_clear_opens_with_any_wrapping_key);
    tcase_add_test(tc, a_wrapped_key_is_of_its_account);
    tcase_add_loop_test(tc, a_damaged_key_is_refused, 0, WRAPPED_KEY_BYTES);
    tcase_add_test(tc, what_is_current_need_not_be_stored_anew);
    tcase_add_loop_test(tc, what_is_no_wrapping_key_is_refused_and_not_repeated, 0, ARRAY_LEN(wrong_texts));
    suite_add_tcase(suite, tc);
    return suite;
}
