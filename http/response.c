/* SPDX-License-Identifier: Apache-2.0 */
/*
 * response.c - passes replies to the library. A whole reply lies in the arena of its exchange, which lives
 * until the library has sent the reply, so nothing is copied. The bytes of a stream are copied into the
 * library's buffer as the client reads.
 */
#include <string.h>

#include "http/inflate.h"
#include "http/limits.h"
#include "http/server_parts.h"

static bool has_header(const struct http_reply *reply, const char *name)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (str_equal_any_case(reply->headers[i].name, str_of(name)))
            return true;
    return false;
}

/* The body; compressed with gzip if the client accepts gzip and the body has at least HTTP_MIN_GZIP_BYTES. */
static struct str compressed_body(struct exchange *exchange)
{
    struct http_reply *reply = &exchange->base.reply;
    struct buf out;

    if (reply->body.len < HTTP_MIN_GZIP_BYTES || has_header(reply, "Content-Encoding") ||
        !http_request_header_lists(&exchange->base.request, "Accept-Encoding", "gzip"))
        return reply->body.len > 0 ? buf_str(&reply->body) : STR_EMPTY;
    buf_init(&out, &exchange->base.arena);
    inflate_compress(buf_str(&reply->body), &out);
    http_reply_add_header(reply, &exchange->base.arena, "Content-Encoding", STR_LITERAL("gzip"));
    http_reply_add_header(reply, &exchange->base.arena, "Vary", STR_LITERAL("Accept-Encoding"));
    return buf_str(&out);
}

/* ---- streams ---- */

/*
 * Copy bytes that wait to be sent. The lock is held.
 *
 * Returns their number; 0: nothing waits now; MHD_CONTENT_READER_END_OF_STREAM: nothing will follow
 */
static ssize_t take_outgoing(struct exchange *exchange, char *out, size_t max)
{
    struct buf *outgoing = &exchange->outgoing;
    size_t left = outgoing->len - exchange->taken_bytes;
    size_t taken = left < max ? left : max;

    if (taken == 0)
        return exchange->is_over ? MHD_CONTENT_READER_END_OF_STREAM : 0;
    memcpy(out, outgoing->data + exchange->taken_bytes, taken);
    exchange->taken_bytes += taken;
    if (exchange->taken_bytes == outgoing->len)
        outgoing->len = exchange->taken_bytes = 0;
    return (ssize_t)taken;
}

/* The library calls this when it has room for bytes. If no bytes wait, the connection is suspended. */
static ssize_t read_stream(void *context, uint64_t position, char *out, size_t max)
{
    struct exchange *exchange = context;
    struct http_server *server = exchange->server;
    bool is_due = false;
    ssize_t taken;

    (void)position;
    pthread_mutex_lock(&server->lock);
    taken = take_outgoing(exchange, out, max);
    if (taken == 0) {
        exchange->wishes = 0;
        exchange->asleep = true;
        is_due = exchange->sent_is_due;
        exchange->sent_is_due = false;
    }
    pthread_mutex_unlock(&server->lock);
    if (taken != 0) {
        connection_enter(exchange->connection, CONNECTION_SENDING, (size_t)(taken > 0 ? taken : 0));
        return taken;
    }
    connection_enter(exchange->connection, CONNECTION_WORKING, 0);
    MHD_suspend_connection(exchange->connection->library);
    if (is_due) {
        exchange->next_sent = server->sent;
        server->sent = exchange;
    }
    return 0;
}

/* ---- both ---- */

static struct MHD_Response *response_of(struct exchange *exchange)
{
    enum { BLOCK_BYTES = 16 * 1024 };
    struct str body;

    if (exchange->is_stream)
        return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES, read_stream, exchange, NULL);
    body = compressed_body(exchange);
    connection_enter(exchange->connection, CONNECTION_SENDING, body.len);
    return MHD_create_response_from_buffer(body.len, (void *)(uintptr_t)body.data, MHD_RESPMEM_PERSISTENT);
}

static bool add_headers(struct MHD_Response *response, const struct http_reply *reply, bool closes)
{
    for (size_t i = 0; i < reply->header_count; i++)
        if (MHD_add_response_header(response, reply->headers[i].name.data, reply->headers[i].value.data) !=
            MHD_YES)
            return false;
    return !closes || MHD_add_response_header(response, "Connection", "close") == MHD_YES;
}

enum MHD_Result exchange_answer(struct exchange *exchange)
{
    struct http_reply *reply = &exchange->base.reply;
    struct MHD_Response *response = response_of(exchange);
    enum MHD_Result result = MHD_NO;

    if (!response)
        return MHD_NO;
    if (add_headers(response, reply, reply->closes || exchange->server->stop_at_us != 0))
        result = MHD_queue_response(exchange->connection->library, (unsigned)reply->status, response);
    MHD_destroy_response(response);
    return result;
}
