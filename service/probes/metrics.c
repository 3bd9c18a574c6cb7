/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.c - see the header. Each method has one counter per status code, followed by a histogram of
 * durations.
 */
#include "service/probes/metrics.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "rpc/code.h"
#include "service/http/door.h"
#include "service/methods.h"

enum { CODE_CANCELLED = 1, PER_METHOD = RPC_CODES + METRICS_SLOTS, LABEL_BYTES = 192 };

struct counters *metrics_calls_new(const struct service *service)
{
    return counters_new(methods_count(service) * PER_METHOD);
}

void metrics_count_call(struct counters *calls, struct rpc_call *call)
{
    size_t first = methods_index(call) * PER_METHOD;
    int code = rpc_call_is_cancelled(call) ? CODE_CANCELLED : rpc_call_code(call);

    counters_add(calls, first + (size_t)code, 1);
    metrics_observe_us(calls, first + RPC_CODES, clock_monotonic_us() - rpc_call_begun_us(call));
}

/* Whether a call lasts only as long as the store works on it, rather than as long as its caller asks for. */
static bool method_answers_at_once(const struct method *method)
{
    enum operation_wait wait = operation_kind_facts(method->operation)->wait;

    return method->events == &operation_call_events &&
           (wait == OPERATION_WAIT_NONE || wait == OPERATION_WAIT_FRESHNESS);
}

void metrics_read_calls(const struct service *service, struct metrics_calls *out)
{
    size_t count = methods_count(service);

    *out = (struct metrics_calls){ 0 };
    for (size_t i = 0; i < count; i++) {
        size_t first = i * PER_METHOD;

        for (size_t code = 0; code < RPC_CODES; code++) {
            uint64_t ended = counters_read(service->calls, first + code);

            out->ended += ended;
            out->failed += code == 0 ? 0 : ended;
        }
        for (size_t slot = 0; slot <= METRICS_BOUNDS && method_answers_at_once(*methods_at(service, i));
             slot++)
            out->durations[slot] += counters_read(service->calls, first + RPC_CODES + slot);
    }
}

void metrics_read_method(const struct service *service, size_t method, struct metrics_calls *out)
{
    size_t first = method * PER_METHOD;

    *out = (struct metrics_calls){ 0 };
    for (size_t code = 0; code < RPC_CODES; code++)
        out->ended += counters_read(service->calls, first + code);
    out->failed = out->ended - counters_read(service->calls, first);
    for (size_t slot = 0; slot <= METRICS_BOUNDS; slot++)
        out->durations[slot] = counters_read(service->calls, first + RPC_CODES + slot);
}

/* ---- text ---- */

/* The labels of a method: "/tavola.v1.EntityService/GetEntity" becomes EntityService and GetEntity. */
static void method_labels(const char *path, char out[LABEL_BYTES])
{
    const char *slash = strrchr(path, '/');

    snprintf(
        out, LABEL_BYTES, "service=\"%.*s\",method=\"%s\"", (int)(slash - path - 1), path + 1, slash + 1);
}

static void collect_calls(const struct service *service, struct buf *out)
{
    const struct counters *calls = service->calls;
    size_t count = methods_count(service);
    char labels[LABEL_BYTES], with_code[LABEL_BYTES + 64];

    metrics_family(out, "tavola_calls_total", "counter", "Calls that have ended, by their status code.");
    for (size_t i = 0; i < count; i++) {
        method_labels((*methods_at(service, i))->path, labels);
        for (size_t code = 0; code < RPC_CODES; code++) {
            uint64_t ended = counters_read(calls, i * PER_METHOD + code);

            if (ended == 0)
                continue;
            snprintf(with_code, sizeof(with_code), "%s,code=\"%s\"", labels, rpc_code_name((int)code));
            metrics_value(out, "tavola_calls_total", with_code, (double)ended);
        }
    }
    metrics_family(
        out, "tavola_call_duration_seconds", "histogram", "Time from a call's arrival to its end.");
    for (size_t i = 0; i < count; i++) {
        method_labels((*methods_at(service, i))->path, labels);
        metrics_durations(out, "tavola_call_duration_seconds", labels, calls, i * PER_METHOD + RPC_CODES);
    }
}

static const struct lane_value {
    const char *name, *type, *help;
    size_t offset;
} lane_values[] = {
    { "tavola_lane_waiting_operations", "gauge", "Operations that wait for their batch.",
        offsetof(struct lane_statistics, waiting) },
    { "tavola_lane_batches_total", "counter", "Batches taken.", offsetof(struct lane_statistics, batches) },
    { "tavola_lane_operations_total", "counter", "Operations taken, in batches.",
        offsetof(struct lane_statistics, operations) },
    { "tavola_lane_shed_total", "counter", "Operations shed as SERVER_BUSY: the lane was full.",
        offsetof(struct lane_statistics, refused) },
    { "tavola_lane_abandoned_total", "counter",
        "Operations dropped unsent: cancelled, or past their deadline.",
        offsetof(struct lane_statistics, late) },
};

