/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - the completion queue, its threads, arming and stopping.
 *
 * All threads share one queue. A connection belongs to one queue, so with a queue per thread a busy
 * connection would keep one thread busy while the other threads sleep. Two threads on one queue answered
 * h2load's 64 streams on one connection 1.3 times as fast as one thread did, and 8 connections with 8 streams
 * each 1.5 times as fast.
 */
#include "rpc/server.h"

#include <assert.h>
#include <errno.h>
#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/macros.h"
#include "base/numbers.h"
#include "rpc/call.h"
#include "rpc/coalesce.h"
#include "rpc/core_locks.h"
#include "rpc/core_log.h"
#include "rpc/door.h"
#include "rpc/drain_pace.h"
#include "rpc/helper.h"

enum {
    THREADS_MAX = 64,
    /* A drain whose handlers are slow can take long: within it, the load is looked at after so many events. */
    LOOK_EVENTS = DRAIN_EVENTS_BEGIN,
    HELPER_POLL_MS = 2, /* a helper that finds nothing looks so often whether it is still needed */
    CLOSING_EVENTS_MAX = 1024,
    PEER_PING_INTERVAL_MS = 9000,
    KEEPALIVE_TIME_MS = 60000,
    KEEPALIVE_TIMEOUT_MS = 20000,
    /* before GOAWAY is sent, open calls have so long to end; new calls are refused one by one */
    REFUSING_MS = 300,
    DRAIN_STEP_MS = 20,
    IDLE_MS = 200,    /* without an open call for so long, GOAWAY has reached the clients */
    LINGER_MS = 2000, /* then clients have so long to read what was sent to them and to hang up */
    /* Larger metadata ends the call; metadata larger than FRAME_SCAN_MAX_HEADER_BYTES ends the connection. */
    METADATA_BYTES = 16 * 1024,
    STREAM_WINDOW_BYTES = 512 * 1024,
    HANDSHAKE_MS = 20000, /* bound of the TLS handshake and the first SETTINGS frame */
    US_PER_MS = 1000,
};

struct rpc_server {
    struct call_host host;
    struct call_slot *slots; /* one per method, and one for unknown methods */
    size_t slot_count;
    pthread_t threads[THREADS_MAX + 1]; /* the helper's is the last one */
    int thread_count;
    struct helper helper;
    int port;
    struct tls_files *tls; /* NULL: plain text */
    struct door *door;
    int resting; /* the number of parked threads; host.lock guards this and the members below */
    bool closed; /* the core accepts no more calls */
};

/* ---- the queue ---- */

static bool handle(struct rpc_server *server, grpc_event event, struct call_list *fresh);

/* Handle the events that have arrived. true: a handler may have got a message. */
static bool take_arrived(struct rpc_server *server, struct call_list *fresh)
{
    bool fed = false;

    for (int handled = 0; handled < CLOSING_EVENTS_MAX; handled++) {
        grpc_event event =
            grpc_completion_queue_next(server->host.queue, gpr_inf_past(GPR_CLOCK_MONOTONIC), NULL);

        if (event.type != GRPC_OP_COMPLETE)
            break;
        fed = handle(server, event, fresh) || fed;
    }
    return fed;
}

/*
 * Stop accepting calls. Once the core shuts down, it answers every call that it reads with CANCELLED, which
 * callers mistake for their own cancellation. So no thread may read during the shutdown: every thread parks
 * here, and the last thread handles the events that have arrived, shuts the core down and, if no call is
 * open, closes the connections. The last GOAWAY says which streams were not begun; clients send those to
 * another server.
 */
static bool come_to_rest(struct rpc_server *server, struct call_list *fresh)
{
    struct call_host *host = &server->host;
    bool fed = false;

    pthread_mutex_lock(&host->lock);
    if (++server->resting < server->thread_count) {
        while (!server->closed)
            pthread_cond_wait(&host->changed, &host->lock);
        pthread_mutex_unlock(&host->lock);
        return false;
    }
    pthread_mutex_unlock(&host->lock);
    fed = take_arrived(server, fresh);
    grpc_server_shutdown_and_notify(host->core, host->queue, server);
    if (atomic_load(&host->open) == 0)
        grpc_server_cancel_all_calls(host->core);
    pthread_mutex_lock(&host->lock);
    server->closed = true;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
    return fed;
}

static bool handle(struct rpc_server *server, grpc_event event, struct call_list *fresh)
{
    if (event.tag == &server->resting)
        return come_to_rest(server, fresh);
    if (event.tag != server)
        return call_complete(event.tag, event.success != 0, fresh);
    pthread_mutex_lock(&server->host.lock);
    server->host.shut_down = true;
    pthread_cond_broadcast(&server->host.changed);
    pthread_mutex_unlock(&server->host.lock);
    return false;
}

