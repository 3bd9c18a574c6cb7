/* SPDX-License-Identifier: Apache-2.0 */
/* test_codec_freshness.c - consistency tokens as text, and the freshness that look-ups require. */
#include "api/codec_freshness.h"

#include <check.h>

#include "domain/limits.h"
#include "google/protobuf/duration.pb-c.h"

static struct arena arena;
static const struct token_key key = { { 1, 2, 3 } }, other_key = { { 1, 2, 4 } };
static int16_t bucket = 8;
static struct intent_block block = { 1, 2, 3, 3, &bucket, 1 };
static const struct consistency open = { .epoch = 1, .table_id = 9, .blocks = &block, .block_count = 1 };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const char *decode(const Tavola__V1__Freshness *message, struct freshness *out)
{
    struct error err = { 0 };

    if (codec_freshness_decode(message, &key, &arena, out, &err) == STATUS_OK)
        return "OK";
    ck_assert_ptr_nonnull(strstr(err.message, "freshness."));
    return err.reason;
}

START_TEST(tokens_come_back)
{
    struct str text = codec_freshness_token(&open, &key, &arena);
    ProtobufCBinaryData tokens[] = { codec_bytes(STR_EMPTY), codec_bytes(text) };
    Tavola__V1__Freshness message = TAVOLA__V1__FRESHNESS__INIT;
    struct freshness out;

    message.n_at_least = 2;
    message.at_least = tokens;
    ck_assert_str_eq(decode(&message, &out), "OK");
    ck_assert_uint_eq(out.at_least_count, 1);
    ck_assert_int_eq(out.at_least[0].table_id, 9);
    ck_assert_int_eq(out.at_least[0].blocks[0].buckets[0], 8);
    ck_assert(str_equal(codec_freshness_token(&open, &key, &arena), text));
    ck_assert(freshness_is_set(&out));
    message.n_at_least = 1;
    ck_assert_str_eq(decode(&message, &out), "OK");
    ck_assert(!freshness_is_set(&out));
}
END_TEST

START_TEST(tokens_of_others_are_refused)
{
    const struct token page = {
        .purpose = TOKEN_LOOKUP, .query = STR_EMPTY, .first = STR_EMPTY, .second = STR_EMPTY
    };
    const struct token empty = {
        .purpose = TOKEN_CONSISTENCY, .query = STR_EMPTY, .first = STR_EMPTY, .second = STR_EMPTY
    };
    struct str texts[] = { STR_LITERAL("t"), token_encode(&key, &page, &arena),
        token_encode(&key, &empty, &arena), codec_freshness_token(&open, &other_key, &arena),
        str_of_bytes(arena_calloc(&arena, 1, LIMIT_TOKEN_BYTES + 1), LIMIT_TOKEN_BYTES + 1) };
    ProtobufCBinaryData token = codec_bytes(texts[_i]);
    Tavola__V1__Freshness message = TAVOLA__V1__FRESHNESS__INIT;
    struct freshness out;

    message.n_at_least = 1;
    message.at_least = &token;
    ck_assert_str_eq(decode(&message, &out), "INVALID_INPUT");
}
END_TEST

START_TEST(too_many_tokens_are_refused)
{
    ProtobufCBinaryData tokens[LIMIT_TOKENS + 1] = { 0 };
    Tavola__V1__Freshness message = TAVOLA__V1__FRESHNESS__INIT;
    struct freshness out;

    message.at_least = tokens;
    message.n_at_least = LIMIT_TOKENS;
    ck_assert_str_eq(decode(&message, &out), "OK");
    message.n_at_least++;
    ck_assert_str_eq(decode(&message, &out), "INVALID_INPUT");
}
END_TEST

