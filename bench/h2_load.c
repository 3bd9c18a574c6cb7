/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h2_load.c - a load of unary calls for little CPU: gRPC's HTTP/2, and nothing else of gRPC.
 *
 *   bench_h2_load TARGET METHOD FILE IN_FLIGHT SECONDS [OPTION...]
 *
 *   once            every request once; ends with the last, or with the time
 *   connections=N   calls take turns; one connection otherwise
 *   rate=N          an open loop: N calls are due per second, and are sent within 0.5 ms. Latency counts from
 *                   when a call was due. A call that is due while IN_FLIGHT are under way is left out and counted
 *                   nowhere
 *   deadline=MS     the deadline of each call: the server is told, and the call is cancelled when it has passed
 *   lenient         calls may fail: they are counted, and have no latency
 *
 * All as with bench_load: the file, its order, the line that is printed, and when a call has failed: unless its
 * grpc-status is 0 and its reply has bytes.
 *
 * Why there are two: where everybody shares two cores, what the client spends is taken from the server. The C core
 * is what callers have, and costs several times what servers of other protocols are loaded with (h2load, pgbench).
 * This client is as lean as those, so that rates beside theirs compare servers; h2load itself sends the same bytes
 * all the time, which asks for one key only.
 *
 * One thread, for all connections. What has arrived on one is handled, which starts the next calls, and all that is to
 * be sent then leaves together. nghttp2 makes frames and headers: of these a call repeats its path only, the others
 * are in the table that both sides keep.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "bench/common.h"

enum {
    FIXED_ARGUMENTS = 6,
    CONNECTIONS_MAX = 1024,
    EVENTS_MAX = 64,
    CALL_TIMEOUT_S = 30,
    READ_BYTES = 65536,
    WRITE_BYTES = 131072,
    WRITE_FRAME_BYTES = 17000, /* nghttp2 makes none that is longer: 16 kB and what is in front */
    WINDOW_BYTES = 1 << 30,
    MAX_HEADERS = 7,
    TIMEOUT_BYTES = 16,
    /* how long the open loop rests before it looks for answers and for calls that are due */
    OPEN_LOOP_NS = 500000,
};

struct load;

struct connection {
    struct load *load;
    int fd;
    nghttp2_session *session;
    size_t written, write_size;
    uint8_t write[WRITE_BYTES];
};

struct call {
    struct connection *connection;
    const struct frame *request;
    size_t sent;
    int32_t stream;
    int64_t begin_ns;
    size_t reply_size; /* with its prefix */
    bool status_ok, expired;
    struct call *newer, *older; /* under way, in the order of their begin */
    struct call *next_free;     /* open loop */
};

struct load {
    const char *target, *method;
    size_t in_flight, connection_count;
    double seconds;
    bool once, lenient;
    double rate;     /* calls per second; 0: a closed loop */
    int deadline_ms; /* 0: none */

    struct frame *requests;
    size_t request_count, next;
    nghttp2_nv headers[MAX_HEADERS];
    size_t header_count;
    char timeout[TIMEOUT_BYTES];
    struct connection *connections;
    struct call *calls;
    struct call *oldest, *newest; /* under way */
    struct call *free;            /* open loop */
    uint64_t due;                 /* open loop: calls that have been due so far */
    int epoll;
    int64_t now_ns, end_ns; /* the time when the data that is being handled had arrived */
    size_t open;
    bool complained;
    struct tally tally;
};

/* ---- calls ---- */

static const struct frame *next_request(struct load *load)
{
    if (load->now_ns >= load->end_ns || (load->once && load->next == load->request_count))
        return NULL;
    if (load->next == load->request_count)
        load->next = 0;
    return &load->requests[load->next++];
}

static ssize_t read_request(nghttp2_session *session, int32_t stream, uint8_t *buffer, size_t size,
    uint32_t *flags, nghttp2_data_source *source, void *connection)
{
    struct call *call = source->ptr;
    size_t left = call->request->size - call->sent, taken = left < size ? left : size;

    (void)session, (void)stream, (void)connection;
    memcpy(buffer, call->request->bytes + call->sent, taken);
    call->sent += taken;
    if (taken == left)
        *flags |= NGHTTP2_DATA_FLAG_EOF;
    return (ssize_t)taken;
}

static void note_begin(struct load *load, struct call *call)
{
    call->older = load->newest;
    *(load->newest ? &load->newest->newer : &load->oldest) = call;
    load->newest = call;
    load->open++;
}

static void note_end(struct load *load, struct call *call)
{
    *(call->older ? &call->older->newer : &load->oldest) = call->newer;
    *(call->newer ? &call->newer->older : &load->newest) = call->older;
    load->open--;
}

