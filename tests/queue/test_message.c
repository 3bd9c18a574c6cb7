/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of queue/message.c.
 */
#include "queue/message.h"

#include <check.h>

#include "domain/limits.h"

#define ID "0123456789abcdef0123456789abcdef"
#define GOOD "5 0123456789abcdef0123456789abcdef 1 7 1 pr"
#define CTIDS "0001000200030004000500ff"

enum { MAX_FIELDS = 4 };

static struct arena arena;

static void given_an_arena(void)
{
    arena_init(&arena);
}

static void the_arena_goes(void)
{
    arena_cleanup(&arena);
}

static redisReply text_reply(struct str text)
{
    return (redisReply){ .type = REDIS_REPLY_STRING, .str = (char *)(uintptr_t)text.data, .len = text.len };
}

static bool decode(redisReply id, redisReply *words, size_t count, struct queue_message *out)
{
    redisReply *elements[2 * MAX_FIELDS] = { NULL };
    redisReply fields = { .type = REDIS_REPLY_ARRAY, .element = elements, .elements = count };

    for (size_t i = 0; i < count; i++)
        elements[i] = &words[i];
    return message_decode(&id, &fields, &arena, out);
}

static bool decode_value(struct str value, struct queue_message *out)
{
    redisReply words[] = { text_reply(STR_LITERAL("v2")), text_reply(value) };

    return decode(text_reply(STR_LITERAL("17-3")), words, 2, out);
}

/* The value as it goes to Redis. */
static struct str encode(const struct intent *intent)
{
    struct redis_command command = { .arena = &arena };

    message_encode(intent, &command);
    ck_assert_uint_eq(command.count, 2);
    return str_of_bytes(command.words[0], command.lens[0]);
}

static const struct {
    struct str partition;
    struct str row;
} keys[] = {
    { STR_EMPTY, STR_EMPTY },
    { STR_LITERAL("p"), STR_EMPTY },
    { STR_EMPTY, STR_LITERAL("r") },
    { STR_LITERAL(" "), STR_LITERAL("  ") },
    { STR_LITERAL("1 2"), STR_LITERAL(" 3 4 ") },
    { STR_LITERAL("\0\0"), STR_LITERAL("\0 \xff\r\n$5\r\n'\"") },
};

START_TEST(any_key_comes_back)
{
    struct intent sent = { .bucket = BUCKETS - 1,
        .id = { UINT64_C(0x0123456789abcdef), UINT64_C(0x0123456789abcdef) },
        .kind = INT16_MAX,
        .table_id = INT64_MAX,
        .key = { .partition = keys[_i].partition, .row = keys[_i].row } };
    struct queue_message got = { 0 };

    ck_assert(decode_value(encode(&sent), &got));
    ck_assert_str_eq(got.entry_id, "17-3");
    ck_assert_int_eq(got.intent.bucket, sent.bucket);
    ck_assert_int_eq(intent_id_compare(got.intent.id, sent.id), 0);
    ck_assert_int_eq(got.intent.kind, sent.kind);
    ck_assert_int_eq(got.intent.table_id, sent.table_id);
    ck_assert(str_equal(got.intent.key.partition, sent.key.partition));
    ck_assert(str_equal(got.intent.key.row, sent.key.row));
}
END_TEST

START_TEST(it_can_be_read_by_people)
{
    struct intent sent = { .bucket = 5,
        .id = { UINT64_C(0x0123456789abcdef), UINT64_C(0x0123456789abcdef) },
        .kind = INTENT_RECONCILE,
        .table_id = 7,
        .key = { .partition = STR_LITERAL("p"), .row = STR_LITERAL("r") } };

    ck_assert(str_equal(encode(&sent), STR_LITERAL(GOOD)));
}
END_TEST

