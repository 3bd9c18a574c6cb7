/* SPDX-License-Identifier: Apache-2.0 */
/*
 * echo_server.h - a server with one method for each thing a call can do, and a channel to it, as a checked
 * fixture: it starts in the process of the test.
 *
 *   Unary    answers with the request; "fail" ends with a status and details
 *   Batched  the same, from `drained`
 *   Hold     is kept in `held`; answered by the test, or ended when cancelled unless the test keeps it
 *   Facts    answers with what the call knows of itself
 *   Collect  client stream: answers with all messages joined
 *   Count    server stream: as many messages as the request says, each when the last has left
 *   Watch    server stream: sends nothing, until the client leaves
 *   Chat     bidi: echoes every message
 */
#ifndef TESTS_RPC_ECHO_SERVER_H
#define TESTS_RPC_ECHO_SERVER_H

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/macros.h"
#include "rpc/channel.h"
#include "rpc/server.h"

enum { HELD_MAX = 256, WAIT_S = 60, RECEIVE_LIMIT = 16 * 1024 * 1024, FAIL_CODE = 9 };

static const char fail_message[] = "no \xc3\xa4pfel: 100% gone\nreally";
static const char fail_details[] = "\x08\x09\0\xff details";

struct echo {
    char folder[64];
    char address[128];
    struct rpc_server *server;
    struct rpc_channel *channel;
    bool keep_cancelled; /* the test itself finishes calls of Hold that are cancelled */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int begun, cancelled, ended, draining, drained, half_closed, sent, watching; /* number of events so far */
    struct rpc_call *held[HELD_MAX];
    int held_count;
    struct rpc_call *batched[HELD_MAX];
    int batched_count;
};

/* The state of a call of Collect or Count. */
struct echo_state {
    struct buf joined;
    bool has_message;
    int next, count;
};

static struct echo echo;

/* ---- the service ---- */

static inline void echo_note(int *counter)
{
    pthread_mutex_lock(&echo.lock);
    (*counter)++;
    pthread_cond_broadcast(&echo.changed);
    pthread_mutex_unlock(&echo.lock);
}

static inline bool echo_has(const int *counter)
{
    bool has;

    pthread_mutex_lock(&echo.lock);
    has = *counter > 0;
    pthread_mutex_unlock(&echo.lock);
    return has;
}

static inline bool echo_is(struct rpc_call *call, const char *name)
{
    return strcmp(rpc_call_method(call)->handler, name) == 0;
}

static inline void echo_begin(struct rpc_call *call)
{
    struct echo_state *state = ARENA_NEW(rpc_call_arena(call), struct echo_state);

    ck_assert_ptr_eq(rpc_call_context(call), &echo);
    buf_init(&state->joined, rpc_call_arena(call));
    rpc_call_set_state(call, state);
    echo_note(&echo.begun);
    rpc_call_read(call);
}

static inline void echo_count(struct rpc_call *call)
{
    struct echo_state *state = rpc_call_state(call);
    char text[32];

    if (state->next == state->count) {
        rpc_call_finish(call, 0, STR_EMPTY, STR_EMPTY);
        return;
    }
    snprintf(text, sizeof(text), "%d", state->next++);
    rpc_call_send(call, str_of(text));
}

static inline void echo_facts(struct rpc_call *call)
{
    int64_t deadline = rpc_call_deadline_us(call);
    struct str agent = rpc_call_metadata(call, "user-agent");
    struct str absent = rpc_call_metadata(call, "user");
    struct arena *arena = rpc_call_arena(call);
    const struct arena_block *with_state = arena->blocks;
    struct str peer = rpc_call_peer(call);

    arena_alloc(arena, 1024 * 1024);
    rpc_call_reply(
        call, arena_format(rpc_call_arena(call), "deadline=%" PRId64 " agent=%.*s absent=%.*s peer=%.*s",
                  deadline == INT64_MAX ? -1 : (deadline - clock_monotonic_us()) / 1000, STR_ARG(agent),
                  STR_ARG(absent), STR_ARG(peer)));
    ck_assert_ptr_eq(arena->blocks, with_state);
}

