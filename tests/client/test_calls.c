/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_calls.c - deadlines, repeats, tokens and asynchronous calls of libtavola, beside a server that answers as the
 * test says: it fails the first calls with a status, and keeps every request.
 */
#include <check.h>
#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "api/codec_error.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/macros.h"
#include "client/lib/retry.h"
#include "client/lib/tavola.h"
#include "domain/reason.h"
#include "rpc/server.h"
#include "tavola/v1/entity_service.pb-c.h"

enum { MAX_REQUESTS = 4096, TEXT_BYTES = 200, HOLD = -1 };

/* The service. code HOLD: calls are answered only when they are cancelled. */
static struct fake {
    char folder[64], address[128];
    struct rpc_server *server;
    struct tavola *client;
    struct tavola_error error;

    pthread_mutex_t lock; /* guards what follows */
    int failures;         /* how many calls fail from now on */
    int code;
    enum reason reason;
    int requests;
    char ids[MAX_REQUESTS][TEXT_BYTES];    /* the request ids, in the order of the calls */
    char tokens[MAX_REQUESTS][TEXT_BYTES]; /* the credentials */
    int64_t times_us[MAX_REQUESTS];
} fake;

static void note_request(struct rpc_call *call, struct str message)
{
    struct str token = rpc_call_metadata(call, "authorization");
    const Tavola__V1__InsertEntityRequest *request = (const Tavola__V1__InsertEntityRequest *)codec_read(
        &tavola__v1__insert_entity_request__descriptor, message, rpc_call_arena(call));

    ck_assert_int_lt(fake.requests, MAX_REQUESTS);
    snprintf(fake.ids[fake.requests], TEXT_BYTES, "%.*s",
        STR_ARG(request ? codec_str(request->request_id) : STR_EMPTY));
    snprintf(fake.tokens[fake.requests], TEXT_BYTES, "%.*s", STR_ARG(token));
    fake.times_us[fake.requests++] = clock_monotonic_us();
}

static void fail_call(struct rpc_call *call)
{
    struct error err = { 0 };
    struct codec_trailers trailers;

    if (fake.code == TAVOLA_UNAVAILABLE && fake.reason == REASON_INVALID_INPUT) {
        rpc_call_finish(call, fake.code, STR_LITERAL("lost"), STR_EMPTY); /* as the transport says it */
        return;
    }
    (void)reason_set(&err, fake.reason, "no \"table\"");
    error_add_meta(&err, "table", STR_LITERAL("people"));
    trailers = codec_trailers_encode(&err, NULL, rpc_call_arena(call));
    rpc_call_finish(call, trailers.code, trailers.message, trailers.details);
}

static void on_begin(struct rpc_call *call)
{
    rpc_call_read(call);
}

static void on_message(struct rpc_call *call, struct str message)
{
    Tavola__V1__InsertEntityResponse reply = TAVOLA__V1__INSERT_ENTITY_RESPONSE__INIT;
    Tavola__V1__WriteResult result = TAVOLA__V1__WRITE_RESULT__INIT;
    struct buf out;
    bool fails;

    pthread_mutex_lock(&fake.lock);
    note_request(call, message);
    fails = fake.failures > 0 && fake.failures-- > 0;
    pthread_mutex_unlock(&fake.lock);
    if (fake.code == HOLD)
        return;
    if (fails) {
        fail_call(call);
        return;
    }
    result.etag = codec_bytes(STR_LITERAL("W/1"));
    reply.result = &result;
    buf_init(&out, rpc_call_arena(call));
    codec_pack(&out, 0, &reply.base);
    rpc_call_reply(call, buf_str(&out));
}

static void on_cancelled(struct rpc_call *call)
{
    if (fake.code == HOLD)
        rpc_call_finish(call, TAVOLA_CANCELLED, STR_EMPTY, STR_EMPTY);
}

static void on_nothing(struct rpc_call *call)
{
    (void)call;
}

static void on_drained(void *context)
{
    (void)context;
}

