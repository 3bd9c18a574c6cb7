/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_transaction.c - see the header.
 */
#include "api/codec_transaction.h"

#include "api/codec_error.h"
#include "api/codec_write.h"
#include "domain/account_id.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/text.h"

static enum status account_refused(struct error *err)
{
    (void)reason_set(err, REASON_INVALID_INPUT, "account is not valid UTF-8 text of at most %d bytes",
        (int)LIMIT_KEY_BYTES);
    return error_in_field(err, "account");
}

/*
 * Decode the account of a step. The caller's own account becomes the empty text, whether the step names it or
 * not, so that equal steps have equal bytes.
 */
static enum status account_decode(
    ProtobufCBinaryData account, struct str own, struct str *out, struct error *err)
{
    *out = str_equal(codec_str(account), account_id_name(own)) ? STR_EMPTY : codec_str(account);
    if (out->len > LIMIT_KEY_BYTES || !text_check(*out, NULL, NULL))
        return account_refused(err);
    return STATUS_OK;
}

static enum status put_parts_decode(const Tavola__V1__PutStep *put, struct str account, struct arena *arena,
    struct step *out, struct error *err)
{
    struct property_excess *excess; /* what it is too large for is known when the table is */
    struct entity entity;

    TRY(account_decode(put->account, account, &out->account, err));
    out->table = codec_str(put->table);
    if (table_name_check(out->table, err) != STATUS_OK)
        return error_in_field(err, "table");
    TRY(codec_entity_decode_wide(put->entity, "entity", arena, &entity, &excess, err));
    out->key = entity.key;
    out->properties = entity.properties;
    out->expires = entity.expires;
    return STATUS_OK;
}

/* Decode a write. The caller of this function sets out->kind. */
static enum status put_decode(const Tavola__V1__PutStep *put, const char *field, struct str account,
    struct arena *arena, struct step *out, struct error *err)
{
    if (put_parts_decode(put, account, arena, out, err) != STATUS_OK)
        return error_in_field(err, field);
    return STATUS_OK;
}

struct address_out {
    struct str *account, *table;
    struct entity_key *key;
};

static enum status read_address(
    const Tavola__V1__EntityAddress *address, struct str own, struct address_out out, struct error *err)
{
    TRY(account_decode(address->account, own, out.account, err));
    *out.table = codec_str(address->table);
    if (table_name_check(*out.table, err) != STATUS_OK)
        return error_in_field(err, "table");
    return codec_entity_key_decode(address->key, "key", out.key, err);
}

static enum status address_decode(const Tavola__V1__EntityAddress *address, const char *field, struct str own,
    struct address_out out, struct error *err)
{
    if (!address)
        return codec_missing(err, field, "the address of an entity");
    if (read_address(address, own, out, err) != STATUS_OK)
        return error_in_field(err, field);
    return STATUS_OK;
}

static struct address_out first_address(struct step *step)
{
    return (struct address_out){ &step->account, &step->table, &step->key };
}

static struct address_out second_address(struct step *step)
{
    return (struct address_out){ &step->to_account, &step->to_table, &step->to_key };
}

static enum status move_decode(
    const Tavola__V1__MoveStep *move, struct str account, struct step *out, struct error *err)
{
    out->kind = STEP_MOVE;
    TRY(address_decode(move->source, "move.source", account, first_address(out), err));
    return address_decode(move->destination, "move.destination", account, second_address(out), err);
}

static enum status file_decode(const Tavola__V1__FileStep *file, const char *field, struct str account,
    struct step *out, struct error *err)
{
    out->path = codec_str(file->path);
    out->deletes_entity = file->delete_entity;
    switch (file->content_case) {
    case TAVOLA__V1__FILE_STEP__CONTENT_DATA:
        out->content = codec_str(file->data);
        return STATUS_OK;
    case TAVOLA__V1__FILE_STEP__CONTENT_ENTITY:
        if (address_decode(file->entity, "entity", account, first_address(out), err) != STATUS_OK)
            return error_in_field(err, field);
        return STATUS_OK;
    case TAVOLA__V1__FILE_STEP__CONTENT__NOT_SET:
    case _TAVOLA__V1__FILE_STEP__CONTENT__CASE_IS_INT_SIZE:
        break;
    }
    (void)codec_missing(err, "content", "data or entity");
    return error_in_field(err, field);
}