/*
 * Handle the events that are there after a first message, for as long as the pace says. Then send the answers of
 * other threads, and call the owner's `drained`.
 */
static void drain(struct rpc_server *server, struct call_list *fresh, struct drain_pace *pace)
{
    struct call_host *host = &server->host;
    unsigned refused = atomic_load(&host->refused);

    fresh->drains = true;
    drain_pace_begin(pace, clock_monotonic_us());
    atomic_store(&host->overload, pace->overload);
    while (!drain_pace_is_over(
        pace, (int)(atomic_load(&host->refused) - refused), atomic_load(&host->unsent_writes))) {
        grpc_event event = grpc_completion_queue_next(host->queue, gpr_inf_past(GPR_CLOCK_MONOTONIC), NULL);

        if (event.type == GRPC_QUEUE_SHUTDOWN)
            break;
        if (event.type == GRPC_OP_COMPLETE)
            (void)handle(server, event, fresh);
        drain_pace_polled(pace, event.type == GRPC_OP_COMPLETE);
        if (drain_pace_may_begin(pace) && host->events.draining)
            host->events.draining(host->context);
        if (pace->events % LOOK_EVENTS == 0)
            helper_look(&server->helper, atomic_load(&host->open_unary));
    }
    helper_look(&server->helper, atomic_load(&host->open_unary));
    drain_pace_end(pace, atomic_load(&host->open_unary));
    fresh->drains = false;
    (void)call_send_answers(host);
    if (host->events.drained)
        host->events.drained(host->context);
    call_settle(fresh);
}

/* What a thread keeps from one event to the next. */
struct queue_thread {
    struct rpc_server *server;
    struct call_list fresh;
    struct drain_pace pace;
};

static struct queue_thread thread_begin(struct rpc_server *server)
{
    coalesce_serve_queue();
    helper_join(&server->helper);
    return (struct queue_thread){ .server = server };
}

/* Handle an event and, after a message, what has arrived with it. */
static void handle_event(struct queue_thread *thread, grpc_event event)
{
    if (!handle(thread->server, event, &thread->fresh)) {
        /* this thread has read the messages of these calls, though another thread may tell the handler */
        call_settle(&thread->fresh);
        return;
    }
    drain(thread->server, &thread->fresh, &thread->pace);
}

static void *serve(void *argument)
{
    struct queue_thread thread = thread_begin(argument);
    struct rpc_server *server = argument;

    for (;;) {
        grpc_event event =
            grpc_completion_queue_next(server->host.queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        handle_event(&thread, event);
    }
}

/* Serve like the others, but only while they are busy. */
static void *help(void *argument)
{
    const gpr_timespec wait = gpr_time_from_millis(HELPER_POLL_MS, GPR_TIMESPAN);
    struct queue_thread thread = thread_begin(argument);
    struct rpc_server *server = argument;

    for (;;) {
        gpr_timespec deadline;
        grpc_event event;

        helper_wait(&server->helper);
        deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), wait);
        event = grpc_completion_queue_next(server->host.queue, deadline, NULL);
        if (event.type == GRPC_QUEUE_SHUTDOWN)
            return NULL;
        if (event.type == GRPC_OP_COMPLETE)
            handle_event(&thread, event);
        else /* after a load no drain looks whether the helper is still needed */
            helper_look(&server->helper, atomic_load(&server->host.open_unary));
    }
}

/* ---- start ---- */

static grpc_arg integer_arg(const char *key, int value)
{
    return (grpc_arg){ .type = GRPC_ARG_INTEGER, .key = (char *)(size_t)key, .value.integer = value };
}