static const struct rpc_method methods[] = {
    { "/tavola.v1.EntityService/InsertEntity", RPC_UNARY, "InsertEntity", false, false },
    { "/tavola.v1.EntityService/GetEntity", RPC_UNARY, "GetEntity", false, false },
    { "/tavola.v1.TableService/CreateTable", RPC_UNARY, "CreateTable", false, false },
};

static void start_server(void)
{
    struct error err = { 0 };
    const struct rpc_options options = { .listen = fake.address,
        .threads = 2,
        .receive_bytes = 4 << 20,
        .methods = methods,
        .method_count = ARRAY_LEN(methods),
        .events = { .begin = on_begin,
            .message = on_message,
            .half_closed = on_nothing,
            .sent = on_nothing,
            .cancelled = on_cancelled,
            .ended = on_nothing,
            .drained = on_drained },
        .context = &fake };

    ck_assert_msg(rpc_server_start(&options, &fake.server, &err) == STATUS_OK, "%s", err.message);
}

/* What the callbacks of a test have been told. */
static struct ends {
    pthread_mutex_t lock;
    int count, failed;
    enum tavola_code last;
} ends;

static void setup(void)
{
    fake = (struct fake){ .folder = "/tmp/test_client_XXXXXX" };
    pthread_mutex_init(&fake.lock, NULL);
    ends = (struct ends){ .lock = PTHREAD_MUTEX_INITIALIZER };
    ck_assert_ptr_nonnull(mkdtemp(fake.folder));
    snprintf(fake.address, sizeof(fake.address), "unix:%s/socket", fake.folder);
    start_server();
}

static void teardown(void)
{
    char path[128];

    tavola_close(fake.client);
    rpc_server_stop(fake.server, 20000);
    snprintf(path, sizeof(path), "%s/socket", fake.folder);
    unlink(path);
    rmdir(fake.folder);
}

static void open_client(struct tavola_options options)
{
    options.target = fake.address;
    ck_assert_int_eq(tavola_open(&options, &fake.client, &fake.error), TAVOLA_OK);
}

static void let_fail(int failures, int code, enum reason reason)
{
    fake.failures = failures;
    fake.code = code;
    fake.reason = reason;
}

static enum tavola_code insert(const char *request_id)
{
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY("p", "r"));
    const struct tavola_write_options options = { .request_id = request_id };
    enum tavola_code code = tavola_write(fake.client, "people", TAVOLA_INSERT, entity, &options, &fake.error);

    if (code == TAVOLA_OK)
        ck_assert_str_eq(tavola_entity_etag(entity), "W/1");
    tavola_entity_free(entity);
    return code;
}

/* ---- repeats ---- */

START_TEST(a_write_is_repeated_under_one_request_id)
{
    open_client((struct tavola_options){ .timeout_ms = 20000 });
    let_fail(3, TAVOLA_UNAVAILABLE, REASON_INVALID_INPUT);

    ck_assert_int_eq(insert(NULL), TAVOLA_OK);
    ck_assert_int_eq(insert(NULL), TAVOLA_OK);

    ck_assert_int_eq(fake.requests, 5);
    ck_assert_uint_eq(strlen(fake.ids[0]), 32);
    ck_assert_str_eq(fake.ids[3], fake.ids[0]);
    ck_assert_str_ne(fake.ids[4], fake.ids[0]);
}
END_TEST

START_TEST(a_write_without_a_request_id_is_not_repeated)
{
    open_client((struct tavola_options){ .without_request_ids = true });
    let_fail(1, TAVOLA_UNAVAILABLE, REASON_INVALID_INPUT);

    ck_assert_int_eq(insert(NULL), TAVOLA_UNAVAILABLE);
    ck_assert_str_eq(fake.ids[0], "");
    let_fail(1, TAVOLA_UNAVAILABLE, REASON_INVALID_INPUT);
    ck_assert_int_eq(insert("mine"), TAVOLA_OK);
    ck_assert_str_eq(fake.ids[2], "mine");
    ck_assert_int_eq(fake.requests, 3);
}
END_TEST

START_TEST(a_call_that_is_not_harmless_is_not_repeated)
{
    open_client((struct tavola_options){ .timeout_ms = 20000 });
    let_fail(1, TAVOLA_UNAVAILABLE, REASON_INVALID_INPUT);

    ck_assert_int_eq(tavola_create_table(fake.client, "people", &fake.error), TAVOLA_UNAVAILABLE);
    ck_assert_int_eq(fake.requests, 1);
}
END_TEST

