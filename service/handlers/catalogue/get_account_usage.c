/* SPDX-License-Identifier: Apache-2.0 */
/*
 * get_account_usage.c - TableService.GetAccountUsage.
 */
#include "service/handlers/handlers.h"

#include "api/codec.h"
#include "domain/ticks.h"
#include "tavola/v1/table_service.pb-c.h"

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    (void)ctx;
    (void)err;
    out->kind = OPERATION_USAGE_GET;
    return STATUS_OK;
}

static Tavola__V1__QuotaUsage message_of(const struct quota_usage *usage)
{
    Tavola__V1__QuotaUsage message = TAVOLA__V1__QUOTA_USAGE__INIT;

    message.used = usage->used;
    message.quota = usage->quota;
    return message;
}

static enum status encode_reply(
    struct call_ctx *ctx, const struct operation *operation, struct buf *reply, struct error *err)
{
    const struct outcome_usage *usage = &operation->out.usage;
    Tavola__V1__GetAccountUsageResponse message = TAVOLA__V1__GET_ACCOUNT_USAGE_RESPONSE__INIT;
    Tavola__V1__QuotaUsage tables = message_of(&usage->tables), indexes = message_of(&usage->indexes);
    Tavola__V1__QuotaUsage entities = message_of(&usage->entities), bytes = message_of(&usage->bytes);
    Google__Protobuf__Timestamp counted = GOOGLE__PROTOBUF__TIMESTAMP__INIT;

    (void)ctx;
    (void)err;
    message.tables = &tables;
    message.indexes = &indexes;
    message.entities = &entities;
    message.bytes = &bytes;
    message.index_entries = usage->entries;
    if (usage->counted != 0) {
        ticks_to_timestamp(usage->counted, &counted.seconds, &counted.nanos);
        message.counted = &counted;
    }
    codec_pack(reply, 0, &message.base);
    return STATUS_OK;
}

const struct method get_account_usage_method = {
    .path = "/tavola.v1.TableService/GetAccountUsage",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_USAGE_GET,
    .request = &tavola__v1__get_account_usage_request__descriptor,
    .decode = decode_request,
    .encode = encode_reply,
};