/* begin_ns: the moment from which its latency counts. */
static void start_call(struct call *call, int64_t begin_ns)
{
    struct load *load = call->connection->load;
    const struct frame *request = next_request(load);
    nghttp2_data_provider body = { .source.ptr = call, .read_callback = read_request };

    if (!request)
        return;
    *call = (struct call){ .connection = call->connection, .request = request, .begin_ns = begin_ns };
    call->stream = nghttp2_submit_request(
        call->connection->session, NULL, load->headers, load->header_count, &body, call);
    require(call->stream > 0, "no more calls fit into a connection");
    note_begin(load, call);
}

/* ---- callbacks of nghttp2 for data that has arrived ---- */

static bool is_named(const char *name, const uint8_t *bytes, size_t size)
{
    return size == strlen(name) && memcmp(bytes, name, size) == 0;
}

static int take_header(nghttp2_session *session, const nghttp2_frame *frame, nghttp2_rcbuf *name_buffer,
    nghttp2_rcbuf *value_buffer, uint8_t flags, void *context)
{
    struct load *load = ((struct connection *)context)->load;
    nghttp2_vec name = nghttp2_rcbuf_get_buf(name_buffer), value = nghttp2_rcbuf_get_buf(value_buffer);

    (void)flags;
    if (is_named("grpc-status", name.base, name.len)) {
        struct call *call = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);

        call->status_ok = is_named("0", value.base, value.len);
    } else if (is_named("grpc-message", name.base, name.len) && value.len > 0 && !load->complained) {
        load->complained = true;
        fprintf(stderr, "bench_h2_load: %.*s\n", (int)value.len, (const char *)value.base);
    }
    return 0;
}

/* Say how the first call failed that no grpc-message tells of. */
static void complain(struct load *load, const struct call *call, uint32_t error)
{
    if (load->complained)
        return;
    load->complained = true;
    fprintf(stderr,
        "bench_h2_load: a call %s after %.1f ms, with error %u of HTTP/2 and %zu bytes of a reply\n",
        call->expired ? "was cancelled at its deadline" : "failed",
        (double)(load->now_ns - call->begin_ns) / 1e6, error, call->reply_size);
}

static int take_data(
    nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *bytes, size_t size, void *context)
{
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);

    (void)flags, (void)bytes, (void)context;
    call->reply_size += size;
    return 0;
}

static int end_call(nghttp2_session *session, int32_t stream, uint32_t error, void *context)
{
    struct load *load = ((struct connection *)context)->load;
    struct call *call = nghttp2_session_get_stream_user_data(session, stream);
    size_t reply_size = call->reply_size > FRAME_PREFIX ? call->reply_size - FRAME_PREFIX : 0;
    bool worked = call->status_ok && reply_size > 0;

    load->tally.reply_bytes += reply_size;
    tally_call(&load->tally, worked, load->now_ns - call->begin_ns);
    if (!worked)
        complain(load, call, error);
    note_end(load, call);
    if (load->rate > 0) {
        call->next_free = load->free;
        load->free = call;
    } else {
        start_call(call, load->now_ns);
    }
    return 0;
}

/* ---- connections ---- */

static int connect_unix(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    require(strlen(path) < sizeof(address.sun_path), "the socket's path is too long");
    memcpy(address.sun_path, path, strlen(path) + 1);
    require(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0, "cannot connect");
    return fd;
}

static int connect_tcp(const char *target)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found = NULL;
    char *host = strdup(target), *colon = host ? strrchr(host, ':') : NULL;
    int fd = -1;

    require(colon != NULL, "TARGET is HOST:PORT or unix:PATH");
    *colon = '\0';
    require(getaddrinfo(host, colon + 1, &hints, &found) == 0, "there is no such host");
    for (struct addrinfo *one = found; one && fd < 0; one = one->ai_next) {
        fd = socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen) != 0) {
            close(fd);
            fd = -1;
        }
    }
    require(fd >= 0, "cannot connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
    freeaddrinfo(found);
    free(host);
    return fd;
}

static void open_session(struct connection *connection)
{
    const nghttp2_settings_entry settings[] = {
        { NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
        { NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW_BYTES },
    };
    nghttp2_session_callbacks *callbacks;

    require(nghttp2_session_callbacks_new(&callbacks) == 0, "out of memory");
    nghttp2_session_callbacks_set_on_header_callback2(callbacks, take_header);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, take_data);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, end_call);
    require(nghttp2_session_client_new(&connection->session, callbacks, connection) == 0, "out of memory");
    nghttp2_session_callbacks_del(callbacks);
    require(nghttp2_submit_settings(connection->session, NGHTTP2_FLAG_NONE, settings, 2) == 0 &&
                nghttp2_session_set_local_window_size(
                    connection->session, NGHTTP2_FLAG_NONE, 0, WINDOW_BYTES) == 0,
        "out of memory");
}