static enum status put_blob_decode(
    const Tavola__V1__PutBlobStep *put, struct str account, struct step *out, struct error *err)
{
    out->kind = STEP_PUT_BLOB;
    out->path = codec_str(put->name);
    out->deletes_entity = put->delete_entity;
    out->content_type = codec_str(put->content_type);
    out->if_match = codec_str(put->if_match);
    out->if_absent = put->if_absent;
    switch (put->content_case) {
    case TAVOLA__V1__PUT_BLOB_STEP__CONTENT_DATA:
        out->content = codec_str(put->data);
        return STATUS_OK;
    case TAVOLA__V1__PUT_BLOB_STEP__CONTENT_ENTITY:
        return address_decode(put->entity, "put_blob.entity", account, first_address(out), err);
    case TAVOLA__V1__PUT_BLOB_STEP__CONTENT__NOT_SET:
    case _TAVOLA__V1__PUT_BLOB_STEP__CONTENT__CASE_IS_INT_SIZE:
        break;
    }
    return codec_missing(err, "put_blob.content", "data or entity");
}

static enum status method_decode(struct str method, bool *uses_put, struct error *err)
{
    *uses_put = str_equal(method, STR_LITERAL("PUT"));
    if (*uses_put || method.len == 0 || str_equal(method, STR_LITERAL("POST")))
        return STATUS_OK;
    (void)reason_set(err, REASON_INVALID_INPUT, "method is neither POST nor PUT");
    return error_in_field(err, "http_call.method");
}

static enum status http_call_decode(
    const Tavola__V1__HttpCallStep *call, struct str account, struct step *out, struct error *err)
{
    out->kind = STEP_HTTP_CALL;
    out->path = codec_str(call->url);
    out->deletes_entity = call->delete_entity;
    out->content_type = codec_str(call->content_type);
    TRY(method_decode(codec_str(call->method), &out->uses_put, err));
    switch (call->content_case) {
    case TAVOLA__V1__HTTP_CALL_STEP__CONTENT_DATA:
        out->content = codec_str(call->data);
        return STATUS_OK;
    case TAVOLA__V1__HTTP_CALL_STEP__CONTENT_ENTITY:
        return address_decode(call->entity, "http_call.entity", account, first_address(out), err);
    case TAVOLA__V1__HTTP_CALL_STEP__CONTENT__NOT_SET:
    case _TAVOLA__V1__HTTP_CALL_STEP__CONTENT__CASE_IS_INT_SIZE:
        break;
    }
    return codec_missing(err, "http_call.content", "data or entity");
}

enum status codec_transaction_address_digest(const Tavola__V1__EntityAddress *address, const char *field,
    struct str own, int64_t *out, struct error *err)
{
    struct step named = { 0 };

    TRY(address_decode(address, field, own, first_address(&named), err));
    *out = transaction_key_digest(own, named.account, named.table, &named.key);
    return STATUS_OK;
}

static enum status step_decode(const Tavola__V1__Step *message, struct str account, struct arena *arena,
    struct step *out, struct error *err)
{
    TRY(codec_write_condition_decode(message->precondition, arena, &out->condition, err));
    switch (message->action_case) {
    case TAVOLA__V1__STEP__ACTION_INSERT_OR_REPLACE:
        out->kind = STEP_INSERT_OR_REPLACE;
        return put_decode(message->insert_or_replace, "insert_or_replace", account, arena, out, err);
    case TAVOLA__V1__STEP__ACTION_INSERT_OR_MERGE:
        out->kind = STEP_INSERT_OR_MERGE;
        return put_decode(message->insert_or_merge, "insert_or_merge", account, arena, out, err);
    case TAVOLA__V1__STEP__ACTION_DELETE_IF_EXISTS:
        out->kind = STEP_DELETE_IF_EXISTS;
        return address_decode(
            message->delete_if_exists, "delete_if_exists", account, first_address(out), err);
    case TAVOLA__V1__STEP__ACTION_MOVE:
        return move_decode(message->move, account, out, err);
    case TAVOLA__V1__STEP__ACTION_WRITE_FILE:
        out->kind = STEP_WRITE_FILE;
        return file_decode(message->write_file, "write_file", account, out, err);
    case TAVOLA__V1__STEP__ACTION_APPEND_FILE:
        out->kind = STEP_APPEND_FILE;
        return file_decode(message->append_file, "append_file", account, out, err);
    case TAVOLA__V1__STEP__ACTION_PUT_BLOB:
        return put_blob_decode(message->put_blob, account, out, err);
    case TAVOLA__V1__STEP__ACTION_DELETE_BLOB:
        out->kind = STEP_DELETE_BLOB;
        out->path = codec_str(message->delete_blob->name);
        out->if_match = codec_str(message->delete_blob->if_match);
        return STATUS_OK;
    case TAVOLA__V1__STEP__ACTION_HTTP_CALL:
        return http_call_decode(message->http_call, account, out, err);
    case TAVOLA__V1__STEP__ACTION__NOT_SET:
    case _TAVOLA__V1__STEP__ACTION__CASE_IS_INT_SIZE:
        break;
    }
    return codec_missing(err, "action", "exactly one of the actions");
}

