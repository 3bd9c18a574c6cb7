/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_batch.c - see the header. While a method works on one operation of the batch, that operation's
 * exchange has the arena of the batch's exchange; afterwards the arena is given back.
 */
#include "service/odata/odata_batch.h"

#include "api/codec.h"
#include "api/codec_write.h"
#include "base/digits.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "odata/batch/batch_reply.h"
#include "odata/batch/batch_request.h"
#include "odata/batch/multipart.h"
#include "service/odata/odata_call.h"
#include "service/odata/odata_door.h"

enum { HTTP_ACCEPTED = 202, MAX_HEADERS = 64 };

/* One operation of the batch, with the exchange and the call of a request. */
struct part {
    struct http_exchange exchange;
    struct http_call http;
    struct odata_call call;
    struct call_ctx ctx;
    struct str content_id;
};

struct odata_batch {
    struct batch_request request;
    struct part *parts; /* one per operation; NULL: the body was not read */
};

/* ---- an operation as a request ---- */

static void lend_arena(struct part *part, struct http_exchange *outer)
{
    part->exchange.arena = outer->arena;
}

static void take_arena_back(struct part *part, struct http_exchange *outer)
{
    outer->arena = part->exchange.arena;
}

/* The target of an operation. Scheme and host are ignored; a relative URL is relative to the account. */
static struct str target_of(const struct odata_call *outer, struct str url, struct arena *arena)
{
    struct str account = outer->target.is_path_style ? str_from(outer->target.raw_path, 1) : STR_EMPTY;
    struct str rest = url;

    if (str_starts_with(url, STR_LITERAL("/")))
        return url;
    if (str_starts_with(url, STR_LITERAL("http://")) || str_starts_with(url, STR_LITERAL("https://"))) {
        rest = str_from(url, str_starts_with(url, STR_LITERAL("https")) ? 8 : 7);
        (void)str_take(&rest, '/');
        return ARENA_JOIN(arena, STR_LITERAL("/"), rest);
    }
    account = str_take(&account, '/');
    return ARENA_JOIN(arena, STR_LITERAL("/"), account, account.len > 0 ? STR_LITERAL("/") : STR_EMPTY, url);
}

/* Read the headers of an operation, at most MAX_HEADERS. Host is taken from the batch. */
static void read_headers(
    const struct batch_operation *operation, struct str host, struct arena *arena, struct http_request *out)
{
    struct http_header *headers = arena_alloc(arena, MAX_HEADERS * sizeof(*headers));
    struct str rest = operation->head, line;

    headers[out->header_count++] = (struct http_header){ STR_LITERAL("Host"), host };
    while (out->header_count < MAX_HEADERS && multipart_take_line(&rest, &line) && line.len > 0) {
        struct str name = str_take(&line, ':');

        if (!str_equal_any_case(name, STR_LITERAL("Host")))
            headers[out->header_count++] = (struct http_header){ name, str_trim(line, " \t") };
    }
    out->headers = headers;
}

static void make_part(struct call_ctx *ctx, const struct batch_operation *operation, struct part *out)
{
    const struct odata_call *outer = odata_call_of(ctx);
    struct http_exchange *exchange = ctx->http->exchange;
    struct http_request *request = &out->exchange.request;

    *request = (struct http_request){ .method = operation->method,
        .target = target_of(outer, operation->url, &exchange->arena),
        .body = operation->body,
        .peer = exchange->request.peer,
        .is_tls = exchange->request.is_tls };
    request->query = request->target;
    request->path = str_take(&request->query, '?');
    read_headers(operation, http_request_header(&exchange->request, "Host"), &exchange->arena, request);
    out->content_id = operation->content_id;
    memcpy(out->call.request_id, outer->request_id, sizeof(out->call.request_id));
    out->call.is_part = true;
    out->call.action = ODATA_ACTION_COUNT;
    out->call.view.level = ODATA_LEVEL_MINIMAL;
    out->http = *ctx->http;
    out->http.exchange = &out->exchange;
    out->http.door_state = &out->call;
    out->ctx = *ctx;
    out->ctx.http = &out->http;
}

/* ---- decoding ---- */

static bool is_action_of_batch(enum odata_action action, bool is_change_set)
{
    switch (action) {
    case ODATA_ACTION_INSERT_ENTITY:
    case ODATA_ACTION_REPLACE_ENTITY:
    case ODATA_ACTION_MERGE_ENTITY:
    case ODATA_ACTION_DELETE_ENTITY:
        return is_change_set;
    case ODATA_ACTION_GET_ENTITY:
        return !is_change_set;
    default:
        return false;
    }
}

