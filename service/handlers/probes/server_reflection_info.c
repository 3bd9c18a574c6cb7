/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_reflection_info.c - ServerReflection.ServerReflectionInfo, of v1 and v1alpha: each request is
 * answered before the next is read.
 *
 * All state is used in the call's events only, which never overlap, so no lock is needed.
 */
#include "api/codec_error.h"
#include "service/handlers/handlers.h"
#include "service/probes/reflection.h"

static void begin_stream(struct rpc_call *call)
{
    rpc_call_read(call);
}

static void answer_message(struct rpc_call *call, struct str request)
{
    struct arena arena;
    struct buf out;
    struct error err = { 0 };

    arena_init(&arena);
    buf_init(&out, &arena);
    if (reflection_answer(request, &arena, &out, &err) == STATUS_OK)
        rpc_call_send(call, buf_str(&out));
    else
        call_fail(call, &err, &arena);
    arena_cleanup(&arena);
}

static void reply_sent(struct rpc_call *call)
{
    rpc_call_read(call);
}

static void half_closed(struct rpc_call *call)
{
    rpc_call_finish(call, codec_error_status_code(STATUS_OK), STR_EMPTY, STR_EMPTY);
}

static void stream_cancelled(struct rpc_call *call)
{
    rpc_call_finish(call, codec_error_status_code(STATUS_CANCELLED), STR_EMPTY, STR_EMPTY);
}

static const struct call_events reflection_events = {
    .begin = begin_stream,
    .message = answer_message,
    .half_closed = half_closed,
    .sent = reply_sent,
    .cancelled = stream_cancelled,
};

const struct method server_reflection_info_v1_method = {
    .path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    .kind = RPC_BIDI,
    .events = &reflection_events,
};

const struct method server_reflection_info_v1alpha_method = {
    .path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
    .kind = RPC_BIDI,
    .events = &reflection_events,
};