enum status codec_transaction_decode(const Tavola__V1__SubmitTransactionRequest *request, struct str account,
    struct arena *arena, struct transaction *out, struct error *err)
{
    struct transaction transaction = {
        .id = codec_str(request->transaction_id),
        .account = account,
        .state = TRANSACTION_PENDING,
        .step_count = request->n_steps,
    };

    if (request->n_steps == 0 || request->n_steps > LIMIT_TRANSACTION_STEPS)
        return reason_set(err, REASON_INVALID_INPUT, "steps has %zu entries, but must have 1 to %d",
            request->n_steps, LIMIT_TRANSACTION_STEPS);
    transaction.steps = ARENA_ARRAY(arena, struct step, request->n_steps);
    for (size_t i = 0; i < request->n_steps; i++) {
        enum status status = step_decode(request->steps[i], account, arena, &transaction.steps[i], err);

        if (status != STATUS_OK) {
            error_add_meta_int(err, "operation_index", (int64_t)i);
            return error_in_element(err, "steps", i);
        }
    }
    TRY(transaction_check(&transaction, err));
    *out = transaction;
    return STATUS_OK;
}

enum status codec_transaction_id_check(struct str id, struct error *err)
{
    bool good = id.len > 0 && id.len <= LIMIT_TRANSACTION_ID_BYTES + LIMIT_ID_SCOPE_BYTES;

    for (size_t i = 0; good && i < id.len; i++)
        good = id.data[i] >= ' ' && id.data[i] <= '~';
    if (!good)
        return reason_set(err, REASON_TRANSACTION_NOT_FOUND,
            "there is no such transaction: a transaction id has 1 to 128 printable ASCII characters");
    return STATUS_OK;
}

static Tavola__V1__EntityAddress *address_message(
    struct str account, struct str table, const struct entity_key *key, struct arena *arena)
{
    Tavola__V1__EntityAddress *out = ARENA_NEW(arena, Tavola__V1__EntityAddress);

    tavola__v1__entity_address__init(out);
    out->account = codec_bytes(account_id_name(account));
    out->table = codec_bytes(table);
    out->key = codec_entity_key_message(key, arena);
    return out;
}

static Tavola__V1__PutStep *put_message(
    const struct step *step, enum transaction_detail detail, struct arena *arena)
{
    Tavola__V1__PutStep *out = ARENA_NEW(arena, Tavola__V1__PutStep);
    struct property_list properties = step->properties;

    if (detail == TRANSACTION_WITHOUT_PROPERTIES)
        properties.bytes = STR_EMPTY;
    tavola__v1__put_step__init(out);
    out->account = codec_bytes(account_id_name(step->account));
    out->table = codec_bytes(step->table);
    out->entity = codec_entity_message(&step->key, properties, step->expires, arena);
    return out;
}

static Tavola__V1__MoveStep *move_message(const struct step *step, struct arena *arena)
{
    Tavola__V1__MoveStep *out = ARENA_NEW(arena, Tavola__V1__MoveStep);

    tavola__v1__move_step__init(out);
    out->source = address_message(step->account, step->table, &step->key, arena);
    out->destination = address_message(step->to_account, step->to_table, &step->to_key, arena);
    return out;
}

static Tavola__V1__FileStep *file_message(
    const struct step *step, enum transaction_detail detail, struct arena *arena)
{
    Tavola__V1__FileStep *out = ARENA_NEW(arena, Tavola__V1__FileStep);

    tavola__v1__file_step__init(out);
    out->path = codec_bytes(step->path);
    out->delete_entity = step->deletes_entity;
    if (transaction_step_has_entity(step)) {
        out->content_case = TAVOLA__V1__FILE_STEP__CONTENT_ENTITY;
        out->entity = address_message(step->account, step->table, &step->key, arena);
    } else {
        out->content_case = TAVOLA__V1__FILE_STEP__CONTENT_DATA;
        if (detail == TRANSACTION_WHOLE)
            out->data = codec_bytes(step->content);
    }
    return out;
}

