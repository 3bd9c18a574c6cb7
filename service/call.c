/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.c - see the header.
 */
#include "service/call.h"

#include "api/codec.h"
#include "api/codec_error.h"
#include "base/log.h"
#include "domain/catalogue/table_name.h"
#include "service/tracing/slow_calls.h"

void call_fail(struct rpc_call *call, const struct error *err, struct arena *arena)
{
    call_fail_with(call, err, NULL, arena);
}

void call_fail_with(
    struct rpc_call *call, const struct error *err, const struct entity *entity, struct arena *arena)
{
    struct http_call *http = http_call_of(call);
    bool is_internal = err->status == STATUS_INTERNAL;
    struct codec_trailers trailers;
    struct call_ids ids = { 0 };

    if (is_internal || log_wants(LOG_DEBUG))
        slow_calls_read_ids(call, &ids);
    /*
     * Only the message of an internal error is logged: other messages may have keys or values of the caller's
     * entities.
     */
    log_event(is_internal ? LOG_ERROR : LOG_DEBUG, "call", log_text("method", call_method(call)->path),
        log_text("status", status_name(err->status)), log_text("reason", codec_error_reason(err)),
        log_text("sqlstate", err->sqlstate),
        log_text("why", err->detail[0] ? err->detail
                        : is_internal  ? err->message
                                       : ""),
        log_text("request_id", ids.request), log_text("trace_id", ids.trace));
    if (http) {
        http_call_fail(http, err, entity);
        return;
    }
    trailers = codec_trailers_encode(err, entity, arena);
    rpc_call_finish(call, trailers.code, trailers.message, trailers.details);
}

enum status call_table(
    struct operation *operation, const char *field, ProtobufCBinaryData name, struct error *err)
{
    operation->table = codec_str(name);
    if (table_name_check(operation->table, err) != STATUS_OK)
        return error_in_field(err, field);
    return STATUS_OK;
}
