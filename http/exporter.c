/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter.c - two buffers: callers fill one under a lock that is held for a copy, the thread takes
 * it whole and posts it. In the buffer each piece stands behind its length.
 */
#include "http/exporter.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/log_repeat.h"
#include "base/metrics.h"

enum {
    COLLECT_US = 500000, /* from the first piece to its POST: others join it */
    CONNECT_MS = 2000,
    POST_MS = 5000,
    LAST_US = 1000000, /* after the stop */
    CODE_OK_FIRST = 200,
    CODE_OK_LAST = 299,
};

struct exporter {
    struct exporter_options options;
    char *url;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *waiting; /* EXPORTER_MAX_BYTES; under the lock, with what follows */
    size_t bytes, pieces;
    bool stopping;
    atomic_uint_least64_t sent, dropped;
    atomic_llong give_up_us; /* by clock_monotonic_us */
    char *taken;             /* the thread's, as is what follows */
    CURL *http;
    struct curl_slist *headers;
    struct log_repeat failures;
};

void exporter_add(struct exporter *exporter, struct str piece)
{
    uint32_t length = (uint32_t)piece.len;
    bool fits;

    pthread_mutex_lock(&exporter->lock);
    fits = piece.len <= EXPORTER_MAX_BYTES - sizeof(length) &&
           exporter->bytes + sizeof(length) + piece.len <= EXPORTER_MAX_BYTES;
    if (fits) {
        memcpy(exporter->waiting + exporter->bytes, &length, sizeof(length));
        memcpy(exporter->waiting + exporter->bytes + sizeof(length), piece.data, piece.len);
        exporter->bytes += sizeof(length) + piece.len;
        if (exporter->pieces++ == 0)
            pthread_cond_signal(&exporter->changed);
    }
    pthread_mutex_unlock(&exporter->lock);
    if (!fits)
        atomic_fetch_add(&exporter->dropped, 1);
}

/* ---- the thread ---- */

static size_t ignore_answer(char *data, size_t size, size_t count, void *context)
{
    (void)data;
    (void)context;
    return size * count;
}

static bool is_given_up(struct exporter *exporter)
{
    return clock_monotonic_us() >= atomic_load(&exporter->give_up_us);
}

/* The library asks again and again while it waits; not 0: it gives up. */
static int look_for_end(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    (void)a, (void)b, (void)c, (void)d;
    return is_given_up(context);
}

static void note_failure(struct exporter *exporter, const char *why)
{
    if (log_repeat_failed(&exporter->failures, why, clock_monotonic_us()))
        log_event(LOG_WARN, "export", log_text("what", exporter->options.name), log_text("status", "failed"),
            log_text("why", why), log_number("failures", exporter->failures.failures));
}

static void note_success(struct exporter *exporter)
{
    struct log_repeat ended;

    if (log_repeat_worked(&exporter->failures, clock_monotonic_us(), &ended))
        log_event(LOG_INFO, "export", log_text("what", exporter->options.name), log_text("status", "OK"),
            log_number("failures", ended.failures));
}