START_TEST(attempts_are_bounded)
{
    open_client((struct tavola_options){ .max_attempts = 3 });
    let_fail(10, TAVOLA_UNAVAILABLE, REASON_INVALID_INPUT);

    ck_assert_int_eq(insert(NULL), TAVOLA_UNAVAILABLE);
    ck_assert_int_eq(fake.requests, 3);
    ck_assert_str_eq(fake.error.message, "lost");
}
END_TEST

START_TEST(a_busy_service_is_given_the_time_that_it_asks_for)
{
    open_client((struct tavola_options){ .timeout_ms = 20000 });
    let_fail(1, TAVOLA_RESOURCE_EXHAUSTED, REASON_SERVER_BUSY);

    ck_assert_int_eq(insert(NULL), TAVOLA_OK);
    ck_assert_int_eq(fake.requests, 2);
    ck_assert_int_ge(fake.times_us[1] - fake.times_us[0], 1000000); /* its RetryInfo says a second */
}
END_TEST

START_TEST(an_error_that_does_not_pass_is_told_with_all_it_has)
{
    open_client((struct tavola_options){ .timeout_ms = 20000 });
    let_fail(1, TAVOLA_NOT_FOUND, REASON_TABLE_NOT_FOUND);

    ck_assert_int_eq(insert(NULL), TAVOLA_NOT_FOUND);
    ck_assert_int_eq(fake.requests, 1);
    ck_assert_int_eq(fake.error.code, TAVOLA_NOT_FOUND);
    ck_assert_str_eq(fake.error.reason, "TABLE_NOT_FOUND");
    ck_assert_str_eq(fake.error.message, "no \"table\"");
    ck_assert_str_eq(tavola_error_metadata(&fake.error, "table"), "people");
    ck_assert_ptr_null(tavola_error_metadata(&fake.error, "key"));
    ck_assert_int_eq(fake.error.retry_after_ms, -1);
}
END_TEST

START_TEST(a_call_ends_at_its_deadline_with_all_attempts)
{
    int64_t begun_us = clock_monotonic_us();

    open_client((struct tavola_options){ .timeout_ms = 2000 });
    fake.code = HOLD;
    ck_assert_int_eq(insert(NULL), TAVOLA_DEADLINE_EXCEEDED);
    ck_assert_int_ge(clock_monotonic_us() - begun_us, 1990000);
    ck_assert_int_eq(fake.requests, 1);
}
END_TEST

START_TEST(while_most_calls_fail_none_is_repeated)
{
    struct retry_budget budget;
    int repeats = 0;

    retry_budget_init(&budget);
    for (int i = 0; i < 200; i++)
        repeats += retry_budget_spend(&budget);
    ck_assert_int_eq(repeats, 49);
    for (int i = 0; i < 600; i++)
        retry_budget_note_success(&budget);
    ck_assert(retry_budget_spend(&budget));
}
END_TEST

/* The client repeats exactly the methods that the file lists. */
START_TEST(what_is_harmless_is_what_the_service_config_says)
{
    json_t *config = json_load_file(SERVICE_CONFIG, 0, NULL), *name;
    json_t *names = json_object_get(json_array_get(json_object_get(config, "methodConfig"), 0), "name");
    char path[TEXT_BYTES];
    size_t i;

    ck_assert_uint_ge(json_array_size(names), 20);
    json_array_foreach(names, i, name)
    {
        snprintf(path, sizeof(path), "/%s/%s", json_string_value(json_object_get(name, "service")),
            json_string_value(json_object_get(name, "method")));
        ck_assert_msg(retry_is_harmless(str_of(path)), "%s", path);
    }
    ck_assert(!retry_is_harmless(STR_LITERAL("/tavola.v1.EntityService/InsertEntity")));
    json_decref(config);
}
END_TEST

/* ---- tokens ---- */

static bool give_numbered(void *context, char *out, size_t size)
{
    int *given = context;

    return (size_t)snprintf(out, size, "token%d", ++*given) < size;
}

