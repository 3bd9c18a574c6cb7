/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_write.c - see the header.
 */
#include "service/odata/odata_write.h"

#include "service/odata/odata_call.h"

enum { HTTP_NO_CONTENT = 204 };

enum status odata_write_read_body(
    struct call_ctx *ctx, const struct entity_key *key, struct write *out, struct error *err)
{
    const struct http_request *request = odata_call_request(ctx);
    struct entity entity;

    if (!odata_format_is_json(http_request_header(request, "Content-Type")))
        return odata_error_refuse(
            err, ODATA_REFUSAL_ATOM_FORMAT_NOT_SUPPORTED, "the Content-Type of a body is application/json");
    TRY(odata_entity_read(request->body, key, ctx->arena, &entity, &out->excess, err));
    out->key = entity.key;
    out->properties = entity.properties;
    out->expires = entity.expires;
    return STATUS_OK;
}

enum status odata_write_decode(struct call_ctx *ctx, enum write_kind with_condition, enum write_kind without,
    struct operation *out, struct error *err)
{
    struct write write = { .properties = { STR_EMPTY } };
    bool given;

    TRY(odata_call_key(ctx, &write.key, err));
    TRY(odata_write_read_body(ctx, &write.key, &write, err));
    TRY(odata_call_condition(ctx, &write.condition, &given, err));
    write.kind = given ? with_condition : without;
    TRY(odata_call_table(ctx, out, err));
    return odata_call_write(ctx, &write, out, err);
}

enum status odata_write_encode(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    (void)reply;
    odata_call_begin_reply(ctx->http, HTTP_NO_CONTENT);
    return odata_call_add_result(ctx, operation, err);
}