static void open_connection(struct load *load, struct connection *connection)
{
    const char *target = load->target;
    /* Edge-triggered: read until no data is left, and write until the socket is full. */
    struct epoll_event event = { .events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection };

    connection->load = load;
    connection->fd = strncmp(target, "unix:", 5) == 0 ? connect_unix(target + 5) : connect_tcp(target);
    require(fcntl(connection->fd, F_SETFL, O_NONBLOCK) == 0 &&
                epoll_ctl(load->epoll, EPOLL_CTL_ADD, connection->fd, &event) == 0,
        "cannot watch a connection");
    open_session(connection);
}

/* As many whole frames as exist and fit. */
static void gather(struct connection *connection)
{
    connection->written = connection->write_size = 0;
    while (connection->write_size <= WRITE_BYTES - WRITE_FRAME_BYTES) {
        const uint8_t *bytes;
        ssize_t size = nghttp2_session_mem_send(connection->session, &bytes);

        require(size >= 0 && size <= WRITE_FRAME_BYTES, "a frame that cannot be sent");
        if (size == 0)
            break;
        memcpy(connection->write + connection->write_size, bytes, (size_t)size);
        connection->write_size += (size_t)size;
    }
}

static void write_all(struct connection *connection)
{
    for (;;) {
        ssize_t sent;

        if (connection->written == connection->write_size)
            gather(connection);
        if (connection->write_size == 0)
            return;
        sent = send(connection->fd, connection->write + connection->written,
            connection->write_size - connection->written, MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN)
            return;
        require(sent > 0, strerror(errno));
        connection->written += (size_t)sent;
    }
}

static void read_all(struct connection *connection)
{
    static uint8_t bytes[READ_BYTES];
    ssize_t size;

    do {
        size = recv(connection->fd, bytes, sizeof(bytes), 0);

        if (size < 0 && errno == EAGAIN)
            return;
        require(size != 0, "the server hung up");
        require(size > 0, strerror(errno));
        connection->load->now_ns = now_ns();
        require(nghttp2_session_mem_recv(connection->session, bytes, (size_t)size) == size,
            "the server does not speak HTTP/2");
        write_all(connection);
    } while (size == READ_BYTES);
}

/* ---- the load ---- */

static nghttp2_nv header(const char *name, const char *value)
{
    return (nghttp2_nv){ .name = (uint8_t *)(uintptr_t)name,
        .namelen = strlen(name),
        .value = (uint8_t *)(uintptr_t)value,
        .valuelen = strlen(value),
        .flags = NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE };
}

static void prepare(struct load *load)
{
    bool local = strncmp(load->target, "unix:", 5) == 0;
    const nghttp2_nv headers[MAX_HEADERS] = {
        header(":method", "POST"),
        header(":scheme", "http"),
        header(":path", load->method),
        header(":authority", local ? "localhost" : load->target),
        header("te", "trailers"),
        header("content-type", "application/grpc"),
        header("grpc-timeout", load->timeout),
    };

    snprintf(load->timeout, sizeof(load->timeout), "%dm", load->deadline_ms);

    memcpy(load->headers, headers, sizeof(headers));
    load->headers[MAX_HEADERS - 1].valuelen = strlen(load->timeout);
    load->header_count = load->deadline_ms > 0 ? MAX_HEADERS : MAX_HEADERS - 1;
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->connections = calloc(load->connection_count, sizeof(*load->connections));
    load->calls = calloc(load->in_flight, sizeof(*load->calls));
    require(load->epoll >= 0 && load->connections && load->calls, "out of memory");
    for (size_t i = 0; i < load->connection_count; i++)
        open_connection(load, &load->connections[i]);
}

/* timeout_ns: below a second; 0: as long as an answer may take. */
static void handle_events(struct load *load, int timeout_ns)
{
    struct epoll_event events[EVENTS_MAX];
    struct timespec timeout = { .tv_sec = timeout_ns ? 0 : CALL_TIMEOUT_S, .tv_nsec = timeout_ns };
    int count = epoll_pwait2(load->epoll, events, EVENTS_MAX, &timeout, NULL);

    require(count > 0 || timeout_ns > 0 || (count < 0 && errno == EINTR), "no answer for half a minute");
    for (int i = 0; i < count; i++) {
        write_all(events[i].data.ptr);
        read_all(events[i].data.ptr);
    }
}

static void write_everywhere(struct load *load)
{
    for (size_t i = 0; i < load->connection_count; i++)
        write_all(&load->connections[i]);
}

static void run_closed(struct load *load)
{
    for (size_t i = 0; i < load->in_flight; i++)
        start_call(&load->calls[i], load->now_ns);
    write_everywhere(load);
    while (load->open > 0)
        handle_events(load, 0);
}