static const struct str ill_values[] = {
    STR_LITERAL("5"),
    STR_LITERAL("-1 " ID " 1 7 1 pr"),
    STR_LITERAL("+5 " ID " 1 7 1 pr"),
    STR_LITERAL(" 5 " ID " 1 7 1 pr"),
    STR_LITERAL("5a " ID " 1 7 1 pr"),
    STR_LITERAL("5\0 " ID " 1 7 1 pr"),
    STR_LITERAL("1024 " ID " 1 7 1 pr"),
    STR_LITERAL("18446744073709551621 " ID " 1 7 1 pr"),
    STR_LITERAL("5  1 7 1 pr"),
    STR_LITERAL("5  " ID " 1 7 1 pr"),
    STR_LITERAL("5 " ID "0 1 7 1 pr"),
    STR_LITERAL("5 0123456789abcdef0123456789abcde 1 7 1 pr"),
    STR_LITERAL("5 0123456789abcdef0123456789abcdeF 1 7 1 pr"),
    STR_LITERAL("5 0123456789abcdef0123456789abcdeg 1 7 1 pr"),
    STR_LITERAL("5 0123456789abcdef0123456789abcde\0 1 7 1 pr"),
    STR_LITERAL("5 " ID " -1 7 1 pr"),
    STR_LITERAL("5 " ID " 32768 7 1 pr"),
    STR_LITERAL("5 " ID "  7 1 pr"),
    STR_LITERAL("5 " ID " 1 -7 1 pr"),
    STR_LITERAL("5 " ID " 1 9223372036854775808 1 pr"),
    STR_LITERAL("5 " ID " 1 x 1 pr"),
    STR_LITERAL("5 " ID " 1 7 3 pr"),
    STR_LITERAL("5 " ID " 1 7 -1 pr"),
    STR_LITERAL("5 " ID " 1 7 9223372036854775807 pr"),
    STR_LITERAL("5 " ID " 1 7 18446744073709551617 pr"),
    STR_LITERAL("5 " ID " 1 7 0x1 pr"),
    STR_LITERAL("5 " ID " 1 7  pr"),
    STR_LITERAL("5\t" ID "\t1\t7\t1\tpr"),
};

START_TEST(an_ill_value_is_refused)
{
    struct queue_message got = { 0 };

    ck_assert_msg(!decode_value(ill_values[_i], &got), "%s", ill_values[_i].data);
    ck_assert_str_eq(got.entry_id, "17-3");
}
END_TEST

START_TEST(what_is_cut_off_is_refused)
{
    struct str whole = STR_LITERAL("5 " ID " 1 7 2 pp");
    struct queue_message got = { 0 };

    ck_assert(decode_value(whole, &got));
    for (size_t len = 0; len < whole.len; len++) {
        char *exact = arena_alloc(&arena, len); /* a read beyond the end would be noticed */

        memcpy(exact, whole.data, len);
        ck_assert_msg(!decode_value(str_of_bytes(exact, len), &got), "%zu bytes", len);
    }
}
END_TEST

static const struct {
    const char *words[2 * MAX_FIELDS];
    bool good;
} field_cases[] = {
    { { "v2", GOOD }, true },
    { { "v2", GOOD, "x", "y" }, true },
    { { "x", "y", "", "", "v2", GOOD }, true },
    { { NULL }, false },
    { { "v2" }, false },
    { { "x", "y" }, false },
    { { "v3", GOOD }, false },
    { { "v", GOOD }, false },
    { { "v2x", GOOD }, false },
    { { GOOD, "v2" }, false },
    { { "v2", GOOD, "v2", GOOD }, false },
    { { "v2", GOOD, "at", "" }, true },
    { { "at", CTIDS, "v2", GOOD }, true },
    { { "v2", GOOD, "at", CTIDS, "at", CTIDS }, false },
    { { "at", CTIDS }, false },
    { { "v", "1", "b", "5", "i", ID, "k", "1" }, false },
};

START_TEST(our_fields_are_there_once_and_others_are_ignored)
{
    redisReply words[2 * MAX_FIELDS];
    struct queue_message got = { 0 };
    size_t count = 0;

    while (count < 2 * MAX_FIELDS && field_cases[_i].words[count]) {
        words[count] = text_reply(str_of(field_cases[_i].words[count]));
        count++;
    }
    ck_assert_int_eq(decode(text_reply(STR_LITERAL("17-3")), words, count, &got), field_cases[_i].good);
}
END_TEST