static bool post_body(struct exporter *exporter, struct str body)
{
    char why[LOG_REPEAT_CAUSE_BYTES];
    long code = 0;
    CURLcode result;

    if (is_given_up(exporter))
        return false;
    curl_easy_setopt(exporter->http, CURLOPT_POSTFIELDS, body.data);
    curl_easy_setopt(exporter->http, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    result = curl_easy_perform(exporter->http);
    if (result == CURLE_OK)
        curl_easy_getinfo(exporter->http, CURLINFO_RESPONSE_CODE, &code);
    if (code >= CODE_OK_FIRST && code <= CODE_OK_LAST) {
        note_success(exporter);
        return true;
    }
    if (result == CURLE_OK)
        snprintf(why, sizeof(why), "the collector answers %ld", code);
    else
        snprintf(why, sizeof(why), "%s", curl_easy_strerror(result));
    note_failure(exporter, why);
    return false;
}

static void send_pieces(struct exporter *exporter, const struct str *pieces, size_t count)
{
    struct arena arena;
    struct buf body;

    arena_init(&arena);
    buf_init(&body, &arena);
    exporter->options.write_body(exporter->options.context, pieces, count, &body);
    atomic_fetch_add(post_body(exporter, buf_str(&body)) ? &exporter->sent : &exporter->dropped, count);
    arena_cleanup(&arena);
}

static void send_taken(struct exporter *exporter, size_t bytes)
{
    struct str pieces[EXPORTER_MAX_PIECES];
    size_t at = 0, count = 0;

    while (at < bytes) {
        uint32_t length;

        memcpy(&length, exporter->taken + at, sizeof(length));
        pieces[count++] = str_of_bytes(exporter->taken + at + sizeof(length), length);
        at += sizeof(length) + length;
        if (count == EXPORTER_MAX_PIECES || at == bytes) {
            send_pieces(exporter, pieces, count);
            count = 0;
        }
    }
}

/*
 * Wait until there are pieces, and a moment for more. Returns how many bytes were taken; 0: stop.
 */
static size_t take_waiting(struct exporter *exporter)
{
    char *taken = exporter->taken;
    size_t bytes;
    int64_t until_us;

    pthread_mutex_lock(&exporter->lock);
    while (exporter->pieces == 0 && !exporter->stopping)
        condition_wait_until(&exporter->changed, &exporter->lock, INT64_MAX);
    until_us = clock_monotonic_us() + COLLECT_US;
    while (!exporter->stopping && exporter->pieces > 0 &&
           condition_wait_until(&exporter->changed, &exporter->lock, until_us))
        continue;
    exporter->taken = exporter->waiting;
    exporter->waiting = taken;
    bytes = exporter->bytes;
    exporter->bytes = 0;
    exporter->pieces = 0;
    pthread_mutex_unlock(&exporter->lock);
    return bytes;
}

static void *run_exporter(void *argument)
{
    struct exporter *exporter = argument;
    size_t bytes;

    while ((bytes = take_waiting(exporter)) > 0)
        send_taken(exporter, bytes);
    return NULL;
}

/* ---- start and stop ---- */

/* Only to the collector itself: no proxy of the environment, no redirection, no other protocol. */
static bool open_http(struct exporter *exporter)
{
    char type[128];

    snprintf(type, sizeof(type), "Content-Type: %s", exporter->options.content_type);
    exporter->http = curl_easy_init();
    exporter->headers = curl_slist_append(curl_slist_append(NULL, type), "Expect:");
    if (!exporter->http || !exporter->headers)
        return false;
    curl_easy_setopt(exporter->http, CURLOPT_URL, exporter->url);
    curl_easy_setopt(exporter->http, CURLOPT_HTTPHEADER, exporter->headers);
    curl_easy_setopt(exporter->http, CURLOPT_POST, 1L);
    curl_easy_setopt(exporter->http, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(exporter->http, CURLOPT_PROXY, "");
    curl_easy_setopt(exporter->http, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(exporter->http, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
    curl_easy_setopt(exporter->http, CURLOPT_TIMEOUT_MS, (long)POST_MS);
    curl_easy_setopt(exporter->http, CURLOPT_USERAGENT, "tavola");
    curl_easy_setopt(exporter->http, CURLOPT_WRITEFUNCTION, ignore_answer);
    curl_easy_setopt(exporter->http, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(exporter->http, CURLOPT_XFERINFOFUNCTION, look_for_end);
    curl_easy_setopt(exporter->http, CURLOPT_XFERINFODATA, exporter);
    return true;
}

static void free_exporter(struct exporter *exporter)
{
    curl_slist_free_all(exporter->headers);
    curl_easy_cleanup(exporter->http);
    pthread_cond_destroy(&exporter->changed);
    pthread_mutex_destroy(&exporter->lock);
    free(exporter->waiting);
    free(exporter->taken);
    free(exporter->url);
    free(exporter);
}

enum status exporter_start(const struct exporter_options *options, struct exporter **out, struct error *err)
{
    struct exporter *exporter = xcalloc(1, sizeof(*exporter));

    exporter->options = *options;
    atomic_init(&exporter->give_up_us, INT64_MAX);
    exporter->url = xcalloc(1, strlen(options->url) + 1);
    memcpy(exporter->url, options->url, strlen(options->url));
    exporter->waiting = xcalloc(1, EXPORTER_MAX_BYTES);
    exporter->taken = xcalloc(1, EXPORTER_MAX_BYTES);
    pthread_mutex_init(&exporter->lock, NULL);
    condition_init(&exporter->changed);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || !open_http(exporter) ||
        pthread_create(&exporter->thread, NULL, run_exporter, exporter) != 0) {
        free_exporter(exporter);
        return error_set(err, STATUS_INTERNAL, "the thread that sends %s cannot be started", options->name);
    }
    log_event(LOG_INFO, "export", log_text("what", options->name), log_text("to", options->url));
    *out = exporter;
    return STATUS_OK;
}

void exporter_collect(struct exporter *exporter, struct buf *out)
{
    metrics_family(out, "tavola_spans_total", "counter",
        "Spans of traces: sent to the collector, and dropped because it was slow, away or refused them.");
    metrics_value(
        out, "tavola_spans_total", "outcome=\"sent\"", exporter ? (double)atomic_load(&exporter->sent) : 0);
    metrics_value(out, "tavola_spans_total", "outcome=\"dropped\"",
        exporter ? (double)atomic_load(&exporter->dropped) : 0);
}

void exporter_stop(struct exporter *exporter)
{
    if (!exporter)
        return;
    atomic_store(&exporter->give_up_us, clock_monotonic_us() + LAST_US);
    pthread_mutex_lock(&exporter->lock);
    exporter->stopping = true;
    pthread_cond_signal(&exporter->changed);
    pthread_mutex_unlock(&exporter->lock);
    pthread_join(exporter->thread, NULL);
    free_exporter(exporter);
}
