/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of api/codec_transaction.c.
 */
#include "api/codec_transaction.h"

#include "codec_fixture.h"
#include "domain/limits.h"

static Tavola__V1__EntityAddress *an_address(const char *table, const char *row)
{
    Tavola__V1__EntityAddress *out = ARENA_NEW(&arena, Tavola__V1__EntityAddress);

    tavola__v1__entity_address__init(out);
    out->table = text(table);
    out->key = a_key("p", row);
    return out;
}

static Tavola__V1__SubmitTransactionRequest *a_submission(size_t steps)
{
    Tavola__V1__SubmitTransactionRequest *out = ARENA_NEW(&arena, Tavola__V1__SubmitTransactionRequest);

    tavola__v1__submit_transaction_request__init(out);
    out->transaction_id = text("t1");
    out->n_steps = steps;
    out->steps = ARENA_ARRAY(&arena, Tavola__V1__Step *, steps);
    for (size_t i = 0; i < steps; i++) {
        Tavola__V1__Step *step = out->steps[i] = ARENA_NEW(&arena, Tavola__V1__Step);

        tavola__v1__step__init(step);
        step->action_case = TAVOLA__V1__STEP__ACTION_MOVE;
        step->move = ARENA_NEW(&arena, Tavola__V1__MoveStep);
        tavola__v1__move_step__init(step->move);
        step->move->source = an_address("Here", "r");
        step->move->destination = an_address("There", "r");
    }
    return out;
}

static void no_id(Tavola__V1__SubmitTransactionRequest *request)
{
    request->transaction_id = text("");
}
static void no_action(Tavola__V1__SubmitTransactionRequest *request)
{
    request->steps[1]->action_case = TAVOLA__V1__STEP__ACTION__NOT_SET;
}
static void no_destination(Tavola__V1__SubmitTransactionRequest *request)
{
    request->steps[1]->move->destination = NULL;
}
static void no_key(Tavola__V1__SubmitTransactionRequest *request)
{
    request->steps[1]->move->source->key = NULL;
}
static void bad_table(Tavola__V1__SubmitTransactionRequest *request)
{
    request->steps[1]->move->source->table = text("a-b");
}
static void other_account(Tavola__V1__SubmitTransactionRequest *request)
{
    request->steps[1]->move->destination->account = text("\xff");
}
static void conditional(Tavola__V1__SubmitTransactionRequest *request)
{
    request->steps[1]->precondition = if_match("*");
    request->steps[1]->precondition->condition = text("A eq");
}
static void bad_etag(Tavola__V1__SubmitTransactionRequest *request)
{
    request->steps[1]->precondition = if_match("nonsense");
}

static Tavola__V1__FileStep *a_file(Tavola__V1__SubmitTransactionRequest *request)
{
    Tavola__V1__FileStep *out = ARENA_NEW(&arena, Tavola__V1__FileStep);

    tavola__v1__file_step__init(out);
    out->path = text("a/b");
    out->content_case = TAVOLA__V1__FILE_STEP__CONTENT_DATA;
    out->data = text("data");
    request->steps[1]->action_case = TAVOLA__V1__STEP__ACTION_WRITE_FILE;
    request->steps[1]->write_file = out;
    return out;
}
static void no_content(Tavola__V1__SubmitTransactionRequest *request)
{
    a_file(request)->content_case = TAVOLA__V1__FILE_STEP__CONTENT__NOT_SET;
}
static void a_path_upwards(Tavola__V1__SubmitTransactionRequest *request)
{
    a_file(request)->path = text("a/../b");
}

static Tavola__V1__HttpCallStep *a_call(Tavola__V1__SubmitTransactionRequest *request)
{
    Tavola__V1__HttpCallStep *out = ARENA_NEW(&arena, Tavola__V1__HttpCallStep);

    tavola__v1__http_call_step__init(out);
    out->url = text("https://hooks.example/a");
    out->content_case = TAVOLA__V1__HTTP_CALL_STEP__CONTENT_DATA;
    out->data = text("data");
    request->steps[1]->action_case = TAVOLA__V1__STEP__ACTION_HTTP_CALL;
    request->steps[1]->http_call = out;
    return out;
}
static void a_call_without_content(Tavola__V1__SubmitTransactionRequest *request)
{
    a_call(request)->content_case = TAVOLA__V1__HTTP_CALL_STEP__CONTENT__NOT_SET;
}
static void a_call_with_another_method(Tavola__V1__SubmitTransactionRequest *request)
{
    a_call(request)->method = text("GET");
}
static void a_call_of_a_user(Tavola__V1__SubmitTransactionRequest *request)
{
    a_call(request)->url = text("https://me:secret@hooks.example/a");
}
static void a_call_of_no_entity(Tavola__V1__SubmitTransactionRequest *request)
{
    Tavola__V1__HttpCallStep *call = a_call(request);

    call->content_case = TAVOLA__V1__HTTP_CALL_STEP__CONTENT_ENTITY;
    call->entity = NULL;
}

