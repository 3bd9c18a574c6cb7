/* SPDX-License-Identifier: Apache-2.0 */
/* test_lifecycle.c - how calls and servers end: cancellation, deadlines, late replies, stop, and addresses in use. */
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "rpc/coalesce.h"
#include "tests/rpc/echo_server.h"

enum { CALL_MS = 20000, OPEN_CALLS = 8, STORM_THREADS = 4, STORM_CALLS = 150 };
enum { CODE_CANCELLED = 1, CODE_DEADLINE = 4, CODE_UNAVAILABLE = 14 };

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
    echo_start();
}

static void teardown(void)
{
    echo_stop();
    arena_cleanup(&arena);
}

static struct rpc_stream *open_stream(const char *path)
{
    struct rpc_stream *stream;
    struct error err = { 0 };

    ck_assert_int_eq(rpc_stream_open(echo.channel, path, CALL_MS, &stream, &err), STATUS_OK);
    return stream;
}

/* A call of Hold that the server has received. */
static struct rpc_stream *open_held(void)
{
    struct rpc_stream *stream = open_stream("/test.Echo/Hold");

    ck_assert(rpc_stream_send(stream, str_of("wait")));
    rpc_stream_half_close(stream);
    echo_wait(&echo.held_count, 1);
    return stream;
}

static int finish(struct rpc_stream *stream)
{
    struct rpc_status status;

    rpc_stream_finish(stream, &arena, &status);
    return status.code;
}

/* A descriptor beyond the standard ones that is open on /dev/null: the door's spare one. */
static int find_spare(void)
{
    char path[64], target[64];

    for (int fd = 3; fd < 1024; fd++) {
        ssize_t length;

        snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        length = readlink(path, target, sizeof(target));
        if (length == (ssize_t)strlen("/dev/null") && memcmp(target, "/dev/null", (size_t)length) == 0)
            return fd;
    }
    ck_abort_msg("the door has no spare descriptor");
    return -1;
}

static int connect_late(int socket_number)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };

    memcpy(address.sun_path, echo.address + strlen("unix:"), strlen(echo.address) - strlen("unix:"));
    return connect(socket_number, (struct sockaddr *)&address, sizeof(address));
}

static int call_unary(void)
{
    struct rpc_status status;
    struct str reply;

    rpc_channel_call(echo.channel, &(struct rpc_request){ "/test.Echo/Unary", STR_EMPTY, CALL_MS }, &arena,
        &reply, &status);
    return status.code;
}

/* The core is told of a connection once: if there is no descriptor then, the door's own thread goes on trying. */
START_TEST(a_connection_without_a_descriptor_is_turned_away_once_there_is_one)
{
    int spare = find_spare(), client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct pollfd hang_up = { .fd = client, .events = POLLIN };
    struct rlimit files, none;
    char byte;

    ck_assert_int_eq(call_unary(), 0); /* all descriptors that the core needs for calls are open */
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    none = (struct rlimit){ .rlim_cur = 3, .rlim_max = files.rlim_max };
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert_int_eq(connect_late(client), 0);
    while (fcntl(spare, F_GETFD) >= 0) /* until the door has tried with its spare descriptor, in vain */
        sched_yield();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);

    ck_assert_int_eq(poll(&hang_up, 1, CALL_MS), 1);
    ck_assert_int_le(recv(client, &byte, 1, 0), 0);
    close(client);
    ck_assert_int_eq(call_unary(), 0);
}
END_TEST

START_TEST(handler_sees_the_client_leave)
{
    struct rpc_stream *stream = open_held();

    ck_assert_int_eq(rpc_server_open_calls(echo.server), 1);
    ck_assert_int_eq(finish(stream), CODE_CANCELLED);

    echo_wait(&echo.cancelled, 1);
    echo_wait(&echo.ended, 1);
    ck_assert_int_eq(echo.cancelled, 1);
}
END_TEST