static Tavola__V1__PutBlobStep *put_blob_message(
    const struct step *step, enum transaction_detail detail, struct arena *arena)
{
    Tavola__V1__PutBlobStep *out = ARENA_NEW(arena, Tavola__V1__PutBlobStep);

    tavola__v1__put_blob_step__init(out);
    out->name = codec_bytes(step->path);
    out->delete_entity = step->deletes_entity;
    out->content_type = codec_bytes(step->content_type);
    out->if_match = codec_bytes(step->if_match);
    out->if_absent = step->if_absent;
    if (transaction_step_has_entity(step)) {
        out->content_case = TAVOLA__V1__PUT_BLOB_STEP__CONTENT_ENTITY;
        out->entity = address_message(step->account, step->table, &step->key, arena);
    } else {
        out->content_case = TAVOLA__V1__PUT_BLOB_STEP__CONTENT_DATA;
        if (detail == TRANSACTION_WHOLE)
            out->data = codec_bytes(step->content);
    }
    return out;
}

static Tavola__V1__DeleteBlobStep *delete_blob_message(const struct step *step, struct arena *arena)
{
    Tavola__V1__DeleteBlobStep *out = ARENA_NEW(arena, Tavola__V1__DeleteBlobStep);

    tavola__v1__delete_blob_step__init(out);
    out->name = codec_bytes(step->path);
    out->if_match = codec_bytes(step->if_match);
    return out;
}

static Tavola__V1__HttpCallStep *http_call_message(
    const struct step *step, enum transaction_detail detail, struct arena *arena)
{
    Tavola__V1__HttpCallStep *out = ARENA_NEW(arena, Tavola__V1__HttpCallStep);

    tavola__v1__http_call_step__init(out);
    out->url = codec_bytes(step->path);
    out->method = codec_bytes(step->uses_put ? STR_LITERAL("PUT") : STR_LITERAL("POST"));
    out->delete_entity = step->deletes_entity;
    out->content_type = codec_bytes(step->content_type);
    if (transaction_step_has_entity(step)) {
        out->content_case = TAVOLA__V1__HTTP_CALL_STEP__CONTENT_ENTITY;
        out->entity = address_message(step->account, step->table, &step->key, arena);
    } else {
        out->content_case = TAVOLA__V1__HTTP_CALL_STEP__CONTENT_DATA;
        if (detail == TRANSACTION_WHOLE)
            out->data = codec_bytes(step->content);
    }
    return out;
}

static Tavola__V1__Precondition *condition_message(const struct condition *condition, struct arena *arena)
{
    Tavola__V1__Precondition *out;
    char etag[ETAG_BYTES];

    if (!condition_is_set(condition))
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__Precondition);
    tavola__v1__precondition__init(out);
    out->condition = codec_bytes(condition->text);
    if (condition->kind == CONDITION_EXISTS)
        out->if_match = codec_bytes(STR_LITERAL("*"));
    else if (condition->kind == CONDITION_MATCHES)
        out->if_match =
            codec_bytes(arena_copy(arena, str_of_bytes(etag, etag_format(condition->etag, etag))));
    return out;
}

static Tavola__V1__Step *step_message(
    const struct step *step, enum transaction_detail detail, struct arena *arena)
{
    Tavola__V1__Step *out = ARENA_NEW(arena, Tavola__V1__Step);

    tavola__v1__step__init(out);
    out->precondition = condition_message(&step->condition, arena);
    switch (step->kind) {
    case STEP_INSERT_OR_REPLACE:
        out->action_case = TAVOLA__V1__STEP__ACTION_INSERT_OR_REPLACE;
        out->insert_or_replace = put_message(step, detail, arena);
        break;
    case STEP_INSERT_OR_MERGE:
        out->action_case = TAVOLA__V1__STEP__ACTION_INSERT_OR_MERGE;
        out->insert_or_merge = put_message(step, detail, arena);
        break;
    case STEP_DELETE_IF_EXISTS:
        out->action_case = TAVOLA__V1__STEP__ACTION_DELETE_IF_EXISTS;
        out->delete_if_exists = address_message(step->account, step->table, &step->key, arena);
        break;
    case STEP_MOVE:
        out->action_case = TAVOLA__V1__STEP__ACTION_MOVE;
        out->move = move_message(step, arena);
        break;
    case STEP_WRITE_FILE:
        out->action_case = TAVOLA__V1__STEP__ACTION_WRITE_FILE;
        out->write_file = file_message(step, detail, arena);
        break;
    case STEP_APPEND_FILE:
        out->action_case = TAVOLA__V1__STEP__ACTION_APPEND_FILE;
        out->append_file = file_message(step, detail, arena);
        break;
    case STEP_PUT_BLOB:
        out->action_case = TAVOLA__V1__STEP__ACTION_PUT_BLOB;
        out->put_blob = put_blob_message(step, detail, arena);
        break;
    case STEP_DELETE_BLOB:
        out->action_case = TAVOLA__V1__STEP__ACTION_DELETE_BLOB;
        out->delete_blob = delete_blob_message(step, arena);
        break;
    case STEP_HTTP_CALL:
        out->action_case = TAVOLA__V1__STEP__ACTION_HTTP_CALL;
        out->http_call = http_call_message(step, detail, arena);
        break;
    }
    return out;
}

