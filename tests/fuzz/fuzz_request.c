/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_request.c - whole requests through the method table: a line with the method's name, then any bytes as its
 * message. It is refused with a reason, in trailers of bounded size; or it is an operation that keeps the domain's
 * rules, that can be checked against what a caller may do, and - where it writes - planned, recorded and answered
 * again.
 */
#include "api/codec_error.h"
#include "api/codec_transaction.h"
#include "api/codec_write.h"
#include "domain/access/access.h"
#include "domain/catalogue/table_name.h"
#include "domain/reason.h"
#include "domain/writes/request_record.h"
#include "domain/writes/write_plan.h"
#include "service/methods.h"
#include "service/query.h"
#include "tests/fuzz/fuzz.h"

enum { NAME_BYTES = 64, TABLE_ID = 7 };

fuzz_fn fuzz_request;

/* The key that signs tokens comes from the database; here there is none. See CMakeLists.txt. */
enum status __wrap_store_token_key(struct store *store, uint8_t out[32], struct error *err);
enum status __wrap_store_token_key(struct store *store, uint8_t out[32], struct error *err)
{
    (void)store;
    (void)err;
    memset(out, 1, 32);
    return STATUS_OK;
}

/* ---- the methods that are not one operation ---- */

static enum status import_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ImportEntitiesRequest *request =
        (const Tavola__V1__ImportEntitiesRequest *)ctx->request;
    struct operation_write *in = &out->in.write;

    out->kind = OPERATION_WRITE;
    TRY(call_table(out, "table", request->table, err));
    in->writes = ARENA_ARRAY(ctx->arena, struct write, request->n_entities);
    for (size_t i = 0; i < request->n_entities; i++)
        TRY(codec_write_decode(
            WRITE_INSERT_OR_REPLACE, request->entities[i], NULL, ctx->arena, &in->writes[in->count++], err));
    return STATUS_OK;
}

static enum status scan_decode(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__ScanEntitiesRequest *request = (const Tavola__V1__ScanEntitiesRequest *)ctx->request;
    struct query_call query;

    out->kind = OPERATION_PAGE;
    return query_decode(ctx,
        &(struct query_request){ request->query, request->options, TOKEN_SCAN, request->resume_token },
        &query, out, err);
}

static const struct method streams[] = {
    { .path = "/tavola.v1.EntityService/ImportEntities",
        .request = &tavola__v1__import_entities_request__descriptor,
        .decode = import_decode },
    { .path = "/tavola.v1.EntityService/ScanEntities",
        .request = &tavola__v1__scan_entities_request__descriptor,
        .decode = scan_decode },
};

static bool is_called(const struct method *method, struct str name)
{
    return method->decode && str_equal(str_of(strrchr(method->path, '/') + 1), name);
}

static const struct method *find(struct str name)
{
    for (size_t i = 0; i < method_count; i++)
        if (is_called(methods[i], name))
            return methods[i];
    for (size_t i = 0; i < ARRAY_LEN(streams); i++)
        if (is_called(&streams[i], name))
            return &streams[i];
    return NULL;
}

/* ---- what must hold ---- */

static void check_refusal(const struct error *err, struct arena *arena)
{
    struct codec_trailers trailers = codec_trailers_encode(err, NULL, arena);

    fuzz_require(err->status != STATUS_OK && trailers.code > 0);
    fuzz_require(reason_find(codec_error_reason(err)) != NULL);
    fuzz_require(trailers.message.len + trailers.details.len / 3 * 4 <= CODEC_TRAILER_BYTES);
}

/* On absent entities: planned, recorded, and answered from the record. */
static void check_planned(struct operation *operation)
{
    const struct operation_write *in = &operation->in.write;
    struct table table = { .table_id = TABLE_ID };
    struct plan_row *states = ARENA_ARRAY(operation->arena, struct plan_row, in->count);
    struct plan_row **rows = ARENA_ARRAY(operation->arena, struct plan_row *, in->count);
    struct request_record record = { .digest = request_record_digest(operation, TABLE_ID, operation->arena) };
    enum status planned;

    for (size_t i = 0; i < in->count; i++) {
        rows[i] = &states[i];
        states[i] = (struct plan_row){ .table = &table, .key = in->writes[i].key };
    }
    write_plan_operation(operation, rows, (struct write_clock){ .ticks = 1 });
    planned = operation->status;
    fuzz_require((planned == STATUS_OK) == !operation->error);
    record.response = request_record_response(operation, operation->arena);
    fuzz_require(str_equal(record.digest, request_record_digest(operation, TABLE_ID, operation->arena)));
    request_record_replay(&record, record.digest, operation);
    fuzz_require(operation->status == planned && operation->out.write.replayed);
    if (operation->error) /* the answer is marked as a repeat by the last of its metadata */
        operation->error->meta_count--;
    fuzz_require(str_equal(record.response, request_record_response(operation, operation->arena)));
}