START_TEST(a_refused_token_is_replaced_once)
{
    int given = 0;

    open_client((struct tavola_options){ .give_token = give_numbered, .give_token_context = &given });
    ck_assert_int_eq(insert(NULL), TAVOLA_OK);
    let_fail(1, TAVOLA_UNAUTHENTICATED, REASON_AUTHENTICATION_FAILED);
    ck_assert_int_eq(insert(NULL), TAVOLA_OK);
    ck_assert_str_eq(fake.tokens[0], "Bearer token1");
    ck_assert_str_eq(fake.tokens[1], "Bearer token1");
    ck_assert_str_eq(fake.tokens[2], "Bearer token2");
    let_fail(5, TAVOLA_UNAUTHENTICATED, REASON_AUTHENTICATION_FAILED);
    ck_assert_int_eq(insert(NULL), TAVOLA_UNAUTHENTICATED);
    ck_assert_int_eq(fake.requests, 5);
}
END_TEST

static const char account_key[] = "tvk1.AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

/* A token that has a tenth of a second to live, and then one that has an hour. */
static bool give_short_then_long(void *context, char *out, size_t size)
{
    int *given = context;
    int64_t now_ms = clock_ticks() / 10000 - INT64_C(11644473600000);
    const struct tavola_signature token = {
        .account = "acme", .account_key = account_key, .expiry_ms = now_ms + (++*given == 1 ? 100 : 3600000)
    };
    char *text = NULL;

    ck_assert_int_eq(tavola_sign(&token, &text, NULL), TAVOLA_OK);
    snprintf(out, size, "%s", text);
    tavola_free(text);
    return true;
}

START_TEST(a_token_is_renewed_before_it_ends)
{
    int given = 0;

    open_client((struct tavola_options){ .give_token = give_short_then_long, .give_token_context = &given });
    ck_assert_int_eq(insert(NULL), TAVOLA_OK);
    while (given < 2)
        ck_assert_int_eq(insert(NULL), TAVOLA_OK);
    ck_assert_int_eq(insert(NULL), TAVOLA_OK);
    ck_assert_int_eq(given, 2);
    ck_assert_str_ne(fake.tokens[0], fake.tokens[fake.requests - 1]);
}
END_TEST

START_TEST(a_client_signs_its_own_tokens)
{
    open_client((struct tavola_options){ .account = "acme", .account_key = account_key });
    ck_assert_int_eq(insert(NULL), TAVOLA_OK);
    ck_assert_int_eq(strncmp(fake.tokens[0], "Bearer tvt1.", 12), 0);
}
END_TEST

/* ---- asynchronous calls ---- */

static void note_end(void *context, const struct tavola_answer *answer)
{
    pthread_mutex_lock(&ends.lock);
    ends.count++;
    ends.failed += answer->error.code != TAVOLA_OK;
    ends.last = answer->error.code;
    if (answer->error.code == TAVOLA_OK)
        ck_assert_str_eq(answer->written->etag, "W/1");
    pthread_mutex_unlock(&ends.lock);
    (void)context;
}

static void insert_async(tavola_done_fn *done)
{
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY("p", "r"));

    tavola_write_async(
        fake.client, "people", TAVOLA_INSERT, entity, NULL, (struct tavola_done){ done, NULL });
    tavola_entity_free(entity);
}

START_TEST(many_calls_run_at_once_and_are_repeated)
{
    open_client((struct tavola_options){ .timeout_ms = 20000 });
    let_fail(5, TAVOLA_UNAVAILABLE, REASON_INVALID_INPUT);
    for (int i = 0; i < 40; i++)
        insert_async(note_end);
    tavola_drain(fake.client);
    ck_assert_int_eq(ends.count, 40);
    ck_assert_int_eq(ends.failed, 0);
    ck_assert_int_eq(fake.requests, 45);
}
END_TEST

