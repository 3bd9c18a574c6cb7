/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_calls.c - see the header. Each handle has a connection of its own, and belongs to one call at a time.
 */
#include "http/object_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/macros.h"
#include "http/outgoing.h"

enum { MAX_IDLE = 64, MAX_HEADER_BYTES = 64 << 10 };

struct object_calls {
    const char *ca;
    pthread_mutex_t lock;
    CURL *idle[MAX_IDLE];
    int idle_count;
};

/* A call under way. */
struct calling {
    const struct object_request *request;
    struct buf body;
    size_t header_bytes;
    bool has_etag, is_cut; /* is_cut: more has arrived than is allowed */
};

/* ---- handles ---- */

struct object_calls *object_calls_open(const char *ca)
{
    struct object_calls *calls = xcalloc(1, sizeof(*calls));

    calls->ca = ca;
    pthread_mutex_init(&calls->lock, NULL);
    return calls;
}

void object_calls_close(struct object_calls *calls)
{
    while (calls->idle_count > 0)
        curl_easy_cleanup(calls->idle[--calls->idle_count]);
    pthread_mutex_destroy(&calls->lock);
    free(calls);
}

/* NULL: out of memory. */
static CURL *borrow_handle(struct object_calls *calls)
{
    CURL *curl = NULL;

    pthread_mutex_lock(&calls->lock);
    if (calls->idle_count > 0)
        curl = calls->idle[--calls->idle_count];
    pthread_mutex_unlock(&calls->lock);
    return curl ? curl : outgoing_handle();
}

/* A reset keeps the connection. */
static void return_handle(struct object_calls *calls, CURL *curl)
{
    curl_easy_reset(curl);
    pthread_mutex_lock(&calls->lock);
    if (calls->idle_count < MAX_IDLE) {
        calls->idle[calls->idle_count++] = curl;
        curl = NULL;
    }
    pthread_mutex_unlock(&calls->lock);
    if (curl)
        curl_easy_cleanup(curl);
}

/* ---- what arrives ---- */

/* To take less than what has arrived ends the call. */
static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct calling *calling = context;
    size_t len = size * count;

    calling->is_cut = len > calling->request->max_bytes - calling->body.len;
    if (calling->is_cut)
        return 0;
    buf_append(&calling->body, str_of_bytes(data, len));
    return len;
}

static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    static const char etag[] = "ETag: ";
    struct calling *calling = context;
    size_t len = size * count, min = sizeof(etag) + 2;

    calling->header_bytes += len;
    calling->has_etag = calling->has_etag || (len > min && strncasecmp(data, etag, sizeof(etag) - 1) == 0);
    return calling->header_bytes > MAX_HEADER_BYTES ? 0 : len;
}

static bool is_given_up(void *context)
{
    const struct object_request *request = ((const struct calling *)context)->request;

    return request->is_given_up && request->is_given_up(request->who);
}

/* ---- a call ---- */

static void set_request(CURL *curl, const struct object_request *request)
{
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    if (strcmp(request->method, "PUT") == 0) {
        curl_easy_setopt(curl, CURLOPT_POST, 1L);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.len > 0 ? request->body.data : "");
    }
    if (strcmp(request->method, "GET") != 0)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
}

static void set_functions(CURL *curl, struct calling *calling)
{
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, calling);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, calling);
}

static enum status perform_call(
    CURL *curl, struct calling *calling, struct object_reply *out, struct error *err)
{
    CURLcode result = curl_easy_perform(curl);
    long code = 0;

    if (result == CURLE_ABORTED_BY_CALLBACK)
        return error_set(err, STATUS_CANCELLED, "the call was given up");
    if (calling->is_cut)
        return error_set(err, STATUS_LIMIT, "the answer is too long");
    if (result != CURLE_OK)
        return error_set(err, STATUS_UNAVAILABLE, "%s", curl_easy_strerror(result));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    *out = (struct object_reply){ (int)code, calling->has_etag, buf_str(&calling->body) };
    return STATUS_OK;
}

enum status object_calls_send(struct object_calls *calls, const struct object_request *request,
    struct arena *arena, struct object_reply *out, struct error *err)
{
    struct calling calling = { .request = request };
    const struct outgoing outgoing = { .connect_ms = request->timeout_ms / 2 + 1,
        .total_ms = request->timeout_ms,
        .ca = calls->ca,
        .is_given_up = is_given_up,
        .context = &calling };
    struct curl_slist *headers = outgoing_headers(request->headers);
    CURL *curl = headers ? borrow_handle(calls) : NULL;
    enum status status;

    if (curl) {
        buf_init(&calling.body, arena);
        set_request(curl, request);
        outgoing_set(curl, &outgoing);
        set_functions(curl, &calling);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        status = perform_call(curl, &calling, out, err);
        return_handle(calls, curl);
    } else {
        status = error_set(err, STATUS_UNAVAILABLE, "no memory for the call");
    }
    curl_slist_free_all(headers);
    return status;
}
