/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_chunk_stores.c - AdminService.ListChunkStores.
 */
#include "service/handlers/handlers.h"

#include "api/codec.h"
#include "tavola/v1/admin_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    (void)ctx, (void)err;
    out->kind = OPERATION_CHUNK_STORES_LIST;
    return STATUS_OK;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)ctx, (void)err;
    for (int i = 0; i < CHUNK_STORE_KINDS; i++) {
        const struct chunk_store_view *store = &operation->out.chunks.stores[i];
        Tavola__V1__ChunkStoreContent message = TAVOLA__V1__CHUNK_STORE_CONTENT__INIT;

        message.store = (Tavola__V1__ChunkStore)(i + (int)TAVOLA__V1__CHUNK_STORE__CHUNK_STORE_POSTGRESQL);
        message.is_configured = store->is_configured;
        message.takes_puts = store->takes_puts;
        message.chunks = store->chunks;
        message.bytes = store->bytes;
        message.strays = store->strays;
        message.stray_bytes = store->stray_bytes;
        codec_pack(reply, 1, &message.base);
    }
    return STATUS_OK;
}

const struct method list_chunk_stores_method = {
    .path = "/tavola.v1.AdminService/ListChunkStores",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_CHUNK_STORES_LIST,
    .request = &tavola__v1__list_chunk_stores_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
