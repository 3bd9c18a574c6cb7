/* SPDX-License-Identifier: Apache-2.0 */
#include "domain/transactions/transaction.h"

#include <check.h>

#include "domain/limits.h"
#include "domain/ticks.h"
#include "tests/support/golden.h"

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static struct step a_move(const char *table, const char *to_table, const char *to_row)
{
    return (struct step){ .kind = STEP_MOVE,
        .table = str_of(table),
        .key = { STR_LITERAL("p"), STR_LITERAL("r") },
        .to_table = str_of(to_table),
        .to_key = { STR_LITERAL("p"), str_of(to_row) },
        .condition = { .kind = CONDITION_MATCHES,
            .etag = { 5, INT64_MAX, UINT32_MAX },
            .text = STR_LITERAL("A eq 1") },
        .expires = INT64_MAX,
        .table_id = 7,
        .to_table_id = INT64_MAX };
}

static struct step a_put(void)
{
    return (struct step){ .kind = STEP_INSERT_OR_REPLACE,
        .table = STR_LITERAL("people"),
        .key = { STR_EMPTY, STR_LITERAL("r\xC3\xA9") },
        .properties = { STR_LITERAL("\x7A\x02xy") } };
}

START_TEST(steps_come_back)
{
    struct step steps[] = { a_put(), a_move("a", "b", "r") }, *back;
    struct str bytes = transaction_encode_steps(steps, 2, &arena);
    size_t count;

    ck_assert(transaction_decode_steps(bytes, &arena, &back, &count));
    ck_assert_uint_eq(count, 2);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(back[i].kind, steps[i].kind);
        ck_assert(str_equal(back[i].table, steps[i].table));
        ck_assert(str_equal(back[i].to_table, steps[i].to_table));
        ck_assert_int_eq(entity_key_compare(&back[i].key, &steps[i].key), 0);
        ck_assert_int_eq(entity_key_compare(&back[i].to_key, &steps[i].to_key), 0);
        ck_assert(str_equal(back[i].properties.bytes, steps[i].properties.bytes));
        ck_assert_int_eq(back[i].condition.kind, steps[i].condition.kind);
        ck_assert(etag_equal(back[i].condition.etag, steps[i].condition.etag));
        ck_assert_uint_eq(back[i].condition.etag.key, steps[i].condition.etag.key);
        ck_assert(str_equal(back[i].condition.text, steps[i].condition.text));
        ck_assert_int_eq(back[i].expires, steps[i].expires);
        ck_assert_int_eq(back[i].table_id, steps[i].table_id);
        ck_assert_int_eq(back[i].to_table_id, steps[i].to_table_id);
    }
    ck_assert(str_equal(bytes, transaction_encode_steps(back, 2, &arena)));
}
END_TEST

START_TEST(steps_are_the_same_whatever_the_case_of_their_tables)
{
    struct step step = a_move("People", "Archive", "r"), same = a_move("PEOPLE", "archive", "r"),
                other = a_move("People", "Archive", "R"), steps[] = { step, step };

    same.table_id = 8; /* another table of that name */
    same.to_table_id = 0;
    ck_assert(transaction_same_steps(&step, 1, &same, 1, &arena));
    ck_assert(!transaction_same_steps(&step, 1, &other, 1, &arena));
    ck_assert(!transaction_same_steps(&step, 1, steps, 2, &arena));
}
END_TEST

