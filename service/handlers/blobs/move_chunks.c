/* SPDX-License-Identifier: Apache-2.0 */
/*
 * move_chunks.c - AdminService.MoveChunks.
 */
#include "service/handlers/handlers.h"

#include "api/codec.h"
#include "service/handlers/reply.h"
#include "tavola/v1/admin_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__MoveChunksRequest *request = (const Tavola__V1__MoveChunksRequest *)ctx->request;

    out->kind = OPERATION_CHUNKS_MOVE;
    if (request->store < TAVOLA__V1__CHUNK_STORE__CHUNK_STORE_POSTGRESQL ||
        request->store > TAVOLA__V1__CHUNK_STORE__CHUNK_STORE_S3)
        return codec_missing(err, "store", "POSTGRESQL, DIRECTORY or S3");
    out->in.chunks.target =
        (enum chunk_store_kind)((int)request->store - (int)TAVOLA__V1__CHUNK_STORE__CHUNK_STORE_POSTGRESQL);
    return STATUS_OK;
}

const struct method move_chunks_method = {
    .path = "/tavola.v1.AdminService/MoveChunks",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_CHUNKS_MOVE,
    .request = &tavola__v1__move_chunks_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_job,
};