START_TEST(handler_sees_the_deadline_pass)
{
    struct rpc_status status;
    struct str reply;

    /* On a busy machine a call may reach its deadline before its handler runs. */
    for (int deadline_ms = 50; echo_counted(&echo.begun) == 0; deadline_ms *= 2) {
        rpc_channel_call(echo.channel, &(struct rpc_request){ "/test.Echo/Hold", STR_EMPTY, deadline_ms },
            &arena, &reply, &status);
        ck_assert_int_eq(status.code, CODE_DEADLINE);
    }
    echo_wait(&echo.cancelled, 1);
    echo_wait(&echo.ended, 1);
}
END_TEST

START_TEST(reading_handler_sees_the_client_leave)
{
    const char *paths[] = { "/test.Echo/Chat", "/test.Echo/Collect" };

    for (int i = 0; i < 40; i++) {
        struct rpc_stream *stream = open_stream(paths[i % 2]);

        ck_assert(rpc_stream_send(stream, str_of("part")));
        echo_wait(&echo.begun, i + 1);
        ck_assert_int_eq(finish(stream), CODE_CANCELLED);
        echo_wait(&echo.ended, i + 1);
    }
    ck_assert_int_eq(echo.cancelled, 40);
    ck_assert_msg(echo.half_closed == 0, "a stream cut short was taken for a complete one");
}
END_TEST

/* A client that does not read stops the sender; when the client leaves, the handler learns it. */
START_TEST(sending_handler_sees_the_client_leave)
{
    struct rpc_stream *stream = open_stream("/test.Echo/Count");

    ck_assert(rpc_stream_send(stream, str_of("1000000000")));
    rpc_stream_half_close(stream);
    echo_wait(&echo.sent, 100);
    finish(stream);

    echo_wait(&echo.ended, 1);
    ck_assert_int_eq(echo.cancelled, 1);
    ck_assert_int_lt(echo.sent, 1000000000);
}
END_TEST

/* More than the unary calls for which the server looks. */
START_TEST(every_idle_stream_sees_its_client_leave)
{
    enum { WATCHES = 600 };
    struct rpc_stream *watches[WATCHES];

    for (int i = 0; i < WATCHES; i++) {
        watches[i] = open_stream("/test.Echo/Watch");
        ck_assert(rpc_stream_send(watches[i], str_of("watch")));
        rpc_stream_half_close(watches[i]);
    }
    echo_wait(&echo.watching, WATCHES);
    /* and they do not take the place of a unary call */
    ck_assert_int_eq(finish(open_held()), CODE_CANCELLED);
    echo_wait(&echo.cancelled, 1);
    for (int i = 0; i < WATCHES; i++)
        ck_assert_int_eq(finish(watches[i]), CODE_CANCELLED);

    echo_wait(&echo.ended, WATCHES + 1);
    ck_assert_int_eq(echo.cancelled, WATCHES + 1);
}
END_TEST

START_TEST(late_reply_is_dropped)
{
    struct rpc_call *call;
    struct rpc_stream *stream;

    echo.keep_cancelled = true;
    for (int i = 1; i <= 2; i++) {
        stream = open_held();
        finish(stream);
        echo_wait(&echo.cancelled, i);
        ck_assert_int_eq(echo.ended, i - 1);

        call = echo_take(echo.held, &echo.held_count, NULL);
        if (i == 1)
            rpc_call_reply(call, str_of("too late"));
        else
            rpc_call_finish(call, CODE_UNAVAILABLE, str_of("too late"), STR_EMPTY);
        echo_wait(&echo.ended, i);
    }
}
END_TEST

START_TEST(reply_may_come_from_any_thread)
{
    struct rpc_stream *stream = open_held();
    struct str reply;

    rpc_call_reply(echo_take(echo.held, &echo.held_count, NULL), str_of("from the test"));

    ck_assert(rpc_stream_receive(stream, &arena, &reply));
    ck_assert(str_equal(reply, str_of("from the test")));
    ck_assert(!rpc_stream_receive(stream, &arena, &reply));
    ck_assert_int_eq(finish(stream), 0);
    echo_wait(&echo.ended, 1);
    ck_assert_int_eq(echo.cancelled, 0);
}
END_TEST

