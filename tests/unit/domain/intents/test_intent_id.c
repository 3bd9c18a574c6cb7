/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/intents/intent_id.c.
 */
#include "base/macros.h"
#include "domain/intents/intent_id.h"

#include <check.h>

static const struct text_case {
    const char *name, *text;
    bool want;
    struct intent_id id;
} text_cases[] = {
    { "zeros", "00000000000000000000000000000000", true, { 0, 0 } },
    { "each half", "0000000000000001fedcba9876543210", true, { 1, UINT64_C(0xfedcba9876543210) } },
    { "every bit", "ffffffffffffffffffffffffffffffff", true, { UINT64_MAX, UINT64_MAX } },
    { "empty", "", false, { 0, 0 } },
    { "a digit too few", "0123456789abcdef0123456789abcde", false, { 0, 0 } },
    { "a digit too many", "0123456789abcdef0123456789abcdef0", false, { 0, 0 } },
    { "upper case", "0123456789ABCDEF0123456789abcdef", false, { 0, 0 } },
    { "no digit in the first half", "0123456789abcdeg0123456789abcdef", false, { 0, 0 } },
    { "no digit in the second half", "0123456789abcdef0123456789abcde-", false, { 0, 0 } },
    { "as PostgreSQL prints it", "01234567-89ab-cdef-0123-456789abcdef", false, { 0, 0 } },
};

START_TEST(texts_are_read_and_written)
{
    const struct text_case *c = &text_cases[_i];
    struct intent_id id = { 7, 7 };
    char text[INTENT_ID_TEXT_BYTES];

    bool got = intent_id_parse(str_of(c->text), &id);

    ck_assert_msg(got == c->want, "%s", c->name);
    if (!got)
        ck_assert_msg(id.us == 7 && id.low == 7, "%s: the output has changed", c->name);
    if (got)
        ck_assert_msg(intent_id_compare(id, c->id) == 0, "%s", c->name);
    if (got)
        ck_assert_str_eq(intent_id_format(id, text), c->text);
}
END_TEST

/* Guard G13: the time first, then the session, then its counter; as unsigned numbers, like PostgreSQL's uuid. */
START_TEST(ids_are_in_the_order_of_their_making)
{
    const struct intent_id ordered[] = { { 0, 0 }, intent_id_of(0, 0, 1), intent_id_of(0, 1, 0),
        intent_id_of(0, 1, UINT32_MAX), intent_id_of(0, UINT32_MAX, 0), intent_id_of(1, 0, 0),
        intent_id_first_at(2), intent_id_of(2, 0, 1), intent_id_of(INT64_MAX, 0, 0), { UINT64_C(1) << 63, 0 },
        { UINT64_MAX, UINT64_MAX } };
    char a[INTENT_ID_TEXT_BYTES], b[INTENT_ID_TEXT_BYTES];

    for (int i = 0; i < (int)ARRAY_LEN(ordered); i++) {
        for (int k = 0; k < (int)ARRAY_LEN(ordered); k++) {
            int order = intent_id_compare(ordered[i], ordered[k]);
            int texts = strcmp(intent_id_format(ordered[i], a), intent_id_format(ordered[k], b));

            ck_assert_int_eq(order, (i > k) - (i < k));
            ck_assert_int_eq((texts > 0) - (texts < 0), order);
        }
    }
}
END_TEST

START_TEST(parts_stand_where_stored_ids_have_them)
{
    struct intent_id id = intent_id_of(0x123456789, 0xabcdef01, 0x10);
    char text[INTENT_ID_TEXT_BYTES];

    ck_assert_str_eq(intent_id_format(id, text), "0000000123456789abcdef0100000010");
    ck_assert_int_eq(intent_id_us(id), 0x123456789);
    ck_assert(!intent_id_is_none(id));
    ck_assert(!intent_id_is_none(intent_id_of(1, 0, 0)));
    ck_assert(!intent_id_is_none(intent_id_of(0, 0, 1)));
    ck_assert(intent_id_is_none(intent_id_first_at(0)));
    ck_assert(intent_id_is_none(intent_id_first_at(-1)));
}
END_TEST

Suite *test_intent_id_suite(void)
{
    Suite *suite = suite_create("intent_id");
    TCase *tc = tcase_create("intent_id");

    tcase_add_loop_test(tc, texts_are_read_and_written, 0, ARRAY_LEN(text_cases));
    tcase_add_test(tc, ids_are_in_the_order_of_their_making);
    tcase_add_test(tc, parts_stand_where_stored_ids_have_them);
    suite_add_tcase(suite, tc);
    return suite;
}
