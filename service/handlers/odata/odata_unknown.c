/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_unknown.c - a request whose URL, verb or headers match no method. It is refused when its body has
 * been read.
 */
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    (void)out;
    *err = *odata_call_of(ctx)->refused;
    return err->status;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)ctx;
    (void)operation;
    (void)reply;
    (void)err;
    return STATUS_OK; /* never reached: the decoder has refused the request */
}

const struct method odata_unknown_method = {
    .path = "/azure.Tables/Unknown",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_GET,
    .decode = decode_request,
    .encode = encode_reply,
};
