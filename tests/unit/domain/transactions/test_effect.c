/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/transactions/effect.c and file_path.c.
 */
#include "domain/transactions/effect.h"

#include <check.h>
#include <string.h>

#include "base/macros.h"
#include "domain/limits.h"
#include "domain/transactions/file_path.h"
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

static struct step a_file(const char *path)
{
    return (struct step){ .kind = STEP_WRITE_FILE,
        .table = STR_EMPTY,
        .path = str_of(path),
        .content = STR_LITERAL("x"),
        .condition = { .text = STR_EMPTY } };
}

static const struct path_case {
    const char *path;
    bool is_valid;
} path_cases[] = {
    { "a", true },
    { "2026/11/Ada-1_2.3=4+5@6,7.json", true },
    { "a/b/c/d/e/f/g/h", true },
    { "a/b/c/d/e/f/g/h/i", false },
    { "", false },
    { "/a", false },
    { "a/", false },
    { "a//b", false },
    { ".", false },
    { "..", false },
    { "a/../b", false },
    { "a/.hidden", false },
    { "-rf", false },
    { "a b", false },
    { "a\\b", false },
    { "a\nb", false },
    { "\xc3\xa4", false },
    { "a:b", false },
};

START_TEST(a_path_stays_in_its_folder)
{
    ck_assert_msg(file_path_is_valid(str_of(path_cases[_i].path)) == path_cases[_i].is_valid, "%s",
        path_cases[_i].path);
}
END_TEST

START_TEST(a_part_of_a_path_has_a_bound)
{
    char part[FILE_PATH_PART_BYTES + 2];

    memset(part, 'x', sizeof(part));
    ck_assert(file_path_is_valid(str_of_bytes(part, FILE_PATH_PART_BYTES)));
    ck_assert(!file_path_is_valid(str_of_bytes(part, FILE_PATH_PART_BYTES + 1)));
    ck_assert(!file_path_is_valid(STR_LITERAL("a\0b")));
}
END_TEST

static void no_entity_to_delete(struct step *step)
{
    step->deletes_entity = true;
}
static void no_entity_for_the_condition(struct step *step)
{
    step->condition.kind = CONDITION_EXISTS;
}
static void too_much_data(struct step *step)
{
    step->content.len = LIMIT_EFFECT_BYTES + 1;
}
static void a_path_with_dots(struct step *step)
{
    step->path = STR_LITERAL("../x");
}

static const struct problem_case {
    void (*spoil)(struct step *step);
    const char *says;
} problem_cases[] = {
    { no_entity_to_delete, "delete_entity" },
    { no_entity_for_the_condition, "precondition" },
    { too_much_data, "1 MiB" },
    { a_path_with_dots, "path" },
};

START_TEST(a_step_that_can_never_be_done_is_refused)
{
    const struct problem_case *c = &problem_cases[_i];
    struct step step = a_file("a/b");
    struct transaction transaction = { .id = STR_LITERAL("t"), .steps = &step, .step_count = 1 };
    struct error err = { 0 };

    ck_assert_int_eq(transaction_check(&transaction, &err), STATUS_OK);
    c->spoil(&step);
    ck_assert_int_eq(transaction_check(&transaction, &err), STATUS_INVALID);
    ck_assert_msg(strstr(err.message, c->says) != NULL, "%s", err.message);
}
END_TEST

START_TEST(stored_bytes_of_effects_stay_as_they_are)
{
    struct effect_note note = { .step = 3, .content = STR_LITERAL("{}"), .entity = { 5, 6, 0 } }, back;
    struct step step = a_file("p"), *steps;
    struct attempt attempt = { .receipt = { 7, STR_LITERAL("d"), 9 } }, *timeline;
    size_t count;

    step.deletes_entity = true;
    require_bytes(effect_note_encode(&note, &arena), "01080612027b7d180a200c");
    memset(&back, 0xff, sizeof(back)); /* what stood on the stack before */
    ck_assert(effect_note_decode(effect_note_encode(&note, &arena), &arena, &back));
    ck_assert_int_eq(back.step, 3);
    ck_assert(str_equal(back.content, note.content));
    ck_assert(etag_equal(back.entity, note.entity));
    ck_assert(!effect_note_decode(STR_EMPTY, &arena, &back));
    ck_assert(!effect_note_decode(STR_LITERAL("\x02"), &arena, &back));

    ck_assert(transaction_decode_steps(transaction_encode_steps(&step, 1, &arena), &arena, &steps, &count));
    ck_assert(str_equal(steps[0].path, step.path) && str_equal(steps[0].content, step.content));
    ck_assert(steps[0].deletes_entity);
    ck_assert(transaction_decode_timeline(
        transaction_encode_timeline(&attempt, 1, &arena), &arena, &timeline, &count));
    ck_assert_int_eq(timeline[0].receipt.size, 7);
    ck_assert_int_eq(timeline[0].receipt.offset, 9);
    ck_assert(str_equal(timeline[0].receipt.digest, attempt.receipt.digest));
}
END_TEST

