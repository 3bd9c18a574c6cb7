/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/keys/entity_key.c.
 */
#include "domain/keys/entity_key.h"

#include <check.h>

#include "domain/limits.h"

/* count times text, in a buffer that the next call reuses. */
static struct str repeated(const char *text, size_t count)
{
    static char buffer[4096];
    size_t len = strlen(text);

    ck_assert_uint_le(len * count, sizeof(buffer));
    for (size_t i = 0; i < count; i++)
        memcpy(buffer + i * len, text, len);
    return str_of_bytes(buffer, len * count);
}

static const struct key_case {
    const char *name;
    struct str key;
    enum status want;
    const char *reason;
    const char *position;
} key_cases[] = {
    { "empty", STR_LITERAL(""), STATUS_OK, NULL, NULL },
    { "percent, quote, comma, space", STR_LITERAL("%',; "), STATUS_OK, NULL, NULL },
    { "beyond ASCII", STR_LITERAL("K\xC3\xB6ln \xF0\x9F\x98\x80"), STATUS_OK, NULL, NULL },
    { "U+00A0, behind the controls", STR_LITERAL("\xC2\xA0"), STATUS_OK, NULL, NULL },
    { "U+0120, whose last byte is A0", STR_LITERAL("\xC4\xA0"), STATUS_OK, NULL, NULL },
    { "U+011F, whose last byte is 9F", STR_LITERAL("\xC4\x9F"), STATUS_OK, NULL, NULL },
    { "a slash", STR_LITERAL("a/b"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "1" },
    { "a backslash", STR_LITERAL("ab\\"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "2" },
    { "a hash", STR_LITERAL("#"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "0" },
    { "a question mark", STR_LITERAL("\xC3\xB6?"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "2" },
    { "a NUL", STR_LITERAL("a\0b"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "1" },
    { "U+001F", STR_LITERAL("\x1F"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "0" },
    { "U+007F", STR_LITERAL("\x7F"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "0" },
    { "U+0080", STR_LITERAL("\xC2\x80"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "0" },
    { "U+009F", STR_LITERAL("a\xC2\x9F"), STATUS_OUT_OF_RANGE, "OUT_OF_RANGE_INPUT", "1" },
    { "not UTF-8", STR_LITERAL("ab\xFF"), STATUS_INVALID, "INVALID_INPUT", "2" },
    { "a surrogate", STR_LITERAL("\xED\xA0\x80"), STATUS_INVALID, "INVALID_INPUT", "0" },
};

static const char *meta_of(const struct error *err, const char *key)
{
    for (size_t i = 0; i < err->meta_count; i++)
        if (strcmp(err->meta[i].key, key) == 0)
            return err->meta[i].value;
    return "";
}

static void check_refusal(const struct key_case *c, const char *property, const struct error *err)
{
    if (!c->reason)
        return;
    ck_assert_str_eq(err->reason, c->reason);
    ck_assert_str_eq(meta_of(err, "property"), property);
    ck_assert_str_eq(meta_of(err, "position"), c->position);
    ck_assert_ptr_nonnull(strstr(err->message, property));
}

START_TEST(both_keys_are_judged_by_the_same_rules)
{
    const struct key_case *c = &key_cases[_i];
    const struct str other = STR_LITERAL("fine");
    struct entity_key key;
    struct error err = { 0 };

    enum status got = entity_key_parse(c->key, other, &key, &err);
    ck_assert_msg(got == c->want, "%s: got %s (%s)", c->name, status_name(got), err.message);
    check_refusal(c, "PartitionKey", &err);

    got = entity_key_parse(other, c->key, &key, &err);
    ck_assert_msg(got == c->want, "%s: got %s (%s)", c->name, status_name(got), err.message);
    check_refusal(c, "RowKey", &err);
}
END_TEST

static const struct length_case {
    const char *name, *character;
    size_t count;
    enum status want;
} length_cases[] = {
    { "512 ASCII characters", "a", 512, STATUS_OK },
    { "513 ASCII characters", "a", 513, STATUS_INVALID },
    { "512 units in 1024 bytes", "\xC3\xB6", 512, STATUS_OK },
    { "513 units in 1026 bytes", "\xC3\xB6", 513, STATUS_INVALID },
    { "341 units in 1023 bytes", "\xE2\x82\xAC", 341, STATUS_OK },
    { "342 units in 1026 bytes", "\xE2\x82\xAC", 342, STATUS_INVALID },
    { "512 units in 1024 bytes, surrogate pairs", "\xF0\x9F\x98\x80", 256, STATUS_OK },
    { "514 units in 1028 bytes, surrogate pairs", "\xF0\x9F\x98\x80", 257, STATUS_INVALID },
};

START_TEST(a_key_is_limited_in_units_and_in_bytes)
{
    const struct length_case *c = &length_cases[_i];
    struct entity_key key;
    struct error err = { 0 };

    enum status got = entity_key_parse(STR_EMPTY, repeated(c->character, c->count), &key, &err);

    ck_assert_msg(got == c->want, "%s: got %s (%s)", c->name, status_name(got), err.message);
    if (c->want != STATUS_OK)
        ck_assert_str_eq(err.reason, "PROPERTY_VALUE_TOO_LARGE");
}
END_TEST

START_TEST(a_refused_key_leaves_the_output_alone)
{
    struct entity_key key = { .partition = STR_LITERAL("before"), .row = STR_LITERAL("it") };

    ck_assert_int_ne(entity_key_parse(STR_LITERAL("p"), STR_LITERAL("/"), &key, NULL), STATUS_OK);

    ck_assert(str_equal(key.partition, STR_LITERAL("before")));
    ck_assert(str_equal(key.row, STR_LITERAL("it")));
}
END_TEST

START_TEST(keys_are_ordered_by_partition_then_row_by_bytes)
{
    static const struct entity_key ascending[] = {
        { { "", 0 }, { "", 0 } }, { { "", 0 }, { "z", 1 } }, { { "a", 1 }, { "", 0 } },
        { { "a", 1 }, { "b", 1 } }, { { "a", 1 }, { "ba", 2 } }, { { "ab", 2 }, { "a", 1 } },
        { { "\xEF\xBF\xBD", 3 }, { "", 0 } },     /* U+FFFD: above in UTF-16, below in UTF-8 */
        { { "\xF0\x90\x80\x80", 4 }, { "", 0 } }, /* U+10000 */
    };

    for (size_t i = 0; i < ARRAY_LEN(ascending); i++)
        for (size_t j = 0; j < ARRAY_LEN(ascending); j++) {
            int order = entity_key_compare(&ascending[i], &ascending[j]);

            ck_assert_msg((order > 0) == (i > j) && (order < 0) == (i < j), "%zu and %zu", i, j);
        }
}
END_TEST

/* Computed by another program. If one of these changes, stored entities are no longer found. */
static const struct bucket_case {
    int64_t table_id;
    struct str partition;
    int16_t bucket;
} bucket_cases[] = {
    { 1, STR_LITERAL(""), 803 },
    { 1, STR_LITERAL("p"), 303 },
    { 2, STR_LITERAL("p"), 35 },
    { 1, STR_LITERAL("K\xC3\xB6ln"), 625 },
    { 1, STR_LITERAL("a\0b"), 990 },
    { INT64_MAX, STR_LITERAL("partition-0001"), 978 },
    { -1, STR_LITERAL(""), 789 },
};

START_TEST(buckets_never_change)
{
    const struct bucket_case *c = &bucket_cases[_i];

    ck_assert_int_eq(entity_key_bucket(c->table_id, c->partition), c->bucket);
}
END_TEST

START_TEST(the_bucket_of_a_long_key_never_changes)
{
    ck_assert_int_eq(entity_key_bucket(42, repeated("x", 512)), 917);
}
END_TEST

START_TEST(numbered_partitions_are_spread_evenly)
{
    static int counts[BUCKETS];
    int min = INT32_MAX, max = 0;

    for (int i = 0; i < 100 * BUCKETS; i++) {
        char text[16];
        size_t len = 0;

        for (int rest = i; rest > 0 || len == 0; rest /= 10)
            text[len++] = (char)('0' + rest % 10);
        counts[entity_key_bucket(7, str_of_bytes(text, len))]++;
    }
    for (int i = 0; i < BUCKETS; i++) {
        min = counts[i] < min ? counts[i] : min;
        max = counts[i] > max ? counts[i] : max;
    }

    ck_assert_int_ge(min, 50);
    ck_assert_int_le(max, 150);
}
END_TEST

Suite *test_entity_key_suite(void)
{
    Suite *suite = suite_create("entity_key");
    TCase *tc = tcase_create("entity_key");

    tcase_add_loop_test(tc, both_keys_are_judged_by_the_same_rules, 0, ARRAY_LEN(key_cases));
    tcase_add_loop_test(tc, a_key_is_limited_in_units_and_in_bytes, 0, ARRAY_LEN(length_cases));
    tcase_add_test(tc, a_refused_key_leaves_the_output_alone);
    tcase_add_test(tc, keys_are_ordered_by_partition_then_row_by_bytes);
    tcase_add_loop_test(tc, buckets_never_change, 0, ARRAY_LEN(bucket_cases));
    tcase_add_test(tc, the_bucket_of_a_long_key_never_changes);
    tcase_add_test(tc, numbered_partitions_are_spread_evenly);
    suite_add_tcase(suite, tc);
    return suite;
}
