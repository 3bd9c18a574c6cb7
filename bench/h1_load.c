/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_load.c - a load of requests over HTTP/1.1 for little CPU.
 *
 *   bench_h1_load HOST:PORT FILE IN_FLIGHT SECONDS
 *
 * FILE has whole requests, as they are sent, each with the prefix of common.h. They are sent in their order, again and
 * again, over IN_FLIGHT connections, each of which has one request under way. A call has failed unless its status is
 * 2xx; one failed call fails the run. The line that is printed is that of load.c.
 *
 * h2load can send one body only, and costs as much per request as a third of what the server spends on it. Of a reply
 * this client reads its status and where it ends, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <arpa/inet.h>

#include "bench/common.h"

enum {
    ARGUMENTS = 5,
    CONNECTIONS_MAX = 1024,
    EVENTS_MAX = 64,
    CALL_TIMEOUT_MS = 30000,
    READ_BYTES = 1 << 18,
    HEAD_BYTES = 8192,
    HOST_BYTES = 64,
};

enum state { STATE_HEAD, STATE_BODY, STATE_CHUNK_SIZE, STATE_CHUNK, STATE_CHUNK_END, STATE_TRAILER };

struct connection {
    int fd;
    const struct frame *request;
    size_t sent; /* of the request's bytes */
    int64_t begin_ns;
    enum state state;
    char head[HEAD_BYTES + 1];
    size_t head_size;
    size_t left;       /* bytes of the body, or of the chunk, that have not arrived */
    size_t line_bytes; /* of a trailer's line so far */
    bool worked, waits_to_write;
};

struct load {
    struct sockaddr_in target;
    size_t in_flight, next, request_count, open;
    double seconds;
    struct frame *requests;
    struct connection *connections;
    int epoll;
    int64_t now_ns, end_ns;
    struct tally tally;
};

static uint8_t received[READ_BYTES];

/* ---- requests ---- */

static void watch(struct load *load, struct connection *connection, int operation)
{
    struct epoll_event event = { .events = EPOLLIN | (connection->waits_to_write ? EPOLLOUT : 0U),
        .data.ptr = connection };

    require(epoll_ctl(load->epoll, operation, connection->fd, &event) == 0, "epoll_ctl failed");
}

static void send_rest(struct load *load, struct connection *connection)
{
    size_t size = connection->request->size - FRAME_PREFIX;
    bool waited = connection->waits_to_write;

    while (connection->sent < size) {
        ssize_t sent = send(connection->fd, connection->request->bytes + FRAME_PREFIX + connection->sent,
            size - connection->sent, MSG_NOSIGNAL);

        if (sent < 0 && errno == EAGAIN)
            break;
        require(sent > 0, "the connection does not take the request");
        connection->sent += (size_t)sent;
    }
    connection->waits_to_write = connection->sent < size;
    if (connection->waits_to_write != waited)
        watch(load, connection, EPOLL_CTL_MOD);
}

static void start_call(struct load *load, struct connection *connection)
{
    if (load->now_ns >= load->end_ns)
        return;
    connection->request = &load->requests[load->next];
    load->next = (load->next + 1) % load->request_count;
    connection->sent = connection->head_size = 0;
    connection->state = STATE_HEAD;
    connection->begin_ns = load->now_ns;
    load->open++;
    send_rest(load, connection);
}

/* ---- replies ---- */

static void end_call(struct load *load, struct connection *connection)
{
    load->open--;
    tally_call(&load->tally, connection->worked, load->now_ns - connection->begin_ns);
    if (!connection->worked)
        fprintf(stderr, "%.*s\n", (int)connection->head_size, connection->head);
    require(connection->worked, "a call has failed");
    start_call(load, connection);
}

/* The value of a header; NULL: there is none. */
static const char *find_value(const char *head, const char *name)
{
    size_t len = strlen(name);

    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, len) == 0 && line[2 + len] == ':')
            return line + 3 + len + strspn(line + 3 + len, " ");
    return NULL;
}

/* The head is whole. Returns whether a body follows. */
static bool read_head(struct connection *connection)
{
    const char *length = find_value(connection->head, "Content-Length");
    const char *coding = find_value(connection->head, "Transfer-Encoding");
    const char *status = strchr(connection->head, ' ');

    connection->worked = status && status[1] == '2';
    connection->left = length ? strtoul(length, NULL, 10) : 0;
    if (coding && strncasecmp(coding, "chunked", 7) == 0) {
        connection->state = STATE_CHUNK_SIZE;
        return true;
    }
    connection->state = STATE_BODY;
    return connection->left > 0;
}

/* Returns the number of bytes that belong to the head. *ended: the reply has no body. */
static size_t take_head(struct connection *connection, const uint8_t *bytes, size_t size, bool *ended)
{
    size_t before = connection->head_size;
    size_t room = HEAD_BYTES - before, taken = size < room ? size : room;
    const char *end;

    memcpy(connection->head + before, bytes, taken);
    connection->head[before + taken] = '\0';
    end = strstr(connection->head + (before < 3 ? 0 : before - 3), "\r\n\r\n");
    require(end || taken < room, "the head of a reply is too long");
    connection->head_size = end ? (size_t)(end - connection->head) + 4 : before + taken;
    connection->head[connection->head_size] = '\0';
    *ended = end && !read_head(connection);
    return connection->head_size - before;
}