static const struct refusal_case {
    const char *name;
    void (*spoil)(Tavola__V1__SubmitTransactionRequest *request);
    const char *reason;
    const char *step;
} refusal_cases[] = {
    { "no id", no_id, "INVALID_INPUT", "" },
    { "no action", no_action, "INVALID_INPUT", "1" },
    { "no destination", no_destination, "INVALID_INPUT", "1" },
    { "no key", no_key, "PROPERTIES_NEED_VALUE", "1" },
    { "a bad table", bad_table, "INVALID_RESOURCE_NAME", "1" },
    { "an account that is no text", other_account, "INVALID_INPUT", "1" },
    { "a condition that is no filter", conditional, "INVALID_INPUT", "1" },
    { "a bad etag", bad_etag, "INVALID_INPUT", "1" },
    { "a file without content", no_content, "INVALID_INPUT", "1" },
    { "a path that leads upwards", a_path_upwards, "INVALID_INPUT", "1" },
    { "a call without content", a_call_without_content, "INVALID_INPUT", "1" },
    { "a call with another method", a_call_with_another_method, "INVALID_INPUT", "1" },
    { "a call of a user", a_call_of_a_user, "INVALID_INPUT", "1" },
    { "a call of no entity", a_call_of_no_entity, "INVALID_INPUT", "1" },
};

START_TEST(bad_submissions_are_refused)
{
    const struct refusal_case *c = &refusal_cases[_i];
    Tavola__V1__SubmitTransactionRequest *request = a_submission(2);
    struct transaction out;

    c->spoil(request);
    enum status status = codec_transaction_decode(request, STR_LITERAL("default"), &arena, &out, &err);

    ck_assert_msg(status != STATUS_OK, "%s", c->name);
    assert_refused(status, c->reason);
    ck_assert_str_eq(meta("operation_index"), c->step);
}
END_TEST

START_TEST(a_file_comes_back_as_it_was_submitted)
{
    Tavola__V1__SubmitTransactionRequest *request = a_submission(2);
    Tavola__V1__Transaction *message;
    struct transaction out;

    a_file(request);
    ck_assert_int_eq(
        codec_transaction_decode(request, STR_LITERAL("default"), &arena, &out, &err), STATUS_OK);
    message = codec_transaction_message(&out, TRANSACTION_WHOLE, &arena);
    ck_assert_int_eq(message->steps[1]->action_case, TAVOLA__V1__STEP__ACTION_WRITE_FILE);
    ck_assert(str_equal(codec_str(message->steps[1]->write_file->path), STR_LITERAL("a/b")));
    ck_assert(str_equal(codec_str(message->steps[1]->write_file->data), STR_LITERAL("data")));
    message = codec_transaction_message(&out, TRANSACTION_WITHOUT_PROPERTIES, &arena);
    ck_assert_uint_eq(message->steps[1]->write_file->data.len, 0);
}
END_TEST

START_TEST(a_call_comes_back_as_it_was_submitted)
{
    Tavola__V1__SubmitTransactionRequest *request = a_submission(2);
    struct attempt attempt = { .receipt = { .digest = STR_LITERAL("d"), .http_status = 201 } };
    Tavola__V1__Transaction *message;
    struct transaction out;

    a_call(request)->method = text("PUT");
    request->steps[1]->http_call->content_type = text("a/b");
    ck_assert_int_eq(
        codec_transaction_decode(request, STR_LITERAL("default"), &arena, &out, &err), STATUS_OK);
    out.timeline = &attempt;
    out.attempt_count = 1;
    message = codec_transaction_message(&out, TRANSACTION_WHOLE, &arena);
    ck_assert_int_eq(message->steps[1]->action_case, TAVOLA__V1__STEP__ACTION_HTTP_CALL);
    ck_assert(
        str_equal(codec_str(message->steps[1]->http_call->url), STR_LITERAL("https://hooks.example/a")));
    ck_assert(str_equal(codec_str(message->steps[1]->http_call->method), STR_LITERAL("PUT")));
    ck_assert(str_equal(codec_str(message->steps[1]->http_call->content_type), STR_LITERAL("a/b")));
    ck_assert(str_equal(codec_str(message->steps[1]->http_call->data), STR_LITERAL("data")));
    ck_assert_int_eq(message->timeline[0]->receipt->http_status, 201);
    message = codec_transaction_message(&out, TRANSACTION_WITHOUT_PROPERTIES, &arena);
    ck_assert_uint_eq(message->steps[1]->http_call->data.len, 0);
}
END_TEST

