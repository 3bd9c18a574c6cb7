/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_call.c - see the header.
 */
#include "service/odata/odata_call.h"

#include "api/codec.h"
#include "api/codec_write.h"
#include "base/clock.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "service/consistency.h"
#include "service/odata/odata_cors.h"

enum { HTTP_CREATED = 201, HTTP_NO_CONTENT = 204, MAX_CLIENT_ID_BYTES = 1024 };

/* ---- decoding ---- */

enum status odata_call_table(struct call_ctx *ctx, struct operation *operation, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);

    operation->table = call->target.table;
    call->view.table = call->target.table;
    if (table_name_check(operation->table, err) != STATUS_OK)
        return reason_set(err, REASON_TABLE_NOT_FOUND, "no table can have this name");
    return STATUS_OK;
}

static bool has_slash(struct str key)
{
    return key.len > 0 && (memchr(key.data, '/', key.len) || memchr(key.data, '\\', key.len));
}

enum status odata_call_key(struct call_ctx *ctx, struct entity_key *out, struct error *err)
{
    const struct odata_call *call = odata_call_of(ctx);
    const struct odata_target *target = &call->target;
    enum status status = entity_key_parse(target->partition, target->row, out, err);

    if (status != STATUS_OUT_OF_RANGE)
        return status;
    if (has_slash(target->partition) || has_slash(target->row))
        return reason_set(err, REASON_INVALID_INPUT, "Bad Request - Error in query syntax.");
    if (call->action == ODATA_ACTION_GET_ENTITY)
        return reason_set(err, REASON_RESOURCE_NOT_FOUND, "no entity can have this key");
    return reason_set(err, REASON_OUT_OF_RANGE_INPUT, "One of the request inputs is out of range.");
}

enum status odata_call_format(struct call_ctx *ctx, struct error *err)
{
    struct odata_call *call = odata_call_of(ctx);
    struct str expires = http_request_header(odata_call_request(ctx), "x-tavola-expires");

    call->view.with_expires = str_equal(expires, STR_LITERAL("true"));
    if (expires.len > 0 && !call->view.with_expires)
        return reason_set(err, REASON_INVALID_INPUT, "x-tavola-expires must be true, or be left out");
    return odata_format_choose(http_request_header(odata_call_request(ctx), "Accept"),
        call->target.options.format, &call->view.level, err);
}

static size_t count_headers(const struct http_request *request, struct str name)
{
    size_t count = 0;

    for (size_t i = 0; i < request->header_count; i++)
        count += str_equal_any_case(request->headers[i].name, name);
    return count;
}

enum status odata_call_condition(struct call_ctx *ctx, struct condition *out, bool *given, struct error *err)
{
    const struct http_request *request = odata_call_request(ctx);
    struct str etag = http_request_header(request, "If-Match");
    size_t count = count_headers(request, STR_LITERAL("If-Match"));
    struct error ignored;

    *given = count > 0;
    *out = (struct condition){ .kind = CONDITION_NONE, .text = STR_EMPTY };
    if (http_request_has_header(request, "If-None-Match"))
        return reason_set(err, REASON_INVALID_INPUT,
            "If-None-Match HTTP header cannot be specified for PUT/DELETE operations.");
    if (count == 0 || (count == 1 && condition_parse(etag, out, &ignored) == STATUS_OK))
        return STATUS_OK;
    return reason_set(err, REASON_INVALID_INPUT,
        "The etag value '%.*s' specified in one of the request headers is not valid. Please make sure only "
        "one "
        "etag value is specified and is valid.",
        STR_ARG(etag));
}

enum status odata_call_refuse_conditions(struct call_ctx *ctx, struct error *err)
{
    const struct http_request *request = odata_call_request(ctx);

    if (!http_request_has_header(request, "If-Match") && !http_request_has_header(request, "If-None-Match"))
        return STATUS_OK;
    return reason_set(
        err, REASON_INVALID_INPUT, "If-Match and If-None-Match cannot be specified: tables have no ETag.");
}

enum status odata_call_write(
    struct call_ctx *ctx, const struct write *write, struct operation *operation, struct error *err)
{
    struct str id = http_request_header(odata_call_request(ctx), "x-ms-client-request-id");

    codec_write_operation(operation, write);
    if (!ctx->service->odata.takes_request_ids)
        return STATUS_OK;
    return codec_request_id_decode(codec_bytes(id), &operation->in.write.request_id, err);
}

/* ---- encoding ---- */

static bool is_visible(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.data[i] < 0x21 || text.data[i] > 0x7E)
            return false;
    return text.len > 0 && text.len <= MAX_CLIENT_ID_BYTES;
}

static void add_header(struct http_call *http, const char *name, struct str value)
{
    http_reply_add_header(&http->exchange->reply, &http->exchange->arena, name, value);
}