/* In a thread of its own: in one process with the tests of coalesce.c, the main thread is one that serves a queue. */
static void *reply_to_all(void *ended_meanwhile)
{
    coalesce_replies(true);
    for (int i = 0; i < OPEN_CALLS; i++)
        rpc_call_reply(echo_take(echo.held, &echo.held_count, NULL), str_of("one of many"));
    *(int *)ended_meanwhile = echo_counted(&echo.ended);
    coalesce_replies(false);
    return NULL;
}

START_TEST(replies_of_one_thread_leave_together)
{
    struct rpc_stream *streams[OPEN_CALLS];
    int ended_meanwhile = -1;
    struct str reply;
    pthread_t thread;

    for (int i = 0; i < OPEN_CALLS; i++)
        streams[i] = open_held();
    echo_wait(&echo.held_count, OPEN_CALLS);
    ck_assert_int_eq(pthread_create(&thread, NULL, reply_to_all, &ended_meanwhile), 0);
    pthread_join(thread, NULL);
    ck_assert_int_eq(ended_meanwhile, 0);

    for (int i = 0; i < OPEN_CALLS; i++) {
        ck_assert(rpc_stream_receive(streams[i], &arena, &reply));
        ck_assert(str_equal(reply, str_of("one of many")));
        ck_assert_int_eq(finish(streams[i]), 0);
    }
    echo_wait(&echo.ended, OPEN_CALLS);
}
END_TEST

/* ---- stop ---- */

START_TEST(stop_cancels_calls_that_outlast_the_grace)
{
    struct rpc_stream *held[OPEN_CALLS];
    struct rpc_stream *chat = open_stream("/test.Echo/Chat");
    struct str reply;

    ck_assert(rpc_stream_send(chat, str_of("hello")));
    ck_assert(rpc_stream_receive(chat, &arena, &reply));
    for (int i = 0; i < OPEN_CALLS; i++)
        held[i] = open_held();
    echo_wait(&echo.held_count, OPEN_CALLS);

    echo_stop_server(20);

    ck_assert_int_eq(echo.cancelled, OPEN_CALLS + 1);
    for (int i = 0; i < OPEN_CALLS; i++) {
        ck_assert(!rpc_stream_receive(held[i], &arena, &reply));
        ck_assert_int_ne(finish(held[i]), 0);
    }
    ck_assert(!rpc_stream_receive(chat, &arena, &reply));
    ck_assert_int_ne(finish(chat), 0);
}
END_TEST

static void *stop_thread(void *argument)
{
    (void)argument;
    echo_stop_server(WAIT_S * 1000);
    return NULL;
}

/* Stop the server, and call it until a call is refused. The caller joins the thread that stops it. */
static pthread_t stop_until_refused(void)
{
    struct rpc_status status = { 0 };
    pthread_t stopper;
    struct str reply;

    ck_assert_int_eq(pthread_create(&stopper, NULL, stop_thread, NULL), 0);
    while (status.code == 0)
        rpc_channel_call(echo.channel, &(struct rpc_request){ "/test.Echo/Unary", STR_EMPTY, CALL_MS },
            &arena, &reply, &status);
    /* CANCELLED: the call was on its way when the server announced that it stops. */
    ck_assert_msg(status.code == CODE_UNAVAILABLE || status.code == CODE_CANCELLED, "%d %.*s", status.code,
        STR_ARG(status.message));
    return stopper;
}

/* The call that the server holds is answered, and its caller gets the whole answer. */
static void answer_held(struct rpc_stream *held)
{
    struct rpc_call *call = echo_take(echo.held, &echo.held_count, NULL);
    struct str reply;

    ck_assert_msg(call != NULL, "the open call was cancelled");
    rpc_call_reply(call, str_of("finished"));

    ck_assert(rpc_stream_receive(held, &arena, &reply));
    ck_assert(!rpc_stream_receive(held, &arena, &reply));
    ck_assert_int_eq(finish(held), 0);
}