static void check_writes(struct operation *operation)
{
    const struct operation_write *in = &operation->in.write;
    struct entity_key key;

    for (size_t i = 0; i < in->count; i++) {
        const struct write *write = &in->writes[i];

        fuzz_require(entity_key_parse(write->key.partition, write->key.row, &key, NULL) == STATUS_OK);
        fuzz_require(property_list_check(write->properties, &write->key, NULL) == STATUS_OK);
        fuzz_require(
            in->count == 1 || !in->atomic || str_equal(write->key.partition, in->writes[0].key.partition));
    }
    if (in->atomic)
        check_planned(operation);
}

static void check_steps(const struct transaction *transaction, struct arena *arena)
{
    struct str once = transaction_encode_steps(transaction->steps, transaction->step_count, arena);
    struct step *steps;
    size_t count;

    fuzz_require(transaction_check(transaction, NULL) == STATUS_OK);
    fuzz_require(transaction_decode_steps(once, arena, &steps, &count) && count == transaction->step_count);
    fuzz_require(str_equal(transaction_encode_steps(steps, count, arena), once));
    codec_transaction_message(transaction, TRANSACTION_WHOLE, arena);
}

/* A caller with a signature for one table and some keys. */
static void check_access(struct operation *operation)
{
    static const struct catalogue nothing = { 0 };
    const struct access access = { .account = STR_LITERAL("default"),
        .table = STR_LITERAL("things"),
        .permissions = PERMISSION_READ | PERMISSION_ADD | PERMISSION_UPDATE | PERMISSION_TRANSACT };
    struct error err = { 0 };

    if (access_check(&access, &nothing, operation, &err) != STATUS_OK)
        check_refusal(&err, operation->arena);
    else
        fuzz_require(operation->kind == OPERATION_LOOKUP || operation->kind == OPERATION_TRANSACTION_SUBMIT ||
                     operation->kind >= OPERATION_JOB_GET || table_name_is(operation->table, access.table));
}

static void check_operation(struct operation *operation)
{
    struct error err;

    fuzz_require(operation->kind < OPERATION_KIND_COUNT);
    if (operation->table.len > 0)
        fuzz_require(table_name_check(operation->table, &err) == STATUS_OK);
    check_access(operation);
    if (operation->kind == OPERATION_WRITE)
        check_writes(operation);
    else if (operation->kind == OPERATION_TRANSACTION_SUBMIT)
        check_steps(&operation->in.transaction.transaction, operation->arena);
}

void fuzz_request(struct str input)
{
    static struct service service = { .queues = 4 };
    const char *line_end = memchr(input.data, '\n', input.len < NAME_BYTES ? input.len : NAME_BYTES);
    const struct method *method;
    struct operation operation = { .kind = OPERATION_KIND_COUNT };
    /* As with TAVOLA_AUTHENTICATION=none, by a caller without any permission: some decoders ask for one themselves. */
    struct call_ctx ctx = { .service = &service,
        .account = STR_LITERAL("default"),
        .caller = {
            .access = { .account = STR_LITERAL("default") }, .authenticator = &service.authenticator } };
    struct error err = { 0 };
    ProtobufCMessage *request;
    struct arena arena;
    size_t name_len;

    service.authenticator.open = true;
    if (!line_end)
        return;
    name_len = (size_t)(line_end - input.data);
    method = find(str_of_bytes(input.data, name_len));
    if (!method)
        return;
    arena_init(&arena);
    ctx.arena = operation.arena = &arena;
    operation.account = ctx.account;
    buf_init(&ctx.reply, &arena);
    if (codec_unpack(method->request, str_from(input, name_len + 1), &arena, &request, &err) == STATUS_OK) {
        ctx.request = request;
        if (method->decode(&ctx, &operation, &err) == STATUS_OK)
            check_operation(&operation);
    }
    if (err.status != STATUS_OK)
        check_refusal(&err, &arena);
    arena_cleanup(&arena);
}