START_TEST(a_timeline_comes_back)
{
    struct attempt attempts[] = {
        { 0, 1, STR_LITERAL("worker-1"), 10, 20, STR_LITERAL("W/\"5.1\""), STR_LITERAL("W/\"5.2\""),
            STATUS_OK, STR_EMPTY, STR_EMPTY, STR_LITERAL("left\0open"), { 0 } },
        { 99, INT32_MAX, STR_EMPTY, INT64_MAX, 0, STR_EMPTY, STR_EMPTY, STATUS_INTERNAL,
            STR_LITERAL("INTERNAL_ERROR"), STR_LITERAL("broken"), STR_EMPTY, { 0 } },
    };
    struct attempt *back;
    struct str bytes = transaction_encode_timeline(attempts, 2, &arena);
    size_t count;

    ck_assert(transaction_decode_timeline(bytes, &arena, &back, &count));
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(back[1].step, 99);
    ck_assert_int_eq(back[1].number, INT32_MAX);
    ck_assert_int_eq(back[1].started, INT64_MAX);
    ck_assert_int_eq(back[1].status, STATUS_INTERNAL);
    ck_assert(str_equal(back[0].etag_after, attempts[0].etag_after));
    ck_assert(str_equal(back[0].left_open, attempts[0].left_open));
    ck_assert(str_equal(bytes, transaction_encode_timeline(back, 2, &arena)));
    ck_assert(
        transaction_decode_timeline(transaction_encode_timeline(NULL, 0, &arena), &arena, &back, &count));
    ck_assert_uint_eq(count, 0);
}
END_TEST

START_TEST(stored_bytes_stay_as_they_are)
{
    struct step steps[] = { a_put(), a_move("a", "b", "s") };
    const struct attempt attempts[] = {
        { 1, 2, STR_LITERAL("w"), 10, 20, STR_LITERAL("e"), STR_LITERAL("f"), STATUS_OK, STR_EMPTY, STR_EMPTY,
            STR_LITERAL("o"), { 0 } },
        { 99, INT32_MAX, STR_EMPTY, INT64_MAX, -1, STR_EMPTY, STR_EMPTY, STATUS_INTERNAL, STR_LITERAL("R"),
            STR_LITERAL("m"), STR_EMPTY, { 0 } },
    };

    steps[1].account = STR_LITERAL("x");
    steps[1].to_account = STR_LITERAL("yz");
    require_bytes(transaction_encode_steps(steps, 2, &arena),
        "010a230801120670656f706c651a00220372c3a92a047a02787932003a0042004800500058000a5508041201"
        "611a01702201722a003201623a01704201734802500a58feffffffffffffffff01620641206571203168feff"
        "ffffffffffffff017201787a02797a80010e8801feffffffffffffffff019001ffffffff0f");
    require_bytes(transaction_encode_timeline(attempts, 2, &arena),
        "010a1a080210041a0177201428283201653a016640004a0052005a016f0a2408c60110feffffff0f1a0020fe"
        "ffffffffffffffff01280132003a00400f4a015252016d");
}
END_TEST

/* One message: a field out of its range, of another type, of another version. */
static const struct str damaged_steps[] = {
    STR_LITERAL("\x01\x0A\x02\x08\x00"),                                 /* no kind */
    STR_LITERAL("\x01\x0A\x02\x0A\x00"),                                 /* a kind that is a text */
    STR_LITERAL("\x01\x0A\x04\x08\x01\x10\x01"),                         /* a table that is a number */
    STR_LITERAL("\x01\x0A\x04\x08\x01\x48\x03"),                         /* a condition of a later version */
    STR_LITERAL("\x01\x0A\x05\x08\x01\x90\x01\x00"),                     /* a digest of a key that is 0 */
    STR_LITERAL("\x01\x0A\x05\x08\x01\xF8\x01\x00"),                     /* a field of a later version */
    STR_LITERAL("\x01\x12\x02\x08\x01"),                                 /* another message */
    STR_LITERAL("\x01\x08\x01"),                                         /* no message */
    STR_LITERAL("\x01\x0A\x0A\x08\x01\x90\x01\xFF\xFF\xFF\xFF\xFF\x01"), /* more than 32 bits */
};

START_TEST(damaged_steps_are_refused)
{
    struct step *back;
    size_t count;

    ck_assert(!transaction_decode_steps(damaged_steps[_i], &arena, &back, &count));
}
END_TEST

