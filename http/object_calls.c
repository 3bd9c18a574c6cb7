/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object_calls.c - see the header. Each handle has a connection of its own, and belongs to one call at a time.
 */
#include "http/object_calls.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/macros.h"

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
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort(); /* no memory */
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
    return curl ? curl : curl_easy_init();
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

static int look_for_end(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct object_request *request = ((const struct calling *)context)->request;

    (void)a, (void)b, (void)c, (void)d;
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
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "tavola");
}

static void set_limits(CURL *curl, const struct object_request *request, const char *ca)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    if (ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, ca);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)(request->timeout_ms / 2 + 1));
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)request->timeout_ms);
}

static void set_functions(CURL *curl, struct calling *calling)
{
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, calling);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, calling);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_end);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, calling);
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

/* NULL: out of memory. An empty "Expect:" keeps the request from waiting for "100 Continue". */
static struct curl_slist *header_list(const char *const *headers)
{
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");

    for (; list && *headers; headers++) {
        struct curl_slist *longer = curl_slist_append(list, *headers);

        if (!longer)
            curl_slist_free_all(list);
        list = longer;
    }
    return list;
}

enum status object_calls_send(struct object_calls *calls, const struct object_request *request,
    struct arena *arena, struct object_reply *out, struct error *err)
{
    struct calling calling = { .request = request };
    struct curl_slist *headers = header_list(request->headers);
    CURL *curl = headers ? borrow_handle(calls) : NULL;
    enum status status;

    if (curl) {
        buf_init(&calling.body, arena);
        set_request(curl, request);
        set_limits(curl, request, calls->ca);
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