static inline void echo_put(struct rpc_call **list, int *count, struct rpc_call *call)
{
    pthread_mutex_lock(&echo.lock);
    ck_assert_int_lt(*count, HELD_MAX);
    list[(*count)++] = call;
    pthread_cond_broadcast(&echo.changed);
    pthread_mutex_unlock(&echo.lock);
}

/* Take this call, or the oldest one for NULL; NULL: another thread has taken it. */
static inline struct rpc_call *echo_take(struct rpc_call **list, int *count, struct rpc_call *call)
{
    struct rpc_call *taken = NULL;

    pthread_mutex_lock(&echo.lock);
    for (int i = 0; i < *count && !taken; i++)
        if (!call || list[i] == call) {
            taken = list[i];
            memmove(&list[i], &list[i + 1], (size_t)(*count - i - 1) * sizeof(*list));
            (*count)--;
        }
    pthread_mutex_unlock(&echo.lock);
    return taken;
}

/* The number with which a message begins; it has no NUL behind it. */
static inline int echo_number(struct str text)
{
    int number = 0;

    for (size_t i = 0; i < text.len && text.data[i] >= '0' && text.data[i] <= '9'; i++)
        number = 10 * number + (text.data[i] - '0');
    return number;
}

static inline void echo_message(struct rpc_call *call, struct str message)
{
    struct echo_state *state = rpc_call_state(call);

    state->has_message = true;
    if (echo_is(call, "Unary") && str_equal(message, str_of("fail"))) {
        rpc_call_finish(call, FAIL_CODE, str_of(fail_message), STR_LITERAL(fail_details));
    } else if (echo_is(call, "Unary")) {
        rpc_call_reply(call, message);
    } else if (echo_is(call, "Facts")) {
        echo_facts(call);
    } else if (echo_is(call, "Batched")) {
        buf_append(&state->joined, message);
        echo_put(echo.batched, &echo.batched_count, call);
    } else if (echo_is(call, "Hold")) {
        echo_put(echo.held, &echo.held_count, call);
    } else if (echo_is(call, "Collect")) {
        buf_append(&state->joined, message);
        rpc_call_read(call);
    } else if (echo_is(call, "Watch")) {
        echo_note(&echo.watching);
    } else if (echo_is(call, "Count")) {
        state->count = echo_number(message);
        echo_count(call);
    } else {
        rpc_call_send(call, message);
    }
}

static inline void echo_half_closed(struct rpc_call *call)
{
    struct echo_state *state = rpc_call_state(call);

    echo_note(&echo.half_closed);
    if (echo_is(call, "Collect"))
        rpc_call_reply(call, buf_str(&state->joined));
    else
        rpc_call_finish(call, 0, STR_EMPTY, STR_EMPTY);
}

static inline void echo_sent(struct rpc_call *call)
{
    echo_note(&echo.sent);
    if (echo_is(call, "Count"))
        echo_count(call);
    else
        rpc_call_read(call);
}

static inline void echo_cancelled(struct rpc_call *call)
{
    const struct echo_state *state = rpc_call_state(call);
    bool is_batched = state->has_message && echo_is(call, "Batched");

    ck_assert(rpc_call_is_cancelled(call));
    echo_note(&echo.cancelled);
    if (state->has_message && echo_is(call, "Hold") &&
        (echo.keep_cancelled || !echo_take(echo.held, &echo.held_count, call)))
        return;
    if (is_batched && !echo_take(echo.batched, &echo.batched_count, call))
        return;
    rpc_call_finish(call, 1, STR_EMPTY, STR_EMPTY);
}

static inline void echo_ended(struct rpc_call *call)
{
    (void)call;
    echo_note(&echo.ended);
}