static enum status decode_request(
    struct part *part, const struct odata_batch *batch, struct operation *out, struct error *err)
{
    TRY(odata_door_read_request(&part->http, &part->call, err));
    if (!is_action_of_batch(part->call.action, batch->request.is_change_set))
        return reason_set(err, REASON_INVALID_INPUT,
            "a batch holds inserts, updates, merges and deletes of entities, or one GET of an entity");
    return part->http.method->decode(&part->ctx, out, err);
}

static enum status decode_part(struct call_ctx *ctx, const struct odata_batch *batch, size_t index,
    struct operation *out, struct error *err)
{
    const struct odata_call *outer = odata_call_of(ctx);
    struct part *part = &batch->parts[index];
    enum status status;

    lend_arena(part, ctx->http->exchange);
    status = decode_request(part, batch, out, err);
    take_arena_back(part, ctx->http->exchange);
    if (status == STATUS_OK && !str_equal(part->call.target.account, outer->target.account))
        status = reason_set(err, REASON_INVALID_INPUT, "the operation names another account than the batch");
    return status == STATUS_OK ? STATUS_OK : codec_write_error_at(err, index);
}

static enum status check_table(
    const struct operation *operation, struct str first, size_t index, struct arena *arena, struct error *err)
{
    if (table_name_is(operation->table, table_name_fold(first, arena)))
        return STATUS_OK;
    (void)reason_set(err, REASON_COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS,
        "all operations of a batch must be for one table");
    return codec_write_error_at(err, index);
}

static enum status decode_change_set(
    struct call_ctx *ctx, const struct odata_batch *batch, struct operation *out, struct error *err)
{
    size_t count = batch->request.count;
    struct write *writes = ARENA_ARRAY(ctx->arena, struct write, count);
    struct str id = http_request_header(odata_call_request(ctx), "x-ms-client-request-id");

    for (size_t i = 0; i < count; i++) {
        struct operation one = { .account = out->account, .arena = out->arena };

        TRY(decode_part(ctx, batch, i, &one, err));
        writes[i] = one.in.write.writes[0];
        if (i == 0)
            out->table = one.table;
        TRY(check_table(&one, out->table, i, ctx->arena, err));
    }
    out->kind = OPERATION_WRITE;
    TRY(codec_write_group(writes, count, ctx->arena, &out->in.write, err));
    if (!ctx->service->odata.takes_request_ids)
        return STATUS_OK;
    return codec_request_id_decode(codec_bytes(id), &out->in.write.request_id, err);
}

enum status odata_batch_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const struct http_request *request = odata_call_request(ctx);
    struct arena *arena = &ctx->http->exchange->arena;
    struct odata_batch *batch = ARENA_NEW(arena, struct odata_batch);

    odata_call_of(ctx)->batch = batch;
    TRY(batch_request_read(
        http_request_header(request, "Content-Type"), request->body, arena, &batch->request, err));
    batch->parts = ARENA_ARRAY(arena, struct part, batch->request.count);
    for (size_t i = 0; i < batch->request.count; i++)
        make_part(ctx, &batch->request.operations[i], &batch->parts[i]);
    if (batch->request.is_change_set)
        return decode_change_set(ctx, batch, out, err);
    return decode_part(ctx, batch, 0, out, err);
}

/* ---- answers ---- */

static struct str head_of(const struct http_reply *reply, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    for (size_t i = 0; i < reply->header_count; i++)
        BUF_JOIN(
            &out, reply->headers[i].name, STR_LITERAL(": "), reply->headers[i].value, STR_LITERAL("\r\n"));
    return buf_str(&out);
}

static void add_answer(
    struct batch_reply *reply, const struct part *part, struct str body, struct arena *arena)
{
    const struct batch_answer answer = {
        .status = part->exchange.reply.status,
        .content_id = part->content_id,
        .head = head_of(&part->exchange.reply, arena),
        .body = body,
    };

    batch_reply_add(reply, &answer);
}

static void begin_reply(struct http_call *http, const struct batch_reply *reply)
{
    struct http_exchange *exchange = http->exchange;

    odata_call_begin_reply(http, HTTP_ACCEPTED);
    http_reply_add_header(
        &exchange->reply, &exchange->arena, "Content-Type", batch_reply_type(reply, &exchange->arena));
    http_reply_add_header(&exchange->reply, &exchange->arena, "Cache-Control", STR_LITERAL("no-cache"));
    http_reply_add_header(
        &exchange->reply, &exchange->arena, "X-Content-Type-Options", STR_LITERAL("nosniff"));
}

static enum status encode_part(
    struct call_ctx *ctx, struct part *part, const struct operation *one, struct buf *body, struct error *err)
{
    enum status status;

