/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch.c - see the header.
 */
#include "http/fetch.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/macros.h"
#include "http/outgoing.h"

enum { CONNECT_MS = 10000, TOTAL_MS = 60000 };

struct fetch {
    CURL *curl;
    struct outgoing outgoing;
    bool (*is_given_up)(void);
    struct buf body, headers; /* of the reply that arrives */
    bool is_too_large;
};

/* Keep what has arrived. Returns 0, which ends the call, if it is too much. */
static size_t keep_bytes(struct fetch *fetch, struct buf *kept, struct str bytes)
{
    fetch->is_too_large = kept->len + bytes.len > FETCH_MAX_BYTES;
    if (fetch->is_too_large)
        return 0;
    buf_append(kept, bytes);
    return bytes.len;
}

static size_t take_body(char *data, size_t size, size_t count, void *context)
{
    struct fetch *fetch = context;

    return keep_bytes(fetch, &fetch->body, str_of_bytes(data, size * count));
}

static size_t take_header(char *data, size_t size, size_t count, void *context)
{
    struct fetch *fetch = context;

    return keep_bytes(fetch, &fetch->headers, str_of_bytes(data, size * count));
}

static bool ask_owner(void *context)
{
    const struct fetch *fetch = context;

    return fetch->is_given_up();
}

struct fetch *fetch_open(bool (*is_given_up)(void))
{
    struct fetch *fetch = xcalloc(1, sizeof(*fetch));

    fetch->is_given_up = is_given_up;
    fetch->outgoing = (struct outgoing){ .connect_ms = CONNECT_MS,
        .total_ms = TOTAL_MS,
        .uses_proxy = true,
        .is_given_up = ask_owner,
        .context = fetch };
    fetch->curl = outgoing_open(&fetch->outgoing);
    if (!fetch->curl) {
        free(fetch);
        return NULL;
    }
    curl_easy_setopt(fetch->curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(fetch->curl, CURLOPT_WRITEDATA, fetch);
    curl_easy_setopt(fetch->curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(fetch->curl, CURLOPT_HEADERDATA, fetch);
    return fetch;
}

void fetch_close(struct fetch *fetch)
{
    if (!fetch)
        return;
    curl_easy_cleanup(fetch->curl);
    free(fetch);
}

static enum status failure(const struct fetch *fetch, CURLcode code, struct error *err)
{
    if (fetch->is_too_large)
        return error_set(err, STATUS_LIMIT, "the answer has more than %d bytes", FETCH_MAX_BYTES);
    if (code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL)
        return error_set(err, STATUS_INVALID, "%s", curl_easy_strerror(code));
    return error_set(err, STATUS_UNAVAILABLE, "%s", curl_easy_strerror(code));
}

enum status fetch_get(struct fetch *fetch, const char *url, const char *const *headers, struct arena *arena,
    struct fetch_reply *out, struct error *err)
{
    struct curl_slist *list = NULL;
    CURLcode code;
    long status = 0;

    for (; *headers; headers++)
        list = curl_slist_append(list, *headers);
    buf_init(&fetch->body, arena);
    buf_init(&fetch->headers, arena);
    fetch->is_too_large = false;
    curl_easy_setopt(fetch->curl, CURLOPT_URL, url);
    curl_easy_setopt(fetch->curl, CURLOPT_HTTPHEADER, list);
    code = curl_easy_perform(fetch->curl);
    curl_easy_setopt(fetch->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(list);
    if (code != CURLE_OK)
        return failure(fetch, code, err);
    curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
    *out = (struct fetch_reply){ (int)status, buf_str(&fetch->body), buf_str(&fetch->headers) };
    return STATUS_OK;
}

struct str fetch_header(const struct fetch_reply *reply, const char *name)
{
    struct str rest = reply->headers;
    size_t len = strlen(name);

    while (rest.len > 0) {
        struct str line = str_take(&rest, '\n');

        if (line.len > len && line.data[len] == ':' && strncasecmp(line.data, name, len) == 0)
            return str_trim(str_from(line, len + 1), " \t\r");
    }
    return STR_EMPTY;
}