static void lane_labels(const struct lane_statistics *lane, char out[LABEL_BYTES])
{
    snprintf(out, LABEL_BYTES, "lane=\"%s\"", lane->name);
}

static void collect_sizes(const struct lane_statistics *lane, struct buf *out)
{
    int64_t total = 0;

    for (int i = 0; i < LANE_SIZES; i++) {
        total += lane->sizes[i];
        buf_format(out, "tavola_lane_batch_operations_bucket{lane=\"%s\",le=\"%d\"} %lld\n", lane->name,
            1 << i, (long long)total);
    }
    buf_format(out,
        "tavola_lane_batch_operations_bucket{lane=\"%s\",le=\"+Inf\"} %lld\n"
        "tavola_lane_batch_operations_sum{lane=\"%s\"} %lld\ntavola_lane_batch_operations_count{lane=\"%s\"} "
        "%lld\n",
        lane->name, (long long)lane->batches, lane->name, (long long)lane->operations, lane->name,
        (long long)lane->batches);
}

static void collect_store(struct store *store, struct buf *out)
{
    struct store_statistics statistics;
    char labels[LABEL_BYTES];

    store_read_statistics(store, &statistics);
    for (size_t i = 0; i < ARRAY_LEN(lane_values); i++) {
        const struct lane_value *value = &lane_values[i];

        metrics_family(out, value->name, value->type, value->help);
        for (int lane = 0; lane < STORE_LANES; lane++) {
            int64_t number;

            memcpy(&number, (const char *)&statistics.lanes[lane] + value->offset, sizeof(number));
            lane_labels(&statistics.lanes[lane], labels);
            metrics_value(out, value->name, labels, (double)number);
        }
    }
    metrics_family(out, "tavola_lane_batch_operations", "histogram", "Operations per batch.");
    for (int lane = 0; lane < STORE_LANES; lane++)
        collect_sizes(&statistics.lanes[lane], out);
    metrics_family(out, "tavola_waiting_calls", "gauge", "Calls that wait for something to finish.");
    metrics_value(out, "tavola_waiting_calls", "", (double)statistics.waiting);
    metrics_family(out, "tavola_waiting_shed_total", "counter",
        "Waiting calls shed as SERVER_BUSY: too many wait already.");
    metrics_value(out, "tavola_waiting_shed_total", "", (double)statistics.waiting_refused);
    metrics_family(out, "tavola_database_available", "gauge", "1 while PostgreSQL answers.");
    metrics_value(out, "tavola_database_available", "", store_is_available(store));
}

static void collect_feeds(const struct service *service, struct buf *out)
{
    metrics_family(out, "tavola_open_watches", "gauge", "Watches of change feeds that are open.");
    metrics_value(out, "tavola_open_watches", "", (double)atomic_load(&service->watchers));
    metrics_family(out, "tavola_changes_sent_total", "counter", "Changes sent to watches.");
    metrics_value(out, "tavola_changes_sent_total", "", (double)atomic_load(&service->changes_told));
}

static void collect_blobs(const struct service *service, struct buf *out)
{
    metrics_family(out, "tavola_blob_bytes_total", "counter",
        "Bytes of the contents of blobs: in, received by puts, and out, sent by gets.");
    metrics_value(
        out, "tavola_blob_bytes_total", "direction=\"in\"", (double)atomic_load(&service->blob_bytes_in));
    metrics_value(
        out, "tavola_blob_bytes_total", "direction=\"out\"", (double)atomic_load(&service->blob_bytes_out));
}

static void collect_publisher(const struct publisher *publisher, struct buf *out)
{
    static const char *const labels[] = { [PUBLISHER_PUBLISHED] = "outcome=\"published\"",
        [PUBLISHER_FAILED] = "outcome=\"failed\"",
        [PUBLISHER_DROPPED] = "outcome=\"dropped\"" };

    metrics_family(out, "tavola_queue_published_total", "counter",
        "Intents handed to Redis after their commit: published, failed (Redis), dropped (no room).");
    for (int i = 0; i < PUBLISHER_OUTCOMES; i++)
        metrics_value(out, "tavola_queue_published_total", labels[i],
            (double)publisher_count(publisher, (enum publisher_outcome)i));
    metrics_family(
        out, "tavola_queue_available", "gauge", "1 while Redis takes what is published after commits.");
    metrics_value(out, "tavola_queue_available", "", publisher_is_heard(publisher));
}

static void collect_rates(const struct rates *rates, struct buf *out)
{
    static const char *const labels[RATE_SCOPES] = { "scope=\"account\"", "scope=\"partition\"",
        "scope=\"catalogue\"", "scope=\"inflated\"", "scope=\"traced\"" };

    metrics_family(out, "tavola_rate_limited_total", "counter",
        "Operations over a rate, shed as SERVER_BUSY; in the scope traced they are served without a trace.");
    for (int i = 0; i < RATE_SCOPES; i++)
        metrics_value(out, "tavola_rate_limited_total", labels[i],
            rates ? (double)rates_refused(rates, (enum rate_scope)i) : 0);
}

