/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction.c - transactions across partitions and tables: steps are added, the transaction is submitted
 * and waited for.
 */
#include <stdlib.h>
#include <string.h>

#include "api/codec.h"
#include "base/clock.h"
#include "client/lib/call_error.h"
#include "client/lib/entity_parts.h"
#include "client/lib/session.h"
#include "tavola/v1/transaction_service.pb-c.h"

#define SERVICE "/tavola.v1.TransactionService/"

enum {
    STEPS_FIELD = 2,
    US_PER_MS = 1000,
    MAX_WAIT_MS = 30000,
    MIN_WAIT_MS = 300, /* a further call with less time might reach its deadline before it is answered */
};

struct tavola_transaction {
    struct arena arena;
    struct str id;
    struct buf steps;            /* the serialized field `steps` of SubmitTransactionRequest, once per step */
    struct tavola_error mistake; /* error of the first step that cannot be sent; code TAVOLA_OK: none */
};

struct tavola_transaction *tavola_transaction_new(const char *id)
{
    struct tavola_transaction *transaction = xcalloc(1, sizeof(*transaction));
    char made[REQUEST_ID_BYTES];

    arena_init(&transaction->arena);
    transaction->id = arena_copy(&transaction->arena, str_of(id ? id : session_request_id(made)));
    buf_init(&transaction->steps, &transaction->arena);
    (void)call_error_begin(&transaction->mistake, NULL);
    return transaction;
}

void tavola_transaction_free(struct tavola_transaction *transaction)
{
    if (!transaction)
        return;
    arena_cleanup(&transaction->arena);
    free(transaction);
}

const char *tavola_transaction_id(const struct tavola_transaction *transaction)
{
    return transaction->id.data;
}

/* ---- steps ---- */

static void add_step(struct tavola_transaction *transaction, Tavola__V1__Step *step, const char *if_match)
{
    Tavola__V1__Precondition precondition = TAVOLA__V1__PRECONDITION__INIT;

    if (if_match) {
        precondition.if_match = codec_bytes(str_of(if_match));
        step->precondition = &precondition;
    }
    codec_pack(&transaction->steps, STEPS_FIELD, &step->base);
}

static Tavola__V1__EntityAddress *address_of(const char *table, struct tavola_key key, struct arena *arena)
{
    Tavola__V1__EntityAddress *out = ARENA_NEW(arena, Tavola__V1__EntityAddress);

    tavola__v1__entity_address__init(out);
    out->table = codec_bytes(str_of(table));
    out->key = entity_key_of(key, arena);
    return out;
}

void tavola_transaction_put(struct tavola_transaction *transaction, const char *table,
    const struct tavola_entity *entity, bool merge, const char *if_match)
{
    Tavola__V1__Step step = TAVOLA__V1__STEP__INIT;
    Tavola__V1__PutStep put = TAVOLA__V1__PUT_STEP__INIT;

    if (transaction->mistake.code != TAVOLA_OK ||
        entity_message(entity, &transaction->arena, &put.entity, &transaction->mistake) != TAVOLA_OK)
        return;
    put.table = codec_bytes(str_of(table));
    step.action_case =
        merge ? TAVOLA__V1__STEP__ACTION_INSERT_OR_MERGE : TAVOLA__V1__STEP__ACTION_INSERT_OR_REPLACE;
    step.insert_or_replace = &put; /* the same member of the union for insert_or_merge */
    add_step(transaction, &step, if_match);
}

void tavola_transaction_delete(
    struct tavola_transaction *transaction, const char *table, struct tavola_key key, const char *if_match)
{
    Tavola__V1__Step step = TAVOLA__V1__STEP__INIT;

    step.action_case = TAVOLA__V1__STEP__ACTION_DELETE_IF_EXISTS;
    step.delete_if_exists = address_of(table, key, &transaction->arena);
    add_step(transaction, &step, if_match);
}

