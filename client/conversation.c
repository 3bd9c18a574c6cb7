/*
 * conversation.c - see the header.
 */
#include "client/conversation.h"

#include <stdio.h>
#include <string.h>

#include "base/wire.h"
#include "client/connect.h"
#include "rpc/code.h"

enum { CALL_TIMEOUT_MS = 30000 };

/* google.rpc.Status and ErrorInfo, as far as they are shown. */
enum { STATUS_DETAILS = 3, ANY_TYPE = 1, ANY_VALUE = 2, INFO_REASON = 1 };

bool conversation_begin(struct conversation *out, const struct client_config *config)
{
    struct error err = { 0 };

    if (client_connect(config, &out->channel, &err) != STATUS_OK) {
        fprintf(stderr, "tavola: %s\n", err.message);
        return false;
    }
    arena_init(&out->arena);
    return true;
}

int conversation_end(struct conversation *conversation, int exit_code)
{
    rpc_channel_close(conversation->channel);
    arena_cleanup(&conversation->arena);
    return exit_code;
}

bool conversation_call(
    struct conversation *conversation, const char *path, struct buf *request, struct str *reply)
{
    struct rpc_status ended;

    rpc_channel_call(
        conversation->channel, path, buf_str(request), CALL_TIMEOUT_MS, &conversation->arena, reply, &ended);
    if (ended.code != 0)
        conversation_complain(&ended);
    return ended.code == 0;
}

/* ---- failures ---- */

static struct str reason_of(struct str details)
{
    static const struct str type = STR_LITERAL("type.googleapis.com/google.rpc.ErrorInfo");
    struct wire_field field;

    while (wire_read_field(&details, &field) == WIRE_FIELD)
        if (field.number == STATUS_DETAILS && field.type == WIRE_BYTES &&
            str_equal(reply_text(field.bytes, ANY_TYPE), type))
            return reply_text(reply_text(field.bytes, ANY_VALUE), INFO_REASON);
    return STR_EMPTY;
}

void conversation_complain(const struct rpc_status *ended)
{
    struct str reason = reason_of(ended->details);

    fprintf(stderr, "tavola: %s%s%.*s: %.*s\n", rpc_code_name(ended->code), reason.len > 0 ? " / " : "",
        STR_ARG(reason), STR_ARG(ended->message));
}

/* ---- replies ---- */

struct str reply_text(struct str message, uint32_t number)
{
    struct wire_field field;
    struct str out = STR_EMPTY;

    while (wire_read_field(&message, &field) == WIRE_FIELD)
        if (field.number == number && field.type == WIRE_BYTES)
            out = field.bytes;
    return out;
}

uint64_t reply_number(struct str message, uint32_t number)
{
    struct wire_field field;
    uint64_t out = 0;

    while (wire_read_field(&message, &field) == WIRE_FIELD)
        if (field.number == number && field.type == WIRE_VARINT)
            out = field.scalar;
    return out;
}

double reply_double(struct str message, uint32_t number)
{
    struct wire_field field;
    double out = 0;

    while (wire_read_field(&message, &field) == WIRE_FIELD)
        if (field.number == number && field.type == WIRE_FIXED64)
            memcpy(&out, &field.scalar, sizeof(out));
    return out;
}

double reply_seconds(struct str message, uint32_t number)
{
    struct wire_field field;
    double out = -1;

    while (wire_read_field(&message, &field) == WIRE_FIELD)
        if (field.number == number && field.type == WIRE_BYTES)
            out = (double)reply_number(field.bytes, 1) + (double)reply_number(field.bytes, 2) / 1e9;
    return out;
}

size_t reply_count(struct str message, uint32_t number)
{
    struct str packed = reply_text(message, number);
    uint64_t ignored;
    size_t count = 0;

    while (packed.len > 0 && wire_read_varint(&packed, &ignored))
        count++;
    return count;
}
