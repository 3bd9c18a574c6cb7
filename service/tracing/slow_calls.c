/* SPDX-License-Identifier: Apache-2.0 */
/* slow_calls.c - see the header. */
#include "service/tracing/slow_calls.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "domain/account_id.h"
#include "domain/limits.h"
#include "service/tracing/call_parts.h"

enum { NAME_BYTES = 128 };

static const char id_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";

static void copy_id(struct str id, char out[SLOW_CALLS_ID_BYTES])
{
    size_t length = id.len < SLOW_CALLS_ID_BYTES ? id.len : SLOW_CALLS_ID_BYTES - 1;

    if (length == 0)
        return;
    memcpy(out, id.data, length);
    out[length] = '\0';
    if (strspn(out, id_characters) != length)
        out[0] = '\0';
}

void slow_calls_read_ids(struct rpc_call *call, struct call_ids *out)
{
    struct trace_context context;

    *out = (struct call_ids){ 0 };
    if (trace_context_parse(rpc_call_metadata(call, "traceparent"), &context))
        trace_context_format_id(&context, out->trace);
    copy_id(rpc_call_metadata(call, "x-request-id"), out->request);
    if (!out->request[0])
        copy_id(rpc_call_metadata(call, "x-ms-client-request-id"), out->request);
}

static const char *copy_name(struct str name, char out[NAME_BYTES])
{
    snprintf(out, NAME_BYTES, "%.*s", STR_ARG(name));
    return out;
}

bool slow_calls_draw_line(struct slow_calls_lines *lines, int64_t now_us, int64_t *left_out)
{
    if (!token_bucket_draw(&lines->bucket, now_us, SLOW_CALLS_BURST_US, SLOW_CALLS_COST_US)) {
        lines->left_out++;
        return false;
    }
    *left_out = lines->left_out;
    lines->left_out = 0;
    return true;
}

/* The lines of the process, which has one log. */
static bool draw_line(int64_t *left_out)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static struct slow_calls_lines lines;
    bool drawn;

    pthread_mutex_lock(&lock);
    drawn = slow_calls_draw_line(&lines, clock_monotonic_us(), left_out);
    pthread_mutex_unlock(&lock);
    return drawn;
}

void slow_calls_note(const struct call_end *end, int64_t slow_us)
{
    char account[NAME_BYTES], table[NAME_BYTES];
    struct call_parts parts;
    struct call_ids ids;
    int64_t left_out = 0;
    bool is_slow;

    call_parts_read(end, &parts);
    is_slow = slow_us > 0 && parts.duration_us >= slow_us && !end->awaits_event && draw_line(&left_out);
    if (!is_slow && (end->failure || !log_wants(LOG_DEBUG))) /* call_fail logs failures */
        return;
    slow_calls_read_ids(end->call, &ids);
    log_event(is_slow ? LOG_WARN : LOG_DEBUG, is_slow ? "slow_call" : "call", log_text("method", end->path),
        log_text("status", end->failure ? end->failure : "OK"), log_number("duration_us", parts.duration_us),
        log_number("queue_us", parts.queue_us), log_number("database_us", parts.database_us),
        log_text("account", copy_name(account_id_name(end->account), account)),
        log_text("table", copy_name(parts.table, table)),
        log_text("access_path", parts.access_path ? parts.access_path : ""),
        log_number("rows_examined", parts.rows_examined), log_text("request_id", ids.request),
        log_text("trace_id", ids.trace), log_number("left_out", left_out));
}