static Tavola__V1__Error *attempt_error(const struct attempt *attempt, struct arena *arena)
{
    Tavola__V1__Error *out;

    if (attempt->status == STATUS_OK && attempt->reason.len == 0)
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__Error);
    tavola__v1__error__init(out);
    out->code = codec_error_status_code(attempt->status);
    out->reason = codec_bytes(attempt->reason);
    out->message = codec_bytes(codec_text(attempt->message, arena));
    return out;
}

static Tavola__V1__StepReceipt *receipt_message(const struct receipt *receipt, struct arena *arena)
{
    Tavola__V1__StepReceipt *out;

    if (receipt->digest.len == 0)
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__StepReceipt);
    tavola__v1__step_receipt__init(out);
    out->size = receipt->size;
    out->sha256 = codec_bytes(receipt->digest);
    out->offset = receipt->offset;
    out->etag = codec_bytes(receipt->etag);
    out->http_status = receipt->http_status;
    return out;
}

static Tavola__V1__Attempt *attempt_message(const struct attempt *attempt, struct arena *arena)
{
    Tavola__V1__Attempt *out = ARENA_NEW(arena, Tavola__V1__Attempt);

    tavola__v1__attempt__init(out);
    out->step = attempt->step;
    out->number = attempt->number;
    out->worker = codec_bytes(codec_text(attempt->worker, arena));
    out->started = codec_timestamp(attempt->started, arena);
    out->ended = codec_timestamp(attempt->ended, arena);
    out->etag_before = codec_bytes(attempt->etag_before);
    out->etag_after = codec_bytes(attempt->etag_after);
    out->error = attempt_error(attempt, arena);
    out->receipt = receipt_message(&attempt->receipt, arena);
    return out;
}

Tavola__V1__Transaction *codec_transaction_message(
    const struct transaction *transaction, enum transaction_detail detail, struct arena *arena)
{
    Tavola__V1__Transaction *out = ARENA_NEW(arena, Tavola__V1__Transaction);

    tavola__v1__transaction__init(out);
    out->transaction_id = codec_bytes(transaction->id);
    out->state = (Tavola__V1__TransactionState)transaction->state;
    out->steps_done = transaction->steps_done;
    out->submitted = codec_timestamp(transaction->submitted, arena);
    if (detail == TRANSACTION_SUMMARY)
        return out;
    out->steps = ARENA_ARRAY(arena, Tavola__V1__Step *, transaction->step_count);
    for (size_t i = 0; i < transaction->step_count; i++)
        out->steps[out->n_steps++] = step_message(&transaction->steps[i], detail, arena);
    out->timeline = ARENA_ARRAY(arena, Tavola__V1__Attempt *, transaction->attempt_count);
    for (size_t i = 0; i < transaction->attempt_count; i++)
        out->timeline[out->n_timeline++] = attempt_message(&transaction->timeline[i], arena);
    return out;
}

void codec_transaction_write(struct buf *out, uint32_t field, const struct transaction *transaction,
    struct str consistency_token, struct arena *arena)
{
    Tavola__V1__Transaction *message = codec_transaction_message(transaction, TRANSACTION_WHOLE, arena);

    if (tavola__v1__transaction__get_packed_size(message) > LIMIT_REPLY_BYTES)
        message = codec_transaction_message(transaction, TRANSACTION_WITHOUT_PROPERTIES, arena);
    message->consistency_token = codec_bytes(consistency_token);
    codec_pack(out, field, &message->base);
}