    lend_arena(part, ctx->http->exchange);
    status = part->http.method->encode(&part->ctx, one, body, err);
    take_arena_back(part, ctx->http->exchange);
    return status;
}

/* The store's operation, restricted to one operation of the batch, for the method that encodes it. */
static struct operation view_of(const struct operation *operation, size_t index)
{
    struct operation one = { .kind = operation->kind,
        .account = operation->account,
        .table = operation->table,
        .arena = operation->arena };

    if (operation->kind != OPERATION_WRITE) {
        one.in.get = operation->in.get;
        one.out.get = operation->out.get;
        return one;
    }
    one.in.write = operation->in.write;
    one.in.write.writes += index;
    one.in.write.count = 1;
    one.out.write = operation->out.write;
    one.out.write.results += index;
    return one;
}

enum status odata_batch_encode(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct odata_batch *batch = odata_call_of(ctx)->batch;
    struct batch_reply answers;

    batch_reply_begin(&answers, batch->request.is_change_set, reply);
    for (size_t i = 0; i < batch->request.count; i++) {
        struct operation one = view_of(operation, i);
        struct part *part = &batch->parts[i];
        struct buf body;

        buf_init(&body, ctx->arena);
        TRY(encode_part(ctx, part, &one, &body, err));
        if (part->content_id.len == 0 && batch->request.is_change_set)
            part->content_id = arena_format(ctx->arena, "%zu", i + 1);
        add_answer(&answers, part, buf_str(&body), ctx->arena);
    }
    batch_reply_end(&answers);
    begin_reply(ctx->http, &answers);
    return STATUS_OK;
}

/* ---- errors ---- */

/* The index in the error's metadata. false: the error has none. */
static bool index_of(const struct error *err, uint64_t *out)
{
    for (size_t i = 0; i < err->meta_count; i++)
        if (strcmp(err->meta[i].key, "operation_index") == 0)
            return digits_parse_unsigned(str_of(err->meta[i].value), LIMIT_BATCH_OPERATIONS, out);
    return false;
}

/* Whether the error blames an operation's content. Otherwise the server could not do its work. */
static bool blames_operation(const struct error *err)
{
    switch (err->status) {
    case STATUS_INVALID:
    case STATUS_OUT_OF_RANGE:
    case STATUS_NOT_FOUND:
    case STATUS_EXISTS:
    case STATUS_STALE:
    case STATUS_PRECONDITION:
    case STATUS_UNIMPLEMENTED:
    case STATUS_DENIED:
        return true;
    default:
        return false;
    }
}

/*
 * Write the answer to the operation that failed: the only GET, whose error has no index yet, or the operation
 * of a change set that failed first.
 */
static void write_answer(struct http_call *http, const struct odata_batch *batch, uint64_t index,
    const struct error *err, struct buf *out)
{
    const struct odata_call *outer = http->door_state;
    struct http_exchange *exchange = http->exchange;
    bool is_change_set = batch->request.is_change_set || !batch->parts;
    struct part none = {
        .call = { .is_part = true, .action = ODATA_ACTION_COUNT, .view.level = ODATA_LEVEL_MINIMAL }
    };
    struct part *part = batch->parts ? &batch->parts[index % batch->request.count] : &none;
    struct batch_reply reply;
    struct buf body;

    if (!batch->parts) {
        none.http = *http;
        none.http.exchange = &none.exchange;
        none.http.door_state = &none.call;
        memcpy(none.call.request_id, outer->request_id, sizeof(none.call.request_id));
    }
    http_reply_reset(&part->exchange.reply);
    lend_arena(part, exchange);
    buf_init(&body, &part->exchange.arena);
    odata_call_write_error(&part->http, err, &body);
    take_arena_back(part, exchange);
    if (part->content_id.len == 0 && is_change_set)
        part->content_id = arena_format(&exchange->arena, "%d", (int)index + 1);
    batch_reply_begin(&reply, is_change_set, out);
    add_answer(&reply, part, buf_str(&body), &exchange->arena);
    batch_reply_end(&reply);
    begin_reply(http, &reply);
}

bool odata_batch_write_error(struct http_call *http, const struct error *err, struct buf *out)
{
    const struct odata_call *call = http->door_state;
    struct error indexed = *err;
    uint64_t index = 0;
    bool has_index = index_of(err, &index);

    if (!call->batch || !blames_operation(err) || (!call->batch->parts && !has_index))
        return false;
    if (!has_index)
        codec_write_error_at(&indexed, 0);
    write_answer(http, call->batch, index, &indexed, out);
    return true;
}