START_TEST(a_transaction_has_1_to_100_steps)
{
    struct transaction out;

    assert_refused(codec_transaction_decode(a_submission(0), STR_LITERAL("default"), &arena, &out, &err),
        "INVALID_INPUT");
    assert_refused(codec_transaction_decode(a_submission(101), STR_LITERAL("default"), &arena, &out, &err),
        "INVALID_INPUT");
    ck_assert_int_eq(
        codec_transaction_decode(a_submission(100), STR_LITERAL("default"), &arena, &out, &err), STATUS_OK);
    ck_assert_uint_eq(out.step_count, 100);
}
END_TEST

START_TEST(accounts_may_be_named_and_the_own_one_is_left_out)
{
    Tavola__V1__SubmitTransactionRequest *request = a_submission(1);
    struct transaction out;

    request->steps[0]->move->source->account = text("default");
    request->steps[0]->move->destination->account = text("theirs");
    ck_assert_int_eq(
        codec_transaction_decode(request, STR_LITERAL("default"), &arena, &out, &err), STATUS_OK);
    ck_assert_uint_eq(out.steps[0].account.len, 0);
    ck_assert(str_equal(out.steps[0].to_account, STR_LITERAL("theirs")));
}
END_TEST

START_TEST(steps_come_back)
{
    Tavola__V1__SubmitTransactionRequest *request = a_submission(1);
    Tavola__V1__Transaction *back;
    struct transaction transaction;

    request->steps[0]->precondition = if_match("W/\"a.b\"");
    request->steps[0]->precondition->condition = text("A eq 1");
    ck_assert_int_eq(
        codec_transaction_decode(request, STR_LITERAL("default"), &arena, &transaction, &err), STATUS_OK);
    back = codec_transaction_message(&transaction, TRANSACTION_WHOLE, &arena);

    ck_assert_int_eq(back->state, TAVOLA__V1__TRANSACTION_STATE__TRANSACTION_STATE_PENDING);
    ck_assert_int_eq(back->steps[0]->action_case, TAVOLA__V1__STEP__ACTION_MOVE);
    ck_assert(str_equal(codec_str(back->steps[0]->move->destination->table), STR_LITERAL("There")));
    ck_assert(str_equal(codec_str(back->steps[0]->precondition->if_match), STR_LITERAL("W/\"a.b\"")));
    ck_assert(str_equal(codec_str(back->steps[0]->precondition->condition), STR_LITERAL("A eq 1")));
    ck_assert_uint_eq(codec_transaction_message(&transaction, TRANSACTION_SUMMARY, &arena)->n_steps, 0);
}
END_TEST

START_TEST(a_reply_that_would_be_too_long_leaves_properties_out)
{
    struct value value = { .type = PROPERTY_BINARY };
    struct step steps[4] = { 0 };
    struct transaction transaction = { .id = STR_LITERAL("t"), .state = TRANSACTION_DONE, .steps = steps };
    struct property_builder builder;
    struct buf properties, out;

    value.bytes = str_of_bytes(arena_calloc(&arena, 1, 1000000), 1000000);
    buf_init(&properties, &arena);
    builder = (struct property_builder){ .out = &properties };
    property_build(&builder, STR_LITERAL("A"), &value);
    for (size_t i = 0; i < 4; i++) {
        steps[i] = (struct step){ .kind = STEP_INSERT_OR_REPLACE, .table = STR_LITERAL("Tab") };
        steps[i].properties.bytes = buf_str(&properties);
    }
    transaction.step_count = 3;
    buf_init(&out, &arena);
    codec_transaction_write(&out, 1, &transaction, STR_EMPTY, &arena);
    ck_assert_uint_gt(out.len, 3000000);
    transaction.step_count = 4;
    buf_init(&out, &arena);
    codec_transaction_write(&out, 1, &transaction, STR_EMPTY, &arena);
    ck_assert_uint_lt(out.len, 1000);
}
END_TEST

Suite *test_codec_transaction_suite(void)
{
    Suite *suite = suite_create("codec_transaction");
    TCase *tc = tcase_create("codec_transaction");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, bad_submissions_are_refused, 0, ARRAY_LEN(refusal_cases));
    tcase_add_test(tc, a_file_comes_back_as_it_was_submitted);
    tcase_add_test(tc, a_call_comes_back_as_it_was_submitted);
    tcase_add_test(tc, a_transaction_has_1_to_100_steps);
    tcase_add_test(tc, accounts_may_be_named_and_the_own_one_is_left_out);
    tcase_add_test(tc, steps_come_back);
    tcase_add_test(tc, a_reply_that_would_be_too_long_leaves_properties_out);
    suite_add_tcase(suite, tc);
    return suite;
}