static const struct str damaged_timelines[] = {
    STR_LITERAL("\x01\x0A\x06\x08\xFE\xFF\xFF\xFF\x1F"), /* a step beyond 32 bits */
    STR_LITERAL("\x01\x0A\x02\x40\x7F"),                 /* a status of a later version */
    STR_LITERAL("\x01\x0A\x02\x20"),                     /* cut off */
    STR_LITERAL("\x01\x0A\x03\xF8\x01\x01"),             /* a field of a later version */
};

START_TEST(damaged_timelines_are_refused)
{
    struct attempt *back;
    size_t count;

    ck_assert(!transaction_decode_timeline(damaged_timelines[_i], &arena, &back, &count));
}
END_TEST

START_TEST(foreign_bytes_are_refused)
{
    struct step steps[] = { a_put() }, *back;
    struct str bytes = transaction_encode_steps(steps, 1, &arena);
    size_t count;

    for (size_t len = 2; len < bytes.len; len++)
        ck_assert(!transaction_decode_steps(str_of_bytes(bytes.data, len), &arena, &back, &count));
    ck_assert(!transaction_decode_steps(STR_EMPTY, &arena, &back, &count));
    ck_assert(!transaction_decode_steps(STR_LITERAL("\x02"), &arena, &back, &count));
    ck_assert(!transaction_decode_steps(STR_LITERAL("\x01\x0A\x02\x08\x0A"), &arena, &back, &count));
    ck_assert(!transaction_decode_steps(STR_LITERAL("\x01\x0A\x00"), &arena, &back, &count));
}
END_TEST

static enum status check(const char *id, struct step *steps, size_t count)
{
    struct transaction transaction = { .id = str_of(id), .steps = steps, .step_count = count };
    struct error err = { 0 };

    return transaction_check(&transaction, &err);
}

START_TEST(what_is_submitted_is_checked)
{
    struct step put = a_put(), none = { 0 }, onto_itself = a_move("People", "people", "r"),
                elsewhere = a_move("a", "a", "s");
    struct step many[LIMIT_TRANSACTION_STEPS + 1];
    char id[LIMIT_TRANSACTION_ID_BYTES + 2];

    for (size_t i = 0; i < ARRAY_LEN(many); i++)
        many[i] = put;
    memset(id, 'x', sizeof(id) - 1);
    id[sizeof(id) - 1] = '\0';

    ck_assert_int_eq(check("t", &put, 1), STATUS_OK);
    ck_assert_int_eq(check("t", &elsewhere, 1), STATUS_OK);
    ck_assert_int_eq(check("t", many, LIMIT_TRANSACTION_STEPS), STATUS_OK);
    ck_assert_int_eq(check(id + 1, &put, 1), STATUS_OK);
    ck_assert_int_eq(check(id, &put, 1), STATUS_INVALID);
    ck_assert_int_eq(check("", &put, 1), STATUS_INVALID);
    ck_assert_int_eq(check("a\nb", &put, 1), STATUS_INVALID);
    ck_assert_int_eq(check("\xC3\xA9", &put, 1), STATUS_INVALID);
    ck_assert_int_eq(check("t", &put, 0), STATUS_INVALID);
    ck_assert_int_eq(check("t", many, ARRAY_LEN(many)), STATUS_INVALID);
    ck_assert_int_eq(check("t", &none, 1), STATUS_INVALID);
    ck_assert_int_eq(check("t", &onto_itself, 1), STATUS_INVALID);
}
END_TEST

/* RFC 9562's example: 0x017F22E279B0 ms, 2022-02-22T19:22:22Z. */
#define EXAMPLE "017F22E2-79B0-7CC3-98C4-DC0C0C07398F"

static const struct age_case {
    const char *id;
    int64_t seconds_later;
    bool expired;
} age_cases[] = {
    { EXAMPLE, 0, false },
    { EXAMPLE, 100, false },
    { EXAMPLE, 101, true },
    { EXAMPLE, -1000, false },
    { "017f22e2-79b0-7cc3-98c4-dc0c0c07398f", 101, true },
    { "017F22E2-79B0-4CC3-98C4-DC0C0C07398F", 101, false },
    { "017F22E2-79B0-7CC3-C8C4-DC0C0C07398F", 101, false },
    { "017F22E2-79B0-7CC3-48C4-DC0C0C07398F", 101, false },
    { "017F22E2-79B0-7CC3-98C4-DC0C0C07398", 101, false },
    { "order-4711", 101, false },
};

