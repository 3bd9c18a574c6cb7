/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outgoing.c - see the header. Some options have the defaults of libcurl: they are set because more depends on them
 * than a default may decide.
 */
#include "http/outgoing.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode initialized;

static void initialize(void)
{
    initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static int look_for_end(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct outgoing *outgoing = context;

    (void)a, (void)b, (void)c, (void)d;
    return outgoing->is_given_up && outgoing->is_given_up(outgoing->context);
}

CURL *outgoing_handle(void)
{
    pthread_once(&once, initialize);
    return initialized == CURLE_OK ? curl_easy_init() : NULL;
}

void outgoing_set(CURL *curl, const struct outgoing *outgoing)
{
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "tavola");
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, (long)outgoing->connect_ms);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)outgoing->total_ms);
    if (!outgoing->uses_proxy)
        curl_easy_setopt(curl, CURLOPT_PROXY, "");
    if (outgoing->ca)
        curl_easy_setopt(curl, CURLOPT_CAINFO, outgoing->ca);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, look_for_end);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, (void *)(uintptr_t)outgoing);
}

CURL *outgoing_open(const struct outgoing *outgoing)
{
    CURL *curl = outgoing_handle();

    if (curl)
        outgoing_set(curl, outgoing);
    return curl;
}

/* An empty "Expect:" keeps the request from waiting for "100 Continue". */
struct curl_slist *outgoing_headers(const char *const *headers)
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