static const struct row_ctid intent_ctid = { { 0, 1, 0, 2, 0, 3 } };
static const struct row_ctid source_ctid = { { 0, 4, 0, 5, 0, (char)0xff } };

static void decode_at(const char *value, struct queue_message *out)
{
    redisReply words[] = { text_reply(STR_LITERAL("v2")), text_reply(STR_LITERAL(GOOD)),
        text_reply(STR_LITERAL("at")), text_reply(str_of(value)) };

    ck_assert(decode(text_reply(STR_LITERAL("17-3")), words, 4, out));
}

START_TEST(ctids_come_back)
{
    struct intent sent = { .ctids = { intent_ctid, source_ctid } };
    struct redis_command command = { .arena = &arena };
    struct queue_message got = { 0 };

    message_encode(&sent, &command);
    ck_assert(str_equal(str_of_bytes(command.words[1], command.lens[1]), STR_LITERAL(CTIDS)));

    decode_at(CTIDS, &got);

    ck_assert_mem_eq(&got.intent.ctids.intent, &intent_ctid, sizeof(intent_ctid));
    ck_assert_mem_eq(&got.intent.ctids.source, &source_ctid, sizeof(source_ctid));
}
END_TEST

static const char *const ill_ctids[] = { "", "0", "0001000200030004000500f", "0001000200030004000500ff0",
    "0001000200030004000500fg", "000100020003 00040005000", CTIDS CTIDS };

/* They spare a search: without them the work is done as well. */
START_TEST(ill_ctids_are_not_known_ones)
{
    struct queue_message got = { 0 };

    decode_at(ill_ctids[_i], &got);

    ck_assert(!row_ctid_is_known(&got.intent.ctids.intent));
    ck_assert(!row_ctid_is_known(&got.intent.ctids.source));
}
END_TEST

START_TEST(replies_of_other_types_are_refused)
{
    redisReply number = { .type = REDIS_REPLY_INTEGER, .integer = 2 }, nil = { .type = REDIS_REPLY_NIL };
    redisReply id = text_reply(STR_LITERAL("17-3")), name = text_reply(STR_LITERAL("v2"));
    redisReply words[] = { name, number, number, name };
    struct queue_message got = { 0 };

    ck_assert(!decode(id, words, 2, &got));
    ck_assert(!decode(id, words + 2, 2, &got));
    ck_assert(!message_decode(&id, &nil, &arena, &got));
    words[1] = text_reply(STR_LITERAL(GOOD));
    ck_assert(decode(id, words, 2, &got));
    got.entry_id[0] = '\0';
    ck_assert(!decode(nil, words, 2, &got));
    ck_assert(!decode(text_reply(STR_LITERAL("1111111111222222222233333333334444444444")), words, 2, &got));
    ck_assert_str_eq(got.entry_id, "");
}
END_TEST

Suite *test_message_suite(void)
{
    Suite *suite = suite_create("message");
    TCase *tc = tcase_create("message");

    tcase_add_checked_fixture(tc, given_an_arena, the_arena_goes);
    tcase_add_loop_test(tc, any_key_comes_back, 0, ARRAY_LEN(keys));
    tcase_add_test(tc, it_can_be_read_by_people);
    tcase_add_loop_test(tc, an_ill_value_is_refused, 0, ARRAY_LEN(ill_values));
    tcase_add_test(tc, what_is_cut_off_is_refused);
    tcase_add_loop_test(tc, our_fields_are_there_once_and_others_are_ignored, 0, ARRAY_LEN(field_cases));
    tcase_add_test(tc, ctids_come_back);
    tcase_add_loop_test(tc, ill_ctids_are_not_known_ones, 0, ARRAY_LEN(ill_ctids));
    tcase_add_test(tc, replies_of_other_types_are_refused);
    suite_add_tcase(suite, tc);
    return suite;
}