START_TEST(an_id_older_than_the_retention_is_refused)
{
    const struct age_case *c = &age_cases[_i];
    int64_t now = ticks_from_unix_us(INT64_C(0x017F22E279B0) * 1000) + c->seconds_later * TICKS_PER_SECOND;
    struct error err = { 0 };
    enum status got = transaction_id_check_age(str_of(c->id), now, 100, &err);

    ck_assert_msg((got != STATUS_OK) == c->expired, "%s after %d s", c->id, (int)c->seconds_later);
    if (c->expired)
        ck_assert_str_eq(err.reason, "TRANSACTION_ID_EXPIRED");
}
END_TEST

START_TEST(a_timeline_stays_bounded_and_keeps_counting)
{
    struct transaction transaction = { 0 };
    struct attempt done = { .step = 0 }, failed = { .step = 1, .status = STATUS_INTERNAL };

    transaction_note_attempt(&transaction, &done, &arena);
    for (int i = 0; i < LIMIT_TRANSACTION_ATTEMPTS + 50; i++)
        transaction_note_attempt(&transaction, &failed, &arena);

    ck_assert_uint_eq(transaction.attempt_count, LIMIT_TRANSACTION_ATTEMPTS);
    ck_assert_int_eq(transaction.timeline[0].step, 0); /* what succeeded stays */
    ck_assert_int_eq(transaction.timeline[0].number, 1);
    ck_assert_int_eq(
        transaction.timeline[transaction.attempt_count - 1].number, LIMIT_TRANSACTION_ATTEMPTS + 50);
}
END_TEST

START_TEST(touched_keys_are_named_once_by_account_table_and_key)
{
    struct step steps[] = { a_put(), a_put(), a_move("a", "b", "r") };
    struct transaction transaction = { .account = STR_LITERAL("mine"), .steps = steps, .step_count = 3 };
    const struct step *put = &steps[0];
    struct str owner = transaction.account, none = STR_EMPTY;
    int64_t *touched, digest = transaction_key_digest(owner, none, STR_LITERAL("PEOPLE"), &put->key);

    steps[1].account = STR_LITERAL("mine"); /* the default value, written explicitly: the same */
    ck_assert_uint_eq(transaction_touched(&transaction, &arena, &touched), 3);
    ck_assert(touched[0] == digest || touched[1] == digest || touched[2] == digest);
    steps[1].account = STR_LITERAL("theirs");
    ck_assert_uint_eq(transaction_touched(&transaction, &arena, &touched), 4);
    ck_assert_int_ne(digest, transaction_key_digest(owner, none, STR_LITERAL("peoples"), &put->key));
}
END_TEST

Suite *test_transaction_suite(void)
{
    Suite *suite = suite_create("transaction");
    TCase *tc = tcase_create("transaction");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, steps_come_back);
    tcase_add_test(tc, steps_are_the_same_whatever_the_case_of_their_tables);
    tcase_add_test(tc, a_timeline_comes_back);
    tcase_add_test(tc, stored_bytes_stay_as_they_are);
    tcase_add_loop_test(tc, damaged_steps_are_refused, 0, ARRAY_LEN(damaged_steps));
    tcase_add_loop_test(tc, damaged_timelines_are_refused, 0, ARRAY_LEN(damaged_timelines));
    tcase_add_test(tc, foreign_bytes_are_refused);
    tcase_add_test(tc, what_is_submitted_is_checked);
    tcase_add_test(tc, a_timeline_stays_bounded_and_keeps_counting);
    tcase_add_test(tc, touched_keys_are_named_once_by_account_table_and_key);
    tcase_add_loop_test(tc, an_id_older_than_the_retention_is_refused, 0, ARRAY_LEN(age_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