void odata_call_begin_reply(struct http_call *http, int status)
{
    const struct odata_call *call = http->door_state;
    const struct http_request *request = &http->exchange->request;
    struct str version = http_request_header(request, "x-ms-version");
    struct str client_id = http_request_header(request, "x-ms-client-request-id");
    struct error ignored;

    http->exchange->reply.status = status;
    add_header(http, "x-ms-request-id", str_of(call->request_id));
    if (version.len == 0 || odata_format_check_version(version, &ignored) != STATUS_OK)
        version = str_of(http_call_service(http)->odata.version);
    add_header(http, "x-ms-version", version);
    if (is_visible(client_id))
        add_header(http, "x-ms-client-request-id", client_id);
    if (!call->is_part && call->action != ODATA_ACTION_PREFLIGHT)
        odata_cors_add_headers(http);
}

void odata_call_add_header(const struct call_ctx *ctx, const char *name, struct str value)
{
    add_header(ctx->http, name, value);
}

void odata_call_add_json_headers(struct http_call *http, const char *content_type)
{
    add_header(http, "Content-Type", str_of(content_type));
    add_header(http, "Cache-Control", STR_LITERAL("no-cache"));
    add_header(http, "X-Content-Type-Options", STR_LITERAL("nosniff"));
    add_header(http, "DataServiceVersion", STR_LITERAL("3.0;"));
}

enum status odata_call_add_result(
    const struct call_ctx *ctx, const struct operation *operation, struct error *err)
{
    const struct outcome_write *out = &operation->out.write;
    char etag[ETAG_BYTES];
    struct str token;

    TRY(consistency_write(ctx->service, out->left_open, ctx->arena, &token, err));
    if (out->results[0].etag.version != 0)
        odata_call_add_header(ctx, "ETag", str_of_bytes(etag, etag_format(out->results[0].etag, etag)));
    if (token.len > 0)
        odata_call_add_header(ctx, "x-tavola-consistency-token", token);
    if (out->replayed)
        odata_call_add_header(ctx, "x-tavola-replayed", STR_LITERAL("true"));
    return STATUS_OK;
}

void odata_call_begin_created(const struct call_ctx *ctx, struct str link)
{
    const struct odata_call *call = odata_call_of(ctx);
    bool has_content = call->preference != ODATA_PREFERENCE_NO_CONTENT;
    const char *applied = odata_format_preference_applied(call->preference);
    struct str address = ARENA_JOIN(&ctx->http->exchange->arena, call->view.base, STR_LITERAL("/"), link);

    odata_call_begin_reply(ctx->http, has_content ? HTTP_CREATED : HTTP_NO_CONTENT);
    odata_call_add_header(ctx, "Location", address);
    if (!has_content)
        odata_call_add_header(ctx, "DataServiceId", address);
    if (applied)
        odata_call_add_header(ctx, "Preference-Applied", str_of(applied));
}

/* ---- errors ---- */

/* Whether the error is written as XML: requests with XML bodies, and clients that accept only XML. */
static bool wants_xml(const struct http_call *http)
{
    const struct odata_call *call = http->door_state;
    const struct http_request *request = &http->exchange->request;

    switch (call->action) {
    case ODATA_ACTION_GET_ACL:
    case ODATA_ACTION_SET_ACL:
    case ODATA_ACTION_GET_SERVICE_PROPERTIES:
    case ODATA_ACTION_SET_SERVICE_PROPERTIES:
    case ODATA_ACTION_GET_SERVICE_STATS:
    case ODATA_ACTION_PREFLIGHT:
        return true;
    default:
        return http_request_header_lists(request, "Accept", "application/xml") &&
               !http_request_header_lists(request, "Accept", "application/json");
    }
}

/*
 * If the client gets the text of the live service, the more precise message of the error goes into a header
 * of our own.
 */
static void add_detail(struct http_call *http, const struct error *err)
{
    char text[ERROR_MESSAGE_BYTES];
    size_t len = 0;

    if (!odata_error_find(err)->text || err->status == STATUS_INTERNAL)
        return;
    for (; err->message[len]; len++)
        text[len] = err->message[len] >= ' ' && err->message[len] <= '~' ? err->message[len] : '?';
    add_header(http, "x-tavola-message", str_of_bytes(text, len));
}

void odata_call_write_error(struct http_call *http, const struct error *err, struct buf *out)
{
    const struct odata_call *call = http->door_state;
    const struct odata_error_info *info = odata_error_find(err);
    const struct odata_error_place place = { str_of(call->request_id), clock_ticks() };

    odata_call_begin_reply(http, info->http);
    add_header(http, "x-ms-error-code", str_of(info->code));
    add_detail(http, err);
    if (wants_xml(http)) {
        add_header(http, "Content-Type", STR_LITERAL("application/xml"));
        odata_error_write_xml(err, &place, out);
        return;
    }
    odata_call_add_json_headers(http, odata_format_content_type(call->view.level));
    odata_error_write_json(err, &place, out);
}