static void collect_audit(struct audit_log *log, struct buf *out)
{
    metrics_family(out, "tavola_audit_records_left_out_total", "counter",
        "Administrative calls without a change that have no audit record.");
    metrics_value(out, "tavola_audit_records_left_out_total", "", (double)atomic_load(&log->left_out));
}

static void collect_memory(struct memory_shares *memory, struct buf *out)
{
    metrics_family(out, "tavola_call_memory_shed_total", "counter",
        "Calls shed as SERVER_BUSY because the open calls of their account held too much memory.");
    metrics_value(out, "tavola_call_memory_shed_total", "", (double)atomic_load(&memory->refused));
}

static void collect_reasons(const struct rpc_connections *connections, bool refuses, struct buf *out)
{
    const char *name = refuses ? "tavola_connections_refused_total" : "tavola_connections_hung_up_total";
    char label[LABEL_BYTES];

    metrics_family(out, name, "counter",
        refuses ? "Connections closed before anything was read from them."
                : "Connections closed because of the bytes that arrived on them, or to make room.");
    for (int i = 1; i < RPC_REASONS; i++) {
        if (rpc_server_reason_refuses(i) != refuses)
            continue;
        snprintf(label, sizeof(label), "reason=\"%s\"", rpc_server_reason_name(i));
        metrics_value(out, name, label, (double)connections->reasons[i]);
    }
}

static void collect_connections(struct rpc_server *rpc, struct buf *out)
{
    struct rpc_connections connections;

    rpc_server_read_connections(rpc, &connections);
    metrics_family(out, "tavola_connections", "gauge",
        "Open connections: those on which a call has been admitted, and the others.");
    metrics_value(out, "tavola_connections", "state=\"authenticated\"", connections.authenticated);
    metrics_value(
        out, "tavola_connections", "state=\"unauthenticated\"", connections.open - connections.authenticated);
    collect_reasons(&connections, true, out);
    collect_reasons(&connections, false, out);
    metrics_family(out, "tavola_open_method_calls_refused_total", "counter",
        "Calls of health and reflection refused: too many were open.");
    metrics_value(out, "tavola_open_method_calls_refused_total", "", (double)connections.open_calls_refused);
    metrics_family(out, "tavola_rpc_helper_starts_total", "counter",
        "How often one more thread began to serve calls, because the others were busy or late.");
    metrics_value(out, "tavola_rpc_helper_starts_total", "", (double)connections.helped);
}

static void collect_http_connections(const struct http_connections *connections, struct buf *out)
{
    char label[LABEL_BYTES];

    metrics_family(out, "tavola_http_connections", "gauge",
        "Open connections over HTTP: those with a request that is not answered yet, and the others.");
    metrics_value(out, "tavola_http_connections", "state=\"busy\"", connections->busy);
    metrics_value(out, "tavola_http_connections", "state=\"idle\"", connections->open - connections->busy);
    metrics_family(out, "tavola_http_connections_closed_total", "counter",
        "Connections over HTTP that the server has closed.");
    for (int i = 0; i < HTTP_REASONS; i++) {
        snprintf(label, sizeof(label), "reason=\"%s\"", http_server_reason_name((enum http_reason)i));
        metrics_value(out, "tavola_http_connections_closed_total", label, (double)connections->closed[i]);
    }
}

static void collect_http(const struct metrics_sources *sources, struct buf *out)
{
    const struct service *service = sources->service;
    struct http_connections connections = { 0 };
    char label[LABEL_BYTES];

    if (sources->http)
        http_server_read_connections(sources->http, &connections);
    collect_http_connections(&connections, out);
    metrics_family(out, "tavola_http_requests_total", "counter",
        "Requests over HTTP, by the protocol that they were recognised as; other: by none.");
    for (size_t i = 0; i <= service->door_count; i++) {
        snprintf(
            label, sizeof(label), "door=\"%s\"", i < service->door_count ? service->doors[i]->name : "other");
        metrics_value(
            out, "tavola_http_requests_total", label, (double)counters_read(service->http_requests, i));
    }
}

void metrics_collect(void *context, struct buf *out)
{
    const struct metrics_sources *sources = context;

    metrics_process(out, TAVOLA_VERSION);
    metrics_family(out, "tavola_open_calls", "gauge", "Calls that have begun and not ended.");
    metrics_value(out, "tavola_open_calls", "", rpc_server_open_calls(sources->rpc));
    metrics_family(
        out, "tavola_memory_limit_bytes", "gauge", "The bound that the server's memory stays below.");
    metrics_value(out, "tavola_memory_limit_bytes", "", (double)sources->memory_limit_bytes);
    collect_connections(sources->rpc, out);
    collect_http(sources, out);
    collect_calls(sources->service, out);
    collect_store(sources->service->store, out);
    collect_rates(sources->service->rates, out);
    collect_audit(&sources->service->audit_log, out);
    collect_memory(&sources->service->memory, out);
    collect_feeds(sources->service, out);
    collect_blobs(sources->service, out);
    sampler_collect(&sources->service->sampler, out);
    collect_publisher(sources->publisher, out);
    exporter_collect(sources->service->tracing.exporter, out);
}
