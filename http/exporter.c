/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter.c - two buffers: callers fill one under a lock that is held for a copy, the thread takes
 * it whole and posts it. In the buffer each span stands behind its length.
 */
#include "http/exporter.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/condition.h"
#include "base/log.h"
#include "base/log_repeat.h"
#include "base/metrics.h"
#include "http/outgoing.h"

enum {
    COLLECT_US = 500000, /* from the first span to its POST: others join it */
    CONNECT_MS = 2000,
    POST_MS = 5000,
    LAST_US = 1000000, /* after the stop */
    CODE_OK_FIRST = 200,
    CODE_OK_LAST = 299,
};

static const char path_of_traces[] = "/v1/traces";

struct exporter {
    struct exporter_options options;
    char *url;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *waiting; /* EXPORTER_MAX_BYTES; under the lock, with what follows */
    size_t bytes, spans;
    bool stopping;
    atomic_uint_least64_t sent, dropped;
    atomic_llong give_up_us; /* by clock_monotonic_us */
    char *taken;             /* the thread's, as is what follows */
    struct outgoing outgoing;
    CURL *http;
    struct log_repeat failures;
};

void exporter_add(struct exporter *exporter, struct str span)
{
    uint32_t length = (uint32_t)span.len;
    bool fits;

    pthread_mutex_lock(&exporter->lock);
    fits = span.len <= EXPORTER_MAX_BYTES - sizeof(length) &&
           exporter->bytes + sizeof(length) + span.len <= EXPORTER_MAX_BYTES;
    if (fits) {
        memcpy(exporter->waiting + exporter->bytes, &length, sizeof(length));
        memcpy(exporter->waiting + exporter->bytes + sizeof(length), span.data, span.len);
        exporter->bytes += sizeof(length) + span.len;
        if (exporter->spans++ == 0)
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

/* The library asks again and again while it waits. */
static bool is_given_up(void *context)
{
    const struct exporter *exporter = context;

    return clock_monotonic_us() >= atomic_load(&exporter->give_up_us);
}

static void note_failure(struct exporter *exporter, const char *why)
{
    if (log_repeat_failed(&exporter->failures, why, clock_monotonic_us()))
        log_event(LOG_WARN, "export", log_text("what", "spans"), log_text("status", "failed"),
            log_text("why", why), log_number("failures", exporter->failures.failures));
}

static void note_success(struct exporter *exporter)
{
    struct log_repeat ended;

    if (log_repeat_worked(&exporter->failures, clock_monotonic_us(), &ended))
        log_event(LOG_INFO, "export", log_text("what", "spans"), log_text("status", "OK"),
            log_number("failures", ended.failures));
}

/*
 * The headers of one POST; NULL: memory is short. The credential may have been renewed since the
 * last POST, so it is read again.
 */
static enum status read_headers(
    const struct exporter *exporter, struct arena *arena, struct curl_slist **out, struct error *err)
{
    struct curl_slist *list =
        curl_slist_append(curl_slist_append(NULL, "Content-Type: application/x-protobuf"), "Expect:");
    struct trace_headers headers = { 0 };
    enum status status = trace_settings_read_headers(exporter->options.settings, arena, &headers, err);
    struct buf line;

    for (size_t i = 0; i < headers.count && status == STATUS_OK; i++) {
        buf_init(&line, arena);
        buf_format(&line, "%.*s: %.*s", STR_ARG(headers.items[i].name), STR_ARG(headers.items[i].value));
        buf_append_byte(&line, '\0');
        list = curl_slist_append(list, buf_str(&line).data);
    }
    if (status != STATUS_OK) {
        curl_slist_free_all(list);
        return status;
    }
    *out = list;
    return STATUS_OK;
}

/* Whether the collector has accepted the body; false: `why` says why not. */
static bool perform_post(
    struct exporter *exporter, struct curl_slist *headers, struct str body, char *why, size_t bytes)
{
    long code = 0;
    CURLcode result;

    curl_easy_setopt(exporter->http, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(exporter->http, CURLOPT_POSTFIELDS, body.data);
    curl_easy_setopt(exporter->http, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    result = curl_easy_perform(exporter->http);
    curl_easy_setopt(exporter->http, CURLOPT_HTTPHEADER, NULL);
    if (result != CURLE_OK) {
        snprintf(why, bytes, "%s", curl_easy_strerror(result));
        return false;
    }
    curl_easy_getinfo(exporter->http, CURLINFO_RESPONSE_CODE, &code);
    snprintf(why, bytes, "the collector answers %ld", code);
    return code >= CODE_OK_FIRST && code <= CODE_OK_LAST;
}

static bool post_body(struct exporter *exporter, struct arena *arena, struct str body)
{
    char why[LOG_REPEAT_CAUSE_BYTES];
    struct curl_slist *headers = NULL;
    struct error err = { 0 };
    bool sent = false;

    if (is_given_up(exporter))
        return false;
    if (read_headers(exporter, arena, &headers, &err) != STATUS_OK)
        snprintf(why, sizeof(why), "%.*s", (int)sizeof(why) - 1, err.message);
    else
        sent = perform_post(exporter, headers, body, why, sizeof(why));
    curl_slist_free_all(headers);
    if (sent)
        note_success(exporter);
    else
        note_failure(exporter, why);
    return sent;
}

static void send_spans(struct exporter *exporter, const struct str *spans, size_t count)
{
    struct arena arena;
    struct buf body;

    arena_init(&arena);
    buf_init(&body, &arena);
    exporter->options.write_body(exporter->options.context, spans, count, &body);
    atomic_fetch_add(
        post_body(exporter, &arena, buf_str(&body)) ? &exporter->sent : &exporter->dropped, count);
    arena_cleanup(&arena);
}

static void send_taken(struct exporter *exporter, size_t bytes)
{
    struct str spans[EXPORTER_MAX_SPANS];
    size_t at = 0, count = 0;

    while (at < bytes) {
        uint32_t length;

        memcpy(&length, exporter->taken + at, sizeof(length));
        spans[count++] = str_of_bytes(exporter->taken + at + sizeof(length), length);
        at += sizeof(length) + length;
        if (count == EXPORTER_MAX_SPANS || at == bytes) {
            send_spans(exporter, spans, count);
            count = 0;
        }
    }
}

/*
 * Wait until there are spans, and a moment for more. Returns how many bytes were taken; 0: stop.
 */
static size_t take_waiting(struct exporter *exporter)
{
    char *taken = exporter->taken;
    size_t bytes;
    int64_t until_us;

    pthread_mutex_lock(&exporter->lock);
    while (exporter->spans == 0 && !exporter->stopping)
        condition_wait_until(&exporter->changed, &exporter->lock, INT64_MAX);
    until_us = clock_monotonic_us() + COLLECT_US;
    while (!exporter->stopping && exporter->spans > 0 &&
           condition_wait_until(&exporter->changed, &exporter->lock, until_us))
        continue;
    exporter->taken = exporter->waiting;
    exporter->waiting = taken;
    bytes = exporter->bytes;
    exporter->bytes = 0;
    exporter->spans = 0;
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

static bool open_http(struct exporter *exporter)
{
    exporter->outgoing = (struct outgoing){ .connect_ms = CONNECT_MS,
        .total_ms = POST_MS,
        .ca = trace_settings_ca(exporter->options.settings),
        .is_given_up = is_given_up,
        .context = exporter };
    exporter->http = outgoing_open(&exporter->outgoing);
    if (!exporter->http)
        return false;
    curl_easy_setopt(exporter->http, CURLOPT_URL, exporter->url);
    curl_easy_setopt(exporter->http, CURLOPT_POST, 1L);
    curl_easy_setopt(exporter->http, CURLOPT_WRITEFUNCTION, ignore_answer);
    return true;
}

static void free_exporter(struct exporter *exporter)
{
    curl_easy_cleanup(exporter->http);
    pthread_cond_destroy(&exporter->changed);
    pthread_mutex_destroy(&exporter->lock);
    free(exporter->waiting);
    free(exporter->taken);
    free(exporter->url);
    free(exporter);
}

/* endpoint, "/v1/traces" */
static char *url_below(const char *endpoint)
{
    size_t length = strlen(endpoint);
    char *url = xcalloc(1, length + sizeof(path_of_traces));

    while (length > 0 && endpoint[length - 1] == '/')
        length--;
    memcpy(url, endpoint, length);
    memcpy(url + length, path_of_traces, sizeof(path_of_traces));
    return url;
}

/* What is wrong with the settings of the collector is said at the start, not with the first span. */
static enum status check_settings(const struct trace_settings *settings, struct error *err)
{
    const char *ca = trace_settings_ca(settings);
    struct trace_headers headers;
    struct arena arena;
    enum status status;

    if (ca && access(ca, R_OK) != 0)
        return error_set(
            err, STATUS_INVALID, "the collector's authorities: %s: %s (TAVOLA_OTLP_CA)", ca, strerror(errno));
    arena_init(&arena);
    status = trace_settings_read_headers(settings, &arena, &headers, err);
    arena_cleanup(&arena);
    return status;
}

enum status exporter_start(const struct exporter_options *options, struct exporter **out, struct error *err)
{
    const char *endpoint = trace_settings_endpoint(options->settings);
    struct exporter *exporter;

    *out = NULL;
    if (!endpoint)
        return STATUS_OK;
    TRY(check_settings(options->settings, err));
    exporter = xcalloc(1, sizeof(*exporter));
    exporter->options = *options;
    atomic_init(&exporter->give_up_us, INT64_MAX);
    exporter->url = url_below(endpoint);
    exporter->waiting = xcalloc(1, EXPORTER_MAX_BYTES);
    exporter->taken = xcalloc(1, EXPORTER_MAX_BYTES);
    pthread_mutex_init(&exporter->lock, NULL);
    condition_init(&exporter->changed);
    if (!open_http(exporter) || pthread_create(&exporter->thread, NULL, run_exporter, exporter) != 0) {
        free_exporter(exporter);
        return error_set(err, STATUS_INTERNAL, "the thread that sends spans cannot be started");
    }
    log_event(LOG_INFO, "export", log_text("what", "spans"), log_text("to", exporter->url));
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