static grpc_server *core_new(const struct rpc_options *options)
{
    int receive_bytes = options->receive_bytes < INT_MAX ? (int)options->receive_bytes : INT_MAX;
    int streams = options->limits.streams > 0 ? options->limits.streams : INT_MAX;
    grpc_arg args[] = {
        integer_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, receive_bytes),
        integer_arg(GRPC_ARG_MAX_CONCURRENT_STREAMS, streams),
        integer_arg(GRPC_ARG_MAX_METADATA_SIZE, METADATA_BYTES),
        /*
         * By default the core offers every stream of a fast connection a window of megabytes, and reads ahead of
         * what its calls ask for: memory that no call is counted with. Without the probe a window stays as large
         * as it begins. It begins with more than the messages of a put have: with 64 KiB the core now and then
         * forgets to offer a stream the rest of a message, and the put stands still.
         */
        integer_arg(GRPC_ARG_HTTP2_BDP_PROBE, 0),
        integer_arg(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, STREAM_WINDOW_BYTES),
        integer_arg(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, HANDSHAKE_MS),
        /* The core would inflate a message before it checks the size; bytes_open checks while it inflates. */
        integer_arg(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0),
        /*
         * The core would keep a timer for each call with a deadline, in a table whose chains grow with the number of
         * calls: with thousands of them a fifth of the time of each call. Handlers answer before the deadline by
         * themselves, and a client resets the stream of a call that is past it.
         */
        integer_arg(GRPC_ARG_ENABLE_DEADLINE_CHECKS, 0),
        integer_arg(
            GRPC_ARG_ENABLE_CHANNELZ, 0), /* counts and times every call for a service that is not offered */
        /*
         * A second server on a busy port must fail; by default it would share the connections of the first.
         */
        integer_arg(GRPC_ARG_ALLOW_REUSEPORT, 0),
        /*
         * Watches are long and quiet, and so are idle channels behind load balancers. By default the core
         * hangs up on clients that ping more often than every five minutes, or without open calls. Allow a
         * ping every ten seconds (the value is one second less, because pings jitter), and detect dead
         * clients by the server's own pings.
         */
        integer_arg(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, PEER_PING_INTERVAL_MS),
        integer_arg(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
        integer_arg(GRPC_ARG_KEEPALIVE_TIME_MS, KEEPALIVE_TIME_MS),
        integer_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_TIMEOUT_MS),
        integer_arg(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0),
    };
    grpc_channel_args channel_args = { .num_args = ARRAY_LEN(args), .args = args };

    return grpc_server_create(&channel_args, NULL);
}

/*
 * Whether a program listens on this Unix socket. The core removes an existing socket file. That is right for
 * a file that a crash has left behind, but would silently take the clients of a running server.
 */
static bool unix_socket_is_busy(const char *listen_address)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = strlen(listen_address + strlen("unix:"));
    bool is_busy;
    int fd;

    if (length >= sizeof(address.sun_path))
        return false; /* the path is too long: the core refuses it */
    memcpy(address.sun_path, listen_address + strlen("unix:"), length);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return false;
    is_busy = connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN;
    close(fd);
    return is_busy;
}

static enum status make_credentials(struct rpc_server *server, const struct rpc_server_tls *tls,
    grpc_server_credentials **out, struct error *err)
{
    if (tls)
        return tls_server_credentials(tls, &server->tls, out, err);
    *out = grpc_insecure_server_credentials_create();
    return STATUS_OK;
}

static enum status bind_address(
    struct rpc_server *server, const struct rpc_options *options, struct error *err)
{
    const char *address = options->listen;
    bool is_unix = strncmp(address, "unix:", strlen("unix:")) == 0;
    grpc_server_credentials *credentials;
    int port = 0;

    if (!is_unix || !unix_socket_is_busy(address)) {
        TRY(make_credentials(server, options->tls, &credentials, err));
        door_listen_begin(server->door);
        port = grpc_server_add_http2_port(server->host.core, address, credentials);
        door_listen_end();
        grpc_server_credentials_release(credentials);
    }
    if (port == 0)
        return error_set(err, STATUS_UNAVAILABLE,
            "cannot listen on %s: the address is in use, malformed, or not one of this host%s", address,
            options->tls ? "; or its certificates cannot be used" : "");
    if (!door_has_listener(server->door))
        log_event(LOG_WARN, "connections_unbounded", log_text("address", address),
            log_text(
                "why", "this build of gRPC does not take connections through the program's own accept4"));
    server->port = is_unix ? 0 : port;
    return STATUS_OK;
}

static void register_methods(struct rpc_server *server, const struct rpc_options *options)
{
    server->slot_count = options->method_count + 1;
    server->slots = xcalloc(server->slot_count, sizeof(*server->slots));
    for (size_t i = 0; i < options->method_count; i++) {
        const struct rpc_method *method = &options->methods[i];

        server->slots[i].method = method;
        server->slots[i].receive_bytes = method->is_open && options->receive_bytes > RPC_OPEN_RECEIVE_BYTES
                                             ? RPC_OPEN_RECEIVE_BYTES
                                             : options->receive_bytes;
        server->slots[i].registered =
            grpc_server_register_method(server->host.core, method->path, NULL, GRPC_SRM_PAYLOAD_NONE, 0);
        assert(server->slots[i].registered && "a method is registered twice");
    }
}

