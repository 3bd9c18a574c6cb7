/* SPDX-License-Identifier: Apache-2.0 */
/*
 * post.c - see the header.
 */
#include "http/post.h"

#include <curl/curl.h>

#include "base/buf.h"
#include "http/outgoing.h"

struct posting {
    struct buf body;
    size_t header_bytes;
    bool is_cut; /* the body is longer than what is kept */
};

/* Keep the beginning of the body. To take less than what has arrived ends the call. */
static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct posting *posting = context;
    size_t len = size * count, room = POST_REPLY_BYTES - posting->body.len;

    posting->is_cut = len > room;
    buf_append(&posting->body, str_of_bytes(data, posting->is_cut ? room : len));
    return posting->is_cut ? 0 : len;
}

/* Headers are not kept; without a bound they would arrive until the time is over. */
static size_t count_header(char *data, size_t size, size_t count, void *context)
{
    struct posting *posting = context;

    (void)data;
    posting->header_bytes += size * count;
    return posting->header_bytes > POST_HEADER_BYTES ? 0 : size * count;
}

static void set_request(CURL *curl, const struct post_request *request)
{
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    if (request->is_put)
        curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "PUT");
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body.len > 0 ? request->body.data : "");
}

static void set_functions(CURL *curl, struct posting *posting)
{
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, posting);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, count_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, posting);
}

static enum status perform_call(
    CURL *curl, struct posting *posting, struct post_reply *out, struct error *err)
{
    CURLcode result = curl_easy_perform(curl);
    long code = 0;

    if (result == CURLE_ABORTED_BY_CALLBACK)
        return error_set(err, STATUS_CANCELLED, "the call was given up");
    if (result != CURLE_OK && !(result == CURLE_WRITE_ERROR && posting->is_cut))
        return error_set(err, STATUS_UNAVAILABLE, "%s",
            posting->header_bytes > POST_HEADER_BYTES ? "the headers of the answer are too long"
                                                      : curl_easy_strerror(result));
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    *out = (struct post_reply){ (int)code, buf_str(&posting->body) };
    return STATUS_OK;
}

enum status post_send(
    const struct post_request *request, struct arena *arena, struct post_reply *out, struct error *err)
{
    const struct outgoing outgoing = { .connect_ms = request->timeout_ms / 2,
        .total_ms = request->timeout_ms,
        .ca = request->ca,
        .is_given_up = request->is_given_up,
        .context = request->context };
    struct posting posting = { .header_bytes = 0 };
    struct curl_slist *headers;
    enum status status;
    CURL *curl = outgoing_open(&outgoing);

    headers = curl ? outgoing_headers(request->headers) : NULL;
    if (headers) {
        buf_init(&posting.body, arena);
        set_request(curl, request);
        set_functions(curl, &posting);
        curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
        status = perform_call(curl, &posting, out, err);
    } else {
        status = error_set(err, STATUS_UNAVAILABLE, "no memory for the call");
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return status;
}