void tavola_transaction_move(struct tavola_transaction *transaction, const char *table, struct tavola_key key,
    const char *to_table, struct tavola_key to_key)
{
    Tavola__V1__Step step = TAVOLA__V1__STEP__INIT;
    Tavola__V1__MoveStep move = TAVOLA__V1__MOVE_STEP__INIT;

    move.source = address_of(table, key, &transaction->arena);
    move.destination = address_of(to_table, to_key, &transaction->arena);
    step.action_case = TAVOLA__V1__STEP__ACTION_MOVE;
    step.move = &move;
    add_step(transaction, &step, NULL);
}

/* entity and data are members of one union: the content's. */
static void write_content(const struct tavola_content *content, struct arena *arena,
    Tavola__V1__EntityAddress **entity, ProtobufCBinaryData *data)
{
    if (content->table)
        *entity = address_of(content->table, content->key, arena);
    else
        *data = codec_bytes(str_of_bytes(content->data, content->size));
}

static void add_file(struct tavola_transaction *transaction, Tavola__V1__Step__ActionCase action,
    const char *path, const struct tavola_content *content, const char *if_match)
{
    Tavola__V1__Step step = TAVOLA__V1__STEP__INIT;
    Tavola__V1__FileStep file = TAVOLA__V1__FILE_STEP__INIT;

    file.path = codec_bytes(str_of(path));
    file.delete_entity = content->delete_entity;
    file.content_case =
        content->table ? TAVOLA__V1__FILE_STEP__CONTENT_ENTITY : TAVOLA__V1__FILE_STEP__CONTENT_DATA;
    write_content(content, &transaction->arena, &file.entity, &file.data);
    step.action_case = action;
    step.write_file = &file; /* the same member of the union for append_file */
    add_step(transaction, &step, if_match);
}

void tavola_transaction_write_file(struct tavola_transaction *transaction, const char *path,
    const struct tavola_content *content, const char *if_match)
{
    add_file(transaction, TAVOLA__V1__STEP__ACTION_WRITE_FILE, path, content, if_match);
}

void tavola_transaction_append_file(struct tavola_transaction *transaction, const char *path,
    const struct tavola_content *content, const char *if_match)
{
    add_file(transaction, TAVOLA__V1__STEP__ACTION_APPEND_FILE, path, content, if_match);
}

static ProtobufCBinaryData optional_bytes(const char *text)
{
    return codec_bytes(text ? str_of(text) : STR_EMPTY);
}

void tavola_transaction_put_blob(struct tavola_transaction *transaction,
    const struct tavola_blob_target *blob, const struct tavola_content *content, const char *if_match)
{
    Tavola__V1__Step step = TAVOLA__V1__STEP__INIT;
    Tavola__V1__PutBlobStep put = TAVOLA__V1__PUT_BLOB_STEP__INIT;

    put.name = codec_bytes(str_of(blob->name));
    put.content_type = optional_bytes(blob->content_type);
    put.if_match = optional_bytes(blob->if_match);
    put.if_absent = blob->if_absent;
    put.delete_entity = content->delete_entity;
    put.content_case =
        content->table ? TAVOLA__V1__PUT_BLOB_STEP__CONTENT_ENTITY : TAVOLA__V1__PUT_BLOB_STEP__CONTENT_DATA;
    write_content(content, &transaction->arena, &put.entity, &put.data);
    step.action_case = TAVOLA__V1__STEP__ACTION_PUT_BLOB;
    step.put_blob = &put;
    add_step(transaction, &step, if_match);
}

void tavola_transaction_delete_blob(
    struct tavola_transaction *transaction, const char *name, const char *if_match)
{
    Tavola__V1__Step step = TAVOLA__V1__STEP__INIT;
    Tavola__V1__DeleteBlobStep delete = TAVOLA__V1__DELETE_BLOB_STEP__INIT;

    delete.name = codec_bytes(str_of(name));
    delete.if_match = optional_bytes(if_match);
    step.action_case = TAVOLA__V1__STEP__ACTION_DELETE_BLOB;
    step.delete_blob = &delete;
    add_step(transaction, &step, NULL);
}