/*
 * One call of each method: what arrives before its successor is armed waits in the core, which costs less than more
 * armed calls. Debian's core looks through all outstanding tags, armed calls included, for each tag that completes.
 */
static void arm_all(struct rpc_server *server)
{
    for (size_t i = 0; i < server->slot_count; i++)
        call_arm(&server->host, &server->slots[i]);
}

static struct door *door_for(const struct rpc_options *options)
{
    const struct door_options door = {
        .is_tls = options->tls != NULL,
        .max_connections = options->limits.connections,
        .max_per_address = options->limits.connections_per_address,
        .first_call_us = options->limits.first_call_ms * US_PER_MS,
    };

    return door_open(&door);
}

static struct rpc_server *server_new(const struct rpc_options *options)
{
    struct rpc_server *server = xcalloc(1, sizeof(*server));

    core_log_take_over();
    core_locks_unchecked();
    grpc_init();
    pthread_mutex_init(&server->host.lock, NULL);
    condition_init(&server->host.changed);
    condition_init(&server->host.sent);
    helper_init(&server->helper, options->helps ? options->threads : 0);
    server->host.events = options->events;
    server->host.context = options->context;
    server->door = server->host.door = door_for(options);
    server->host.max_open_calls = options->limits.open_calls;
    server->host.max_open_calls_per_connection = options->limits.open_calls_per_connection;
    server->host.core = core_new(options);
    server->host.queue = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(server->host.core, server->host.queue, NULL);
    register_methods(server, options);
    return server;
}

static enum status start_thread(struct rpc_server *server, void *(*run)(void *), struct error *err)
{
    int failed = pthread_create(&server->threads[server->thread_count], NULL, run, server);

    if (failed)
        return error_set(err, STATUS_UNAVAILABLE, "cannot start a thread: %s", strerror(failed));
    server->thread_count++;
    return STATUS_OK;
}

static enum status start_threads(
    struct rpc_server *server, const struct rpc_options *options, struct error *err)
{
    while (server->thread_count < options->threads)
        TRY(start_thread(server, serve, err));
    return options->helps ? start_thread(server, help, err) : STATUS_OK;
}

enum status rpc_server_start(const struct rpc_options *options, struct rpc_server **out, struct error *err)
{
    struct rpc_server *server;
    enum status status;

    if (options->threads < 1 || options->threads > THREADS_MAX)
        return error_set(
            err, STATUS_INVALID, "%d threads: 1 to %d are allowed", options->threads, THREADS_MAX);
    server = server_new(options);
    status = bind_address(server, options, err);
    grpc_server_start(server->host.core);
    if (status == STATUS_OK) {
        arm_all(server);
        status = start_threads(server, options, err);
    }
    if (status != STATUS_OK) {
        rpc_server_stop(server, 0);
        return status;
    }
    *out = server;
    return STATUS_OK;
}

int rpc_server_port(const struct rpc_server *server)
{
    return server->port;
}

void rpc_server_read_connections(struct rpc_server *server, struct rpc_connections *out)
{
    struct door_numbers numbers;

    static_assert((int)RPC_REASONS == (int)DOOR_REASONS, "the door's reasons");
    door_read_numbers(server->door, &numbers);
    out->open = numbers.connections;
    out->authenticated = numbers.authenticated;
    memcpy(out->reasons, numbers.reasons, sizeof(out->reasons));
    out->open_calls_refused = atomic_load(&server->host.open_calls_refused);
    out->helped = atomic_load(&server->helper.begun);
}

const char *rpc_server_reason_name(int reason)
{
    return door_rules_names[reason];
}

bool rpc_server_reason_refuses(int reason)
{
    return reason <= DOOR_FILES;
}

bool rpc_server_shed(struct rpc_server *server, bool all)
{
    return door_shed(server->door, all);
}

void rpc_server_age(struct rpc_server *server)
{
    door_age(server->door);
}

int rpc_server_open_calls(const struct rpc_server *server)
{
    return atomic_load(&server->host.open);
}

/* ---- stop ---- */

static bool is_empty(const struct call_host *host)
{
    return host->shut_down && atomic_load(&host->alive) == 0;
}

static void wait_empty(struct call_host *host)
{
    pthread_mutex_lock(&host->lock);
    while (!is_empty(host))
        pthread_cond_wait(&host->changed, &host->lock);
    pthread_mutex_unlock(&host->lock);
}

static bool has_no_open_calls(const struct call_host *host)
{
    return atomic_load(&host->open) == 0;
}