START_TEST(callbacks_run_in_an_event_loop_of_the_program)
{
    struct pollfd wait;

    open_client((struct tavola_options){ .dispatches = true });
    wait = (struct pollfd){ .fd = tavola_descriptor(fake.client), .events = POLLIN };
    ck_assert_int_ge(wait.fd, 0);
    for (int i = 0; i < 10; i++)
        insert_async(note_end);
    while (ends.count < 10) {
        ck_assert_int_eq(poll(&wait, 1, 20000), 1);
        ck_assert_int_ge(tavola_dispatch(fake.client), 0);
    }
    ck_assert_int_eq(ends.failed, 0);
    ck_assert_int_eq(
        tavola_dispatch(fake.client), 0); /* the last answers may have come while others were taken */
    ck_assert_int_eq(poll(&wait, 1, 0), 0);
}
END_TEST

static void insert_again(void *context, const struct tavola_answer *answer)
{
    note_end(context, answer);
    if (ends.count < 5)
        insert_async(insert_again);
}

START_TEST(a_callback_may_make_calls)
{
    open_client((struct tavola_options){ .timeout_ms = 20000 });
    insert_async(insert_again);
    tavola_drain(fake.client);
    ck_assert_int_eq(ends.count, 5);
}
END_TEST

/* Also calls that callbacks make while the client is closed. */
START_TEST(closing_ends_open_calls_with_their_callbacks)
{
    open_client((struct tavola_options){ .dispatches = _i == 1 });
    fake.code = HOLD;
    insert_async(insert_again);
    insert_async(note_end);
    while (fake.requests < 2)
        clock_sleep(1000);
    tavola_close(fake.client);
    fake.client = NULL;
    ck_assert_int_ge(ends.count, 2);
    ck_assert_int_eq(ends.failed, ends.count);
    ck_assert_int_eq(ends.last, TAVOLA_CANCELLED);
}
END_TEST

START_TEST(an_entity_that_cannot_be_sent_ends_its_call)
{
    struct tavola_entity *entity = tavola_entity_new(TAVOLA_KEY("p", "a/b"));

    open_client((struct tavola_options){ .timeout_ms = 20000 });
    tavola_write_async(
        fake.client, "people", TAVOLA_INSERT, entity, NULL, (struct tavola_done){ note_end, NULL });
    tavola_drain(fake.client);
    ck_assert_int_eq(ends.last, TAVOLA_OUT_OF_RANGE);
    ck_assert_int_eq(fake.requests, 0);
    tavola_entity_free(entity);
}
END_TEST

Suite *test_calls_suite(void);

Suite *test_calls_suite(void)
{
    Suite *suite = suite_create("client calls");
    TCase *repeats = tcase_create("repeats"), *tokens = tcase_create("tokens"),
          *async = tcase_create("async");
    TCase *cases[] = { repeats, tokens, async };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        tcase_set_timeout(cases[i], 60);
        tcase_add_checked_fixture(cases[i], setup, teardown);
        suite_add_tcase(suite, cases[i]);
    }
    tcase_add_test(repeats, a_write_is_repeated_under_one_request_id);
    tcase_add_test(repeats, a_write_without_a_request_id_is_not_repeated);
    tcase_add_test(repeats, a_call_that_is_not_harmless_is_not_repeated);
    tcase_add_test(repeats, attempts_are_bounded);
    tcase_add_test(repeats, a_busy_service_is_given_the_time_that_it_asks_for);
    tcase_add_test(repeats, an_error_that_does_not_pass_is_told_with_all_it_has);
    tcase_add_test(repeats, a_call_ends_at_its_deadline_with_all_attempts);
    tcase_add_test(repeats, while_most_calls_fail_none_is_repeated);
    tcase_add_test(repeats, what_is_harmless_is_what_the_service_config_says);
    tcase_add_test(tokens, a_refused_token_is_replaced_once);
    tcase_add_test(tokens, a_token_is_renewed_before_it_ends);
    tcase_add_test(tokens, a_client_signs_its_own_tokens);
    tcase_add_test(async, many_calls_run_at_once_and_are_repeated);
    tcase_add_test(async, callbacks_run_in_an_event_loop_of_the_program);
    tcase_add_test(async, a_callback_may_make_calls);
    tcase_add_loop_test(async, closing_ends_open_calls_with_their_callbacks, 0, 2);
    tcase_add_test(async, an_entity_that_cannot_be_sent_ends_its_call);
    return suite;
}
