/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_create_table.c - Create Table: POST /Tables.
 */
#include "domain/catalogue/table_name.h"
#include "domain/reason.h"
#include "odata/odata_link.h"
#include "service/handlers/odata/odata_handlers.h"
#include "service/odata/odata_call.h"

/* Refuse an invalid name with the text of the live service. */
static enum status check_name(struct str name, struct error *err)
{
    enum status status = table_name_check(name, err);

    if (status == STATUS_OUT_OF_RANGE)
        return reason_set(err, REASON_OUT_OF_RANGE_INPUT,
            "The specified resource name length is not within the permissible limits.");
    if (status != STATUS_OK && strcmp(err->reason, reason_info(REASON_INVALID_INPUT)->name) == 0)
        return reason_set(err, REASON_INVALID_INPUT, "One of the request inputs is not valid.");
    return status;
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const struct http_request *request = odata_call_request(ctx);

    TRY(odata_call_format(ctx, err));
    if (!odata_format_is_json(http_request_header(request, "Content-Type")))
        return odata_error_refuse(
            err, ODATA_REFUSAL_ATOM_FORMAT_NOT_SUPPORTED, "the Content-Type of a body is application/json");
    out->kind = OPERATION_TABLE_CREATE;
    TRY(odata_call_refuse_conditions(ctx, err));
    TRY(odata_entity_read_table(request->body, ctx->arena, &out->table, err));
    return check_name(out->table, err);
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);
    struct str name = operation->out.tables.tables[0].name;
    struct buf link;

    (void)err;
    buf_init(&link, ctx->arena);
    odata_link_write_table(name, &link);
    odata_call_begin_created(ctx, buf_str(&link));
    if (call->preference == ODATA_PREFERENCE_NO_CONTENT)
        return STATUS_OK;
    call->view.table = STR_LITERAL("Tables");
    odata_call_add_json_headers(ctx->http, odata_format_content_type(call->view.level));
    odata_entity_write_table(&call->view, name, reply);
    return STATUS_OK;
}

const struct method odata_create_table_method = {
    .path = "/azure.Tables/CreateTable",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TABLE_CREATE,
    .decode = decode_request,
    .encode = encode_reply,
};