static inline void echo_draining(void *context)
{
    ck_assert_ptr_eq(context, &echo);
    echo_note(&echo.draining);
}

static inline void echo_drained(void *context)
{
    struct rpc_call *call;

    ck_assert_ptr_eq(context, &echo);
    echo_note(&echo.drained);
    while ((call = echo_take(echo.batched, &echo.batched_count, NULL)) != NULL)
        rpc_call_reply(call, buf_str(&((struct echo_state *)rpc_call_state(call))->joined));
}

static const struct rpc_method echo_methods[] = {
    { "/test.Echo/Unary", RPC_UNARY, "Unary", false, false },
    { "/test.Echo/Batched", RPC_UNARY, "Batched", false, true },
    { "/test.Echo/Hold", RPC_UNARY, "Hold", false, false },
    { "/test.Echo/Facts", RPC_UNARY, "Facts", false, false },
    { "/test.Echo/Collect", RPC_CLIENT_STREAM, "Collect", false, false },
    { "/test.Echo/Count", RPC_SERVER_STREAM, "Count", false, false },
    { "/test.Echo/Watch", RPC_SERVER_STREAM, "Watch", false, false },
    { "/test.Echo/Chat", RPC_BIDI, "Chat", false, false },
};

static inline struct rpc_options echo_options(const char *address)
{
    return (struct rpc_options){ .listen = address,
        .threads = 2,
        .receive_bytes = RECEIVE_LIMIT,
        .methods = echo_methods,
        .method_count = ARRAY_LEN(echo_methods),
        .events = { .begin = echo_begin,
            .message = echo_message,
            .half_closed = echo_half_closed,
            .sent = echo_sent,
            .cancelled = echo_cancelled,
            .ended = echo_ended,
            .draining = echo_draining,
            .drained = echo_drained },
        .context = &echo };
}

/* ---- the fixture ---- */

static inline void echo_start(void)
{
    struct error err = { 0 };
    struct rpc_options options;

    echo = (struct echo){ .folder = "/tmp/test_rpc_XXXXXX" };
    pthread_mutex_init(&echo.lock, NULL);
    condition_init(&echo.changed);
    ck_assert_ptr_nonnull(mkdtemp(echo.folder));
    snprintf(echo.address, sizeof(echo.address), "unix:%s/socket", echo.folder);
    options = echo_options(echo.address);
    ck_assert_msg(rpc_server_start(&options, &echo.server, &err) == STATUS_OK, "%s", err.message);
    ck_assert_int_eq(
        rpc_channel_open(&(struct rpc_channel_options){ .target = echo.address }, &echo.channel, &err),
        STATUS_OK);
}

static inline void echo_stop_server(int64_t grace_ms)
{
    if (echo.server)
        rpc_server_stop(echo.server, grace_ms);
    echo.server = NULL;
    ck_assert_int_eq(echo.begun, echo.ended);
}

static inline void echo_stop(void)
{
    char path[128];

    rpc_channel_close(echo.channel);
    echo_stop_server(WAIT_S * 1000);
    snprintf(path, sizeof(path), "%s/socket", echo.folder);
    unlink(path);
    rmdir(echo.folder);
}

static inline int echo_counted(const int *counter)
{
    int count;

    pthread_mutex_lock(&echo.lock);
    count = *counter;
    pthread_mutex_unlock(&echo.lock);
    return count;
}

/* Wait until the counter has this value; the test fails if that takes too long. */
static inline void echo_wait(const int *counter, int want)
{
    int64_t deadline_us = clock_monotonic_us() + INT64_C(1000000) * WAIT_S;

    pthread_mutex_lock(&echo.lock);
    while (*counter < want && condition_wait_until(&echo.changed, &echo.lock, deadline_us))
        continue;
    ck_assert_msg(*counter >= want, "waited for %d, got to %d", want, *counter);
    pthread_mutex_unlock(&echo.lock);
}

#endif