START_TEST(tokens_that_name_too_many_buckets_are_refused)
{
    enum { COUNT = LIMIT_TOKEN_PROBES / BUCKETS };
    int16_t buckets[BUCKETS];
    struct intent_block all = { .us = 5, .first = 1, .last = 2, .buckets = buckets, .bucket_count = BUCKETS };
    struct consistency wide = {
        .epoch = 1, .table_id = 9, .account = STR_EMPTY, .id = STR_EMPTY, .blocks = &all, .block_count = 1
    };
    ProtobufCBinaryData tokens[COUNT + 1];
    Tavola__V1__Freshness message = TAVOLA__V1__FRESHNESS__INIT;
    struct freshness out;

    for (int16_t i = 0; i < BUCKETS; i++)
        buckets[i] = i;
    for (size_t i = 0; i <= COUNT; i++) {
        wide.epoch = (int64_t)i;
        tokens[i] = codec_bytes(codec_freshness_token(&wide, &key, &arena));
    }
    message.at_least = tokens;
    message.n_at_least = COUNT;
    ck_assert_str_eq(decode(&message, &out), "OK");
    ck_assert_uint_eq(freshness_probes(&out), LIMIT_TOKEN_PROBES);
    message.n_at_least++;
    ck_assert_str_eq(decode(&message, &out), "INVALID_INPUT");
}
END_TEST

START_TEST(a_token_counts_once)
{
    ProtobufCBinaryData tokens[LIMIT_TOKENS];
    Tavola__V1__Freshness message = TAVOLA__V1__FRESHNESS__INIT;
    struct freshness out;

    for (size_t i = 0; i < LIMIT_TOKENS; i++)
        tokens[i] = codec_bytes(codec_freshness_token(&open, &key, &arena));
    message.at_least = tokens;
    message.n_at_least = LIMIT_TOKENS;
    ck_assert_str_eq(decode(&message, &out), "OK");
    ck_assert_uint_eq(out.at_least_count, 1);
    ck_assert_uint_eq(freshness_probes(&out), 1);
}
END_TEST

START_TEST(staleness_is_a_span_above_zero)
{
    static const struct {
        int64_t seconds;
        int32_t nanos;
        const char *want;
        int64_t us;
    } cases[] = { { 2, 500000000, "OK", 2500000 }, { 0, 1, "OK", 1 }, { 0, 0, "INVALID_INPUT", 0 },
        { -1, 0, "INVALID_INPUT", 0 }, { 1, -1, "INVALID_INPUT", 0 }, { 1, 1000000000, "INVALID_INPUT", 0 },
        { INT64_MAX, 0, "INVALID_INPUT", 0 } };
    Google__Protobuf__Duration staleness = GOOGLE__PROTOBUF__DURATION__INIT;
    Tavola__V1__Freshness message = TAVOLA__V1__FRESHNESS__INIT;
    struct freshness out = { 0 };

    staleness.seconds = cases[_i].seconds;
    staleness.nanos = cases[_i].nanos;
    message.max_staleness = &staleness;
    ck_assert_str_eq(decode(&message, &out), cases[_i].want);
    ck_assert_int_eq(out.max_staleness_us, cases[_i].us);
}
END_TEST

START_TEST(the_latest_is_asked_for_aloud)
{
    Tavola__V1__Freshness message = TAVOLA__V1__FRESHNESS__INIT;
    struct freshness out;

    ck_assert_str_eq(decode(&message, &out), "OK");
    ck_assert(!freshness_is_set(&out));
    message.latest = 1;
    ck_assert_str_eq(decode(&message, &out), "OK");
    ck_assert(out.latest && freshness_is_set(&out));
}
END_TEST

Suite *test_codec_freshness_suite(void)
{
    Suite *suite = suite_create("codec_freshness");
    TCase *tc = tcase_create("codec_freshness");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, tokens_come_back);
    tcase_add_loop_test(tc, tokens_of_others_are_refused, 0, 5);
    tcase_add_test(tc, too_many_tokens_are_refused);
    tcase_add_test(tc, tokens_that_name_too_many_buckets_are_refused);
    tcase_add_test(tc, a_token_counts_once);
    tcase_add_loop_test(tc, staleness_is_a_span_above_zero, 0, 7);
    tcase_add_test(tc, the_latest_is_asked_for_aloud);
    suite_add_tcase(suite, tc);
    return suite;
}