START_TEST(stop_lets_open_calls_finish)
{
    struct rpc_stream *held = open_held();
    pthread_t stopper = stop_until_refused();

    answer_held(held);
    pthread_join(stopper, NULL);
    ck_assert_int_eq(echo.cancelled, 0);
}
END_TEST

/* A stop waits for a thread of the core that polls for ten seconds, through this function. */
START_TEST(a_poll_ends_long_before_its_time)
{
    int poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event;

    ck_assert_int_eq(epoll_wait(poller, &event, 1, CALL_MS * WAIT_S), 0);
    close(poller);
}
END_TEST

/* ---- stop, seen by a client that writes its own HTTP/2 ---- */

enum { DATA, HEADERS, SETTINGS = 4, PING = 6, GOAWAY, END_STREAM = 1, ACK = 1, END_HEADERS = 4 };
enum { HEAD_BYTES = 9, ANY_STREAM = 0x7fffffff, FRAME_MAX = 16384 };

struct frame {
    uint8_t head[HEAD_BYTES], payload[FRAME_MAX];
    size_t length;
};

static void append_frame(struct buf *out, int type, int flags, int stream, struct str payload)
{
    const char head[HEAD_BYTES] = { 0, (char)(payload.len >> 8), (char)payload.len, (char)type, (char)flags,
        0, 0, 0, (char)stream };

    buf_append(out, str_of_bytes(head, sizeof(head)));
    buf_append(out, payload);
}

static struct str header_block(const char *path)
{
    const char *fields[] = { ":method", "POST", ":scheme", "http", ":path", path, ":authority", "echo", "te",
        "trailers", "content-type", "application/grpc" };
    struct buf out;

    buf_init(&out, &arena);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const char head[] = { 0, (char)strlen(fields[i]) }; /* 0: a literal without indexing */

        buf_append(&out, i % 2 == 0 ? str_of_bytes(head, 2) : str_of_bytes(head + 1, 1));
        buf_append(&out, str_of(fields[i]));
    }
    return buf_str(&out);
}

/* Whether the kernel has taken all bytes. */
static bool send_all(int client, struct str bytes)
{
    return send(client, bytes.data, bytes.len, MSG_NOSIGNAL) == (ssize_t)bytes.len;
}

static bool send_frame(int client, int type, int flags, struct str payload)
{
    struct buf out;

    buf_init(&out, &arena);
    append_frame(&out, type, flags, 0, payload);
    return send_all(client, buf_str(&out));
}

static int connect_to_server(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, echo.address + strlen("unix:"));
    ck_assert_int_eq(connect(client, (struct sockaddr *)&address, sizeof(address)), 0);
    return client;
}