/* Take a byte of a chunked body that is not a chunk's content. Returns whether the body has ended. */
static bool take_sign(struct connection *connection, char byte)
{
    switch (connection->state) {
    case STATE_CHUNK_SIZE:
        if (byte == '\n')
            connection->state = connection->left > 0 ? STATE_CHUNK : STATE_TRAILER;
        else if (byte != '\r')
            connection->left =
                connection->left * 16 + (size_t)(byte <= '9' ? byte - '0' : (byte | 0x20) - 'a' + 10);
        connection->line_bytes = 0;
        return false;
    case STATE_CHUNK_END:
        if (byte == '\n')
            connection->state = STATE_CHUNK_SIZE;
        return false;
    default: /* a trailer ends with an empty line */
        if (byte == '\n' && connection->line_bytes == 0)
            return true;
        connection->line_bytes = byte == '\n' ? 0 : connection->line_bytes + (byte != '\r');
        return false;
    }
}

/* Take bytes of a body. Returns their number. */
static size_t take_body(struct connection *connection, const uint8_t *bytes, size_t size, bool *ended)
{
    size_t taken = size < connection->left ? size : connection->left;

    if (connection->state != STATE_BODY && connection->state != STATE_CHUNK) {
        *ended = take_sign(connection, (char)bytes[0]);
        return 1;
    }
    connection->left -= taken;
    *ended = connection->left == 0 && connection->state == STATE_BODY;
    if (connection->left == 0 && connection->state == STATE_CHUNK)
        connection->state = STATE_CHUNK_END;
    return taken;
}

static void receive_reply(struct load *load, struct connection *connection)
{
    ssize_t size = recv(connection->fd, received, sizeof(received), 0);
    bool ended = false;

    if (size < 0 && errno == EAGAIN)
        return;
    require(size > 0, "the server has closed a connection");
    load->tally.reply_bytes += (uint64_t)size;
    for (size_t at = 0; at < (size_t)size;) {
        require(!ended, "bytes follow a reply");
        at += connection->state == STATE_HEAD
                  ? take_head(connection, received + at, (size_t)size - at, &ended)
                  : take_body(connection, received + at, (size_t)size - at, &ended);
    }
    if (ended)
        end_call(load, connection);
}

/* ---- the run ---- */

static void open_connection(struct load *load, struct connection *connection)
{
    int yes = 1;

    connection->fd = socket(AF_INET, SOCK_STREAM, 0);
    require(connection->fd >= 0 &&
                connect(connection->fd, (const struct sockaddr *)&load->target, sizeof(load->target)) == 0,
        "cannot connect");
    (void)setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    require(fcntl(connection->fd, F_SETFL, O_NONBLOCK) == 0, "cannot set up a connection");
    watch(load, connection, EPOLL_CTL_ADD);
}

static void handle_events(struct load *load)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(load->epoll, events, EVENTS_MAX, CALL_TIMEOUT_MS);

    require(count > 0, "no answer for half a minute");
    load->now_ns = now_ns();
    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;

        if (connection->waits_to_write)
            send_rest(load, connection);
        if (events[i].events & ~(uint32_t)EPOLLOUT)
            receive_reply(load, connection);
    }
}

static void run(struct load *load)
{
    load->connections = calloc(load->in_flight, sizeof(*load->connections));
    load->epoll = epoll_create1(0);
    require(load->connections && load->epoll >= 0, "out of memory");
    for (size_t i = 0; i < load->in_flight; i++)
        open_connection(load, &load->connections[i]);
    tally_begin(&load->tally);
    load->now_ns = load->tally.begin_ns;
    load->end_ns = load->now_ns + (int64_t)(load->seconds * 1e9);
    for (size_t i = 0; i < load->in_flight; i++)
        start_call(load, &load->connections[i]);
    while (load->open > 0)
        handle_events(load);
    tally_print(&load->tally);
}

static void read_target(struct load *load, const char *text)
{
    const char *colon = strchr(text, ':');
    char host[HOST_BYTES];

    require(colon && colon - text < HOST_BYTES, "the target is HOST:PORT");
    snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
    load->target.sin_family = AF_INET;
    load->target.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    require(inet_pton(AF_INET, host, &load->target.sin_addr) == 1, "the host is an IPv4 address");
}

int main(int argc, char **argv)
{
    static struct load load;

    require(argc == ARGUMENTS, "needs HOST:PORT FILE IN_FLIGHT SECONDS");
    read_target(&load, argv[1]);
    load.requests = frames_read(argv[2], &load.request_count);
    load.in_flight = strtoul(argv[3], NULL, 10);
    load.seconds = strtod(argv[4], NULL);
    require(load.in_flight > 0 && load.in_flight <= CONNECTIONS_MAX, "IN_FLIGHT is out of range");
    run(&load);
    return 0;
}