static bool wait_for(struct call_host *host, bool (*is_over)(const struct call_host *), int64_t wait_ms)
{
    int64_t deadline_us = clock_monotonic_us() + wait_ms * 1000;
    bool over;

    pthread_mutex_lock(&host->lock);
    while (!is_over(host) && condition_wait_until(&host->changed, &host->lock, deadline_us))
        continue;
    over = is_over(host);
    pthread_mutex_unlock(&host->lock);
    return over;
}

/*
 * The threads of another server, or of the core, do not park. If such a thread reads a call while the core shuts
 * down, the core may keep the call without offering or refusing it. The core refuses what it keeps whenever a
 * connection ends. So give it a connection, which it ends at once, since it has shut down.
 */
static void refuse_kept_calls(const struct call_host *host)
{
    grpc_server_credentials *plain;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
        return;
    plain = grpc_insecure_server_credentials_create();
    grpc_server_add_channel_from_fd(host->core, ends[0], plain); /* the core closes this end */
    grpc_server_credentials_release(plain);
    close(ends[1]);
}

/*
 * Wait for the end of all calls. Clients have been sent GOAWAY. An idle client may take seconds to hang up.
 * If no call has been open for IDLE_MS, there is nothing to wait for, and the connections are closed.
 */
static bool wait_drained(struct call_host *host, int64_t grace_ms)
{
    int64_t idle_ms = 0;

    for (int64_t waited_ms = 0; waited_ms < grace_ms && idle_ms < IDLE_MS; waited_ms += DRAIN_STEP_MS) {
        if (wait_for(host, is_empty, DRAIN_STEP_MS))
            return true;
        refuse_kept_calls(host);
        idle_ms = atomic_load(&host->open) == 0 ? idle_ms + DRAIN_STEP_MS : 0;
    }
    return false;
}

/*
 * Wake every thread once, by empty batches of a call to no server. A parked thread does not poll any more, so
 * each thread gets exactly one event.
 */
static void close_to_new_calls(struct rpc_server *server)
{
    struct call_host *host = &server->host;
    grpc_channel *nowhere = grpc_lame_client_channel_create("nowhere", GRPC_STATUS_UNAVAILABLE, "");
    grpc_call *waker = grpc_channel_create_call(nowhere, NULL, GRPC_PROPAGATE_DEFAULTS, host->queue,
        grpc_slice_from_static_string("/"), NULL, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);

    helper_release(&server->helper);
    for (int i = 0; i < server->thread_count; i++) {
        grpc_call_error refused = grpc_call_start_batch(waker, NULL, 0, &server->resting, NULL);

        assert(refused == GRPC_CALL_OK);
        (void)refused;
    }
    pthread_mutex_lock(&host->lock);
    while (!server->closed)
        pthread_cond_wait(&host->changed, &host->lock);
    pthread_mutex_unlock(&host->lock);
    grpc_call_unref(waker);
    grpc_channel_destroy(nowhere);
}

/* Threads of others, which have handed over answers, may still be about to return. */
static void wait_until_unused(struct call_host *host)
{
    pthread_mutex_lock(&host->lock);
    while (host->posters > 0)
        pthread_cond_wait(&host->changed, &host->lock);
    pthread_mutex_unlock(&host->lock);
}

void rpc_server_stop(struct rpc_server *server, int64_t grace_ms)
{
    struct call_host *host = &server->host;

    if (server->thread_count == 0 && start_thread(server, serve, NULL) != STATUS_OK)
        abort(); /* without a thread the stop would never end */
    atomic_store(&host->stopping, true);
    (void)wait_for(host, has_no_open_calls, numbers_min(REFUSING_MS, grace_ms));
    door_linger(server->door);
    close_to_new_calls(server);
    if (!wait_drained(host, grace_ms)) {
        grpc_server_cancel_all_calls(host->core);
        wait_empty(host);
    }
    door_await_clients(server->door, numbers_min(LINGER_MS, grace_ms));
    /* Nothing can be started any more: all calls are gone, and only calls use the queue. */
    grpc_completion_queue_shutdown(host->queue);
    for (int i = 0; i < server->thread_count; i++)
        pthread_join(server->threads[i], NULL);
    grpc_completion_queue_destroy(host->queue);
    grpc_server_destroy(host->core);
    tls_files_free(server->tls);
    door_close(server->door);
    grpc_shutdown();
    wait_until_unused(host);
    pthread_cond_destroy(&host->changed);
    pthread_cond_destroy(&host->sent);
    pthread_mutex_destroy(&host->lock);
    helper_destroy(&server->helper);
    free(server->slots);
    free(server);
}