static void append_preface(struct buf *out)
{
    buf_append(out, str_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    append_frame(out, SETTINGS, 0, 0, STR_EMPTY);
}

/* A connection with a call of Hold that the server has received. */
static int connect_held(void)
{
    int client = connect_to_server();
    struct buf out;

    buf_init(&out, &arena);
    append_preface(&out);
    append_frame(&out, HEADERS, END_HEADERS, 1, header_block("/test.Echo/Hold"));
    append_frame(&out, DATA, END_STREAM, 1, STR_LITERAL("\0\0\0\0\4wait"));
    ck_assert(send_all(client, buf_str(&out)));
    echo_wait(&echo.held_count, 1);
    return client;
}

static void read_frame(int client, struct frame *out)
{
    ck_assert_int_eq(recv(client, out->head, HEAD_BYTES, MSG_WAITALL), HEAD_BYTES);
    out->length = (size_t)out->head[1] << 8 | out->head[2];
    ck_assert_uint_le(out->length, FRAME_MAX);
    if (out->length > 0)
        ck_assert_int_eq(recv(client, out->payload, out->length, MSG_WAITALL), (ssize_t)out->length);
}

static uint32_t last_stream_of(const struct frame *goaway)
{
    const uint8_t *at = goaway->payload;

    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Answer PINGs until the GOAWAY that names the last call which the server has taken. */
static void read_last_goaway(int client)
{
    struct frame frame;

    do {
        read_frame(client, &frame);
        if (frame.head[3] == PING && !(frame.head[4] & ACK))
            ck_assert(send_frame(client, PING, ACK, str_of_bytes(frame.payload, frame.length)));
    } while (frame.head[3] != GOAWAY || last_stream_of(&frame) == ANY_STREAM);
}

static struct str read_to_end(int client)
{
    struct buf out;
    char bytes[4096];
    ssize_t length;

    buf_init(&out, &arena);
    while ((length = recv(client, bytes, sizeof(bytes), 0)) > 0)
        buf_append(&out, str_of_bytes(bytes, (size_t)length));
    return buf_str(&out);
}

/*
 * gRPC's clients close a connection on which a send fails, without reading what has arrived. The call ends before
 * the stop (0) or after the last GOAWAY (1): then it is the core that ends the connection.
 */
START_TEST(client_that_still_sends_reads_its_status)
{
    int client = connect_held();
    struct pollfd end = { .fd = client, .events = POLLRDHUP };
    pthread_t stopper;
    struct str rest;

    if (_i == 0)
        rpc_call_finish(
            echo_take(echo.held, &echo.held_count, NULL), CODE_UNAVAILABLE, str_of("read-me"), STR_EMPTY);
    ck_assert_int_eq(pthread_create(&stopper, NULL, stop_thread, NULL), 0);
    if (_i == 1) {
        read_last_goaway(client);
        rpc_call_finish(
            echo_take(echo.held, &echo.held_count, NULL), CODE_UNAVAILABLE, str_of("read-me"), STR_EMPTY);
    }
    ck_assert_int_eq(poll(&end, 1, WAIT_S * 1000), 1);
    ck_assert_msg(
        send_frame(client, PING, 0, str_of("12345678")), "the server has closed: %s", strerror(errno));
    rest = read_to_end(client);

    ck_assert_msg(
        memmem(rest.data, rest.len, "read-me", strlen("read-me")), "no status in %zu bytes", rest.len);
    close(client);
    pthread_join(stopper, NULL);
}
END_TEST

/* ---- a thread that reads for the server and does not park ---- */

/*
 * The core's function that offers a call to the server or, if the server has not asked for one, keeps it. The core has
 * looked before whether the server is shut down. The core calls this definition of the function.
 */
typedef void match_fn(void *matcher, size_t queue, void *call);
extern match_fn match_or_queue __asm__(
    "_ZN9grpc_core6Server18RealRequestMatcher12MatchOrQueueEmPNS0_8CallDataE");

static struct {
    atomic_bool is_armed;
    pthread_t thread;
    int witness; /* a connection that gets GOAWAY when the server is shut down */
} late_reader;

void match_or_queue(void *matcher, size_t queue, void *call)
{
    void *found = dlsym(RTLD_NEXT, "_ZN9grpc_core6Server18RealRequestMatcher12MatchOrQueueEmPNS0_8CallDataE");
    match_fn *match = *(match_fn **)&found;
    struct frame frame;

    if (atomic_load(&late_reader.is_armed) && pthread_equal(pthread_self(), late_reader.thread) &&
        atomic_exchange(&late_reader.is_armed, false))
        do
            read_frame(late_reader.witness, &frame);
        while (frame.head[3] != GOAWAY);
    match(matcher, queue, call);
}

static int connect_idle(void)
{
    int client = connect_to_server();
    struct frame frame;
    struct buf out;

    buf_init(&out, &arena);
    append_preface(&out);
    ck_assert(send_all(client, buf_str(&out)));
    read_frame(client, &frame);
    return client;
}

/* The client of this process polls for the server too. Without an answer, its call would wait for its deadline. */
START_TEST(a_call_that_is_read_during_the_shutdown_is_refused)
{
    struct rpc_stream *held = open_held();
    pthread_t stopper;

    late_reader.witness = connect_idle();
    late_reader.thread = pthread_self();
    atomic_store(&late_reader.is_armed, true);
    stopper = stop_until_refused();
    close(late_reader.witness);

    answer_held(held);
    pthread_join(stopper, NULL);
}
END_TEST

/* ---- everything at once ---- */

static void *storm_client(void *argument)
{
    const int *number = argument;
    struct arena own;

    arena_init(&own);
    for (int i = 0; i < STORM_CALLS; i++) {
        const char *paths[] = { "/test.Echo/Hold", "/test.Echo/Count", "/test.Echo/Chat",
            "/test.Echo/Collect" };
        struct rpc_stream *stream;
        struct rpc_status status;
        struct error err;
        struct str reply;

        ck_assert_int_eq(
            rpc_stream_open(echo.channel, paths[(i + *number) % 4], 1 + i % 5, &stream, &err), STATUS_OK);
        rpc_stream_send(stream, str_of("50"));
        if (i % 3 == 0)
            rpc_stream_half_close(stream);
        if (i % 2 == 0)
            rpc_stream_receive(stream, &own, &reply);
        rpc_stream_finish(stream, &own, &status);
    }
    arena_cleanup(&own);
    return NULL;
}

/* Answers held calls until the counter of ended storms is complete; alternately together and one by one. */
static void *storm_answerer(void *argument)
{
    const atomic_bool *over = argument;

    for (int i = 0; !atomic_load(over); i++) {
        struct rpc_call *call;

        if (i % 2 == 0)
            coalesce_replies(true);
        while ((call = echo_take(echo.held, &echo.held_count, NULL)))
            rpc_call_reply(call, str_of("done"));
        if (i % 2 == 0)
            coalesce_replies(false);
        sched_yield();
    }
    return NULL;
}

/* Cancellation, deadline, reply and stop happen in every order; the sanitizers detect errors. */
START_TEST(storm_ends_every_call_once)
{
    pthread_t clients[STORM_THREADS], answerer;
    int numbers[STORM_THREADS];
    atomic_bool over = false;

    ck_assert_int_eq(pthread_create(&answerer, NULL, storm_answerer, &over), 0);
    for (int i = 0; i < STORM_THREADS; i++) {
        numbers[i] = i;
        ck_assert_int_eq(pthread_create(&clients[i], NULL, storm_client, &numbers[i]), 0);
    }
    if (_i == 1) {
        echo_wait(&echo.begun, STORM_CALLS);
        echo_stop_server(0);
    }
    for (int i = 0; i < STORM_THREADS; i++)
        pthread_join(clients[i], NULL);
    echo_stop_server(0);
    atomic_store(&over, true);
    pthread_join(answerer, NULL);

    ck_assert_int_gt(echo.begun, 0);
    ck_assert_int_eq(echo.begun, echo.ended);
}
END_TEST

/* ---- addresses ---- */

/* The status code of a call. */
static int call_on(struct rpc_channel *channel)
{
    struct rpc_status status;
    struct str reply;

    rpc_channel_call(
        channel, &(struct rpc_request){ "/test.Echo/Unary", STR_EMPTY, CALL_MS }, &arena, &reply, &status);
    return status.code;
}

START_TEST(busy_port_is_an_error_that_names_it)
{
    struct rpc_options options = echo_options("127.0.0.1:0");
    struct rpc_server *first, *second;
    struct rpc_channel *channel;
    struct error err = { 0 };
    char address[64];

    ck_assert_int_eq(rpc_server_start(&options, &first, &err), STATUS_OK);
    ck_assert_int_gt(rpc_server_port(first), 0);
    snprintf(address, sizeof(address), "127.0.0.1:%d", rpc_server_port(first));
    ck_assert_int_eq(
        rpc_channel_open(&(struct rpc_channel_options){ .target = address }, &channel, &err), STATUS_OK);
    ck_assert_int_eq(call_on(channel), 0);

    options.listen = address;
    ck_assert_int_eq(rpc_server_start(&options, &second, &err), STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(err.message, address));

    rpc_channel_close(channel);
    rpc_server_stop(first, CALL_MS);
}
END_TEST

START_TEST(socket_of_a_living_server_is_not_taken)
{
    struct rpc_options options = echo_options(echo.address);
    struct rpc_server *second;
    struct error err = { 0 };

    ck_assert_int_eq(rpc_server_port(echo.server), 0);
    ck_assert_int_eq(rpc_server_start(&options, &second, &err), STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(err.message, echo.address));
    ck_assert_int_eq(call_on(echo.channel), 0);
}
END_TEST

START_TEST(an_address_that_cannot_be_bound_is_refused)
{
    static const char *const addresses[] = { "nonsense", "192.0.2.1:0", "unix:/nowhere/at/all" };
    struct rpc_options options = echo_options(addresses[_i]);
    struct rpc_server *server;
    struct error err = { 0 };

    ck_assert_int_eq(rpc_server_start(&options, &server, &err), STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(err.message, addresses[_i]));
}
END_TEST

START_TEST(threads_must_be_within_bounds)
{
    struct rpc_options options = echo_options("127.0.0.1:0");
    struct rpc_server *server;
    struct error err = { 0 };

    options.threads = _i == 0 ? 0 : 65;
    ck_assert_int_eq(rpc_server_start(&options, &server, &err), STATUS_INVALID);
}
END_TEST

START_TEST(a_call_without_a_listening_server_is_unavailable)
{
    struct rpc_channel *channel;
    struct rpc_status status;
    struct str reply;
    struct error err = { 0 };

    ck_assert_int_eq(
        rpc_channel_open(&(struct rpc_channel_options){ .target = "unix:/nowhere/at/all" }, &channel, &err),
        STATUS_OK);
    rpc_channel_call(
        channel, &(struct rpc_request){ "/test.Echo/Unary", STR_EMPTY, CALL_MS }, &arena, &reply, &status);
    ck_assert_int_eq(status.code, CODE_UNAVAILABLE);
    ck_assert_uint_gt(status.message.len, 0);
    rpc_channel_close(channel);
    ck_assert_int_eq(
        rpc_channel_open(&(struct rpc_channel_options){ .target = "" }, &channel, &err), STATUS_INVALID);
}
END_TEST

Suite *test_lifecycle_suite(void)
{
    Suite *suite = suite_create("rpc lifecycle");
    TCase *tc = tcase_create("lifecycle");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_connection_without_a_descriptor_is_turned_away_once_there_is_one);
    tcase_add_test(tc, handler_sees_the_client_leave);
    tcase_add_test(tc, handler_sees_the_deadline_pass);
    tcase_add_test(tc, reading_handler_sees_the_client_leave);
    tcase_add_test(tc, sending_handler_sees_the_client_leave);
    tcase_add_test(tc, every_idle_stream_sees_its_client_leave);
    tcase_add_test(tc, late_reply_is_dropped);
    tcase_add_test(tc, reply_may_come_from_any_thread);
    tcase_add_test(tc, replies_of_one_thread_leave_together);
    tcase_add_test(tc, stop_cancels_calls_that_outlast_the_grace);
    tcase_add_test(tc, stop_lets_open_calls_finish);
    tcase_add_test(tc, a_poll_ends_long_before_its_time);
    tcase_add_loop_test(tc, client_that_still_sends_reads_its_status, 0, 2);
    tcase_add_test(tc, a_call_that_is_read_during_the_shutdown_is_refused);
    tcase_add_loop_test(tc, storm_ends_every_call_once, 0, 2);
    tcase_add_test(tc, busy_port_is_an_error_that_names_it);
    tcase_add_test(tc, socket_of_a_living_server_is_not_taken);
    tcase_add_loop_test(tc, an_address_that_cannot_be_bound_is_refused, 0, 3);
    tcase_add_loop_test(tc, threads_must_be_within_bounds, 0, 2);
    tcase_add_test(tc, a_call_without_a_listening_server_is_unavailable);
    suite_add_tcase(suite, tc);
    return suite;
}