void tavola_transaction_http_call(struct tavola_transaction *transaction,
    const struct tavola_http_request *request, const struct tavola_content *content, const char *if_match)
{
    Tavola__V1__Step step = TAVOLA__V1__STEP__INIT;
    Tavola__V1__HttpCallStep call = TAVOLA__V1__HTTP_CALL_STEP__INIT;

    call.url = codec_bytes(str_of(request->url));
    call.method = optional_bytes(request->method);
    call.content_type = optional_bytes(request->content_type);
    call.delete_entity = content->delete_entity;
    call.content_case = content->table ? TAVOLA__V1__HTTP_CALL_STEP__CONTENT_ENTITY
                                       : TAVOLA__V1__HTTP_CALL_STEP__CONTENT_DATA;
    write_content(content, &transaction->arena, &call.entity, &call.data);
    step.action_case = TAVOLA__V1__STEP__ACTION_HTTP_CALL;
    step.http_call = &call;
    add_step(transaction, &step, if_match);
}

/* ---- calls ---- */

enum tavola_code tavola_transaction_submit(
    struct tavola *client, const struct tavola_transaction *transaction, struct tavola_error *error)
{
    Tavola__V1__SubmitTransactionRequest head = TAVOLA__V1__SUBMIT_TRANSACTION_REQUEST__INIT;
    struct session_call call;
    struct tavola_error own;
    struct arena arena;
    struct buf request;
    struct str reply;

    error = call_error_begin(error, &own);
    if (transaction->mistake.code != TAVOLA_OK) {
        *error = transaction->mistake;
        return error->code;
    }
    arena_init(&arena);
    buf_init(&request, &arena);
    head.transaction_id = codec_bytes(transaction->id);
    codec_pack(&request, 0, &head.base);
    buf_append(&request, buf_str(&transaction->steps));
    session_call_init(client, SERVICE "SubmitTransaction", &request, 0, &call);
    (void)session_run(client, &call, &arena, &reply, error);
    arena_cleanup(&arena);
    return error->code;
}

/* Call WaitTransaction once. It answers with the state at its end. */
static enum tavola_code wait_once(struct tavola *client, const char *id, int64_t timeout_ms,
    enum tavola_transaction_state *out, struct tavola_error *error)
{
    Tavola__V1__WaitTransactionRequest request = TAVOLA__V1__WAIT_TRANSACTION_REQUEST__INIT;
    const Tavola__V1__WaitTransactionResponse *answer;
    struct arena arena;
    const void *reply;

    arena_init(&arena);
    request.transaction_id = codec_bytes(str_of(id));
    if (session_ask(client,
            &(struct session_request){ .path = SERVICE "WaitTransaction",
                .message = &request.base,
                .reply_type = &tavola__v1__wait_transaction_response__descriptor,
                .timeout_ms = timeout_ms },
            &arena, &reply, error) == TAVOLA_OK) {
        answer = reply;
        if (answer->transaction)
            *out = (enum tavola_transaction_state)answer->transaction->state;
    }
    arena_cleanup(&arena);
    return error->code;
}

static bool is_final(enum tavola_transaction_state state)
{
    return state != TAVOLA_TRANSACTION_PENDING && state != TAVOLA_TRANSACTION_RUNNING;
}

enum tavola_code tavola_transaction_wait(struct tavola *client, const char *id, int64_t timeout_ms,
    enum tavola_transaction_state *out, struct tavola_error *error)
{
    int64_t until_us = clock_monotonic_us() + timeout_ms * US_PER_MS, left_ms = timeout_ms;
    enum tavola_transaction_state state = TAVOLA_TRANSACTION_PENDING;
    struct tavola_error own;

    error = call_error_begin(error, &own);
    do {
        if (wait_once(client, id, left_ms < MAX_WAIT_MS ? left_ms : MAX_WAIT_MS, &state, error) != TAVOLA_OK)
            return error->code;
        left_ms = (until_us - clock_monotonic_us()) / US_PER_MS;
    } while (!is_final(state) && left_ms > MIN_WAIT_MS);
    *out = state;
    return TAVOLA_OK;
}