/* Start what is due by now, as far as calls are free. */
static void start_due(struct load *load)
{
    double ns_per_call = 1e9 / load->rate;
    uint64_t due = (uint64_t)((double)(load->now_ns - load->tally.begin_ns) / ns_per_call);

    for (; load->due < due && load->free; load->due++) {
        struct call *call = load->free;

        load->free = call->next_free;
        start_call(call, load->tally.begin_ns + (int64_t)((double)load->due * ns_per_call));
    }
    load->due = due;
}

/* Cancel the calls whose deadline has passed; they end when that is sent. */
static void cancel_expired(struct load *load)
{
    int64_t limit_ns = load->now_ns - load->deadline_ms * 1000000LL;

    for (struct call *call = load->oldest; call && call->begin_ns < limit_ns; call = call->newer) {
        if (!call->expired)
            require(nghttp2_submit_rst_stream(
                        call->connection->session, NGHTTP2_FLAG_NONE, call->stream, NGHTTP2_CANCEL) == 0,
                "out of memory");
        call->expired = true;
    }
}

static void begin(struct load *load)
{
    tally_begin(&load->tally);
    load->now_ns = load->tally.begin_ns;
    load->end_ns = load->now_ns + (int64_t)(load->seconds * 1e9);
}

/* One call on each connection, before the time begins: until one was admitted, the server takes few on a connection. */
static void introduce(struct load *load)
{
    for (size_t i = 0; i < load->connection_count; i++)
        start_call(&load->calls[i], load->now_ns);
    write_everywhere(load);
    while (load->open > 0)
        handle_events(load, 0);
    require(load->tally.failed == 0, "a first call failed");
    free(load->tally.samples);
    begin(load);
}

/*
 * Sleep until the next multiple of OPEN_LOOP_NS: a client that woke up for each answer, and for each call, would take a
 * processor from the programs that it measures thousands of times a second. The delay counts in the latencies.
 */
static void rest(const struct load *load)
{
    int64_t since_ns = now_ns() - load->tally.begin_ns;
    struct timespec pause = { .tv_nsec = OPEN_LOOP_NS - since_ns % OPEN_LOOP_NS };

    nanosleep(&pause, NULL);
}

static void run_open(struct load *load)
{
    introduce(load);
    for (size_t i = load->connection_count; i < load->in_flight; i++) {
        load->calls[i].next_free = load->free;
        load->free = &load->calls[i];
    }
    while (load->now_ns < load->end_ns || load->open > 0) {
        if (load->now_ns < load->end_ns)
            start_due(load);
        if (load->deadline_ms > 0)
            cancel_expired(load);
        write_everywhere(load);
        rest(load);
        handle_events(load, 1);
        load->now_ns = now_ns();
    }
}

static void run(struct load *load)
{
    begin(load);
    for (size_t i = 0; i < load->in_flight; i++)
        load->calls[i].connection = &load->connections[i % load->connection_count];
    if (load->rate > 0)
        run_open(load);
    else
        run_closed(load);
}

static void read_option(struct load *load, const char *word)
{
    const char *value = strchr(word, '=');

    value = value ? value + 1 : "";
    if (strncmp(word, "connections=", 12) == 0)
        load->connection_count = strtoul(value, NULL, 10);
    else if (strncmp(word, "rate=", 5) == 0)
        load->rate = strtod(value, NULL);
    else if (strncmp(word, "deadline=", 9) == 0)
        load->deadline_ms = (int)strtol(value, NULL, 10);
    else if (strcmp(word, "once") == 0)
        load->once = true;
    else if (strcmp(word, "lenient") == 0)
        load->lenient = true;
    else
        require(false, word);
}

int main(int argc, char **argv)
{
    static struct load load = { .connection_count = 1 };

    require(argc >= FIXED_ARGUMENTS, "needs TARGET METHOD FILE IN_FLIGHT SECONDS [OPTION...]");
    load.target = argv[1];
    load.method = argv[2];
    load.in_flight = strtoul(argv[4], NULL, 10);
    load.seconds = strtod(argv[5], NULL);
    for (int i = FIXED_ARGUMENTS; i < argc; i++)
        read_option(&load, argv[i]);
    require(load.in_flight > 0 && load.in_flight <= CALLS_MAX, "IN_FLIGHT is out of range");
    require(load.rate >= 0 && (load.rate == 0 || load.in_flight >= load.connection_count),
        "an open loop needs a call for each connection");
    require(
        load.connection_count > 0 && load.connection_count <= CONNECTIONS_MAX, "connections is out of range");
    load.requests = frames_read(argv[3], &load.request_count);
    prepare(&load);
    run(&load);
    tally_print(&load.tally);
    return load.tally.failed > 0 && !load.lenient;
}