static struct step a_call(const char *url)
{
    return (struct step){ .kind = STEP_HTTP_CALL,
        .table = STR_EMPTY,
        .path = str_of(url),
        .content = STR_LITERAL("x"),
        .condition = { .text = STR_EMPTY } };
}

START_TEST(a_call_has_a_url_and_a_content_type)
{
    struct step good = a_call("https://a/b"), bad_url = a_call("https://u@a/b"), bad_type = good;

    bad_type.content_type = STR_LITERAL("a\r\nX: y");
    ck_assert_ptr_null(effect_problem(&good));
    ck_assert_ptr_nonnull(strstr(effect_problem(&bad_url), "url"));
    ck_assert_ptr_nonnull(strstr(effect_problem(&bad_type), "content_type"));
}
END_TEST

START_TEST(stored_calls_come_back)
{
    struct step step = a_call("https://a/b"), *steps;
    struct attempt attempt = { .receipt = { .size = 7, .digest = STR_LITERAL("d"), .http_status = 204 } },
                   *timeline;
    struct str plain = transaction_encode_steps(&step, 1, &arena), put;
    size_t count;

    step.uses_put = true;
    put = transaction_encode_steps(&step, 1, &arena);
    ck_assert(!str_equal(plain, put));
    ck_assert(transaction_decode_steps(put, &arena, &steps, &count));
    ck_assert(steps[0].uses_put && str_equal(steps[0].path, step.path));
    ck_assert(transaction_decode_timeline(
        transaction_encode_timeline(&attempt, 1, &arena), &arena, &timeline, &count));
    ck_assert_int_eq(timeline[0].receipt.http_status, 204);
}
END_TEST

/* Receivers remember keys: another version of the program must not make other ones. */
START_TEST(an_idempotency_key_is_of_one_step_and_stays)
{
    struct effect effect = { .account = STR_LITERAL("acme#1"), .transaction_id = STR_LITERAL("t\"1") };
    struct effect others[] = { effect, effect, effect };
    struct str key = effect_idempotency_key(&effect, &arena);

    others[0].account = STR_LITERAL("acme#2");
    others[1].transaction_id = STR_LITERAL("t\"10");
    others[2].note.step = 1;
    ck_assert(
        str_equal(key, STR_LITERAL("0d56dc53dcf10dccc4d15d9272872b24afad5e27708e1605d7ce6d9170372095")));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        ck_assert(!str_equal(key, effect_idempotency_key(&others[i], &arena)));
}
END_TEST

START_TEST(a_copy_of_an_effect_has_all_that_a_call_needs)
{
    struct effect effect = {
        .account = STR_LITERAL("a"), .transaction_id = STR_LITERAL("t"), .step = a_call("http://a")
    };
    struct effect copy;

    effect.step.uses_put = true;
    effect.step.content_type = STR_LITERAL("a/b");
    copy = effect_copy(&effect, &arena);
    ck_assert(copy.step.kind == STEP_HTTP_CALL && copy.step.uses_put);
    ck_assert(str_equal(copy.step.path, effect.step.path));
    ck_assert(str_equal(copy.step.content_type, effect.step.content_type));
}
END_TEST

START_TEST(a_file_of_data_touches_no_entity)
{
    struct step steps[] = { a_file("a"), a_file("b") };
    struct transaction transaction = { .account = STR_LITERAL("x"), .steps = steps, .step_count = 2 };
    int64_t *digests;

    ck_assert_uint_eq(transaction_touched(&transaction, &arena, &digests), 0);
    steps[1].table = STR_LITERAL("People");
    ck_assert_uint_eq(transaction_touched(&transaction, &arena, &digests), 1);
}
END_TEST

Suite *test_effect_suite(void)
{
    Suite *suite = suite_create("effect");
    TCase *tc = tcase_create("effect");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_path_stays_in_its_folder, 0, ARRAY_LEN(path_cases));
    tcase_add_test(tc, a_part_of_a_path_has_a_bound);
    tcase_add_loop_test(tc, a_step_that_can_never_be_done_is_refused, 0, ARRAY_LEN(problem_cases));
    tcase_add_test(tc, stored_bytes_of_effects_stay_as_they_are);
    tcase_add_test(tc, a_call_has_a_url_and_a_content_type);
    tcase_add_test(tc, stored_calls_come_back);
    tcase_add_test(tc, an_idempotency_key_is_of_one_step_and_stays);
    tcase_add_test(tc, a_copy_of_an_effect_has_all_that_a_call_needs);
    tcase_add_test(tc, a_file_of_data_touches_no_entity);
    suite_add_tcase(suite, tc);
    return suite;
}
