/* SPDX-License-Identifier: Apache-2.0 */
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

/* The items of a page, in every reply that is one. */
enum { LISTED = 1 };

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

bool conversation_list(struct conversation *conversation, const struct listing *listing, struct str request)
{
    struct str reply, item, token = STR_EMPTY;
    bool any = false;

    do {
        struct buf page;

        buf_init(&page, &conversation->arena);
        buf_append(&page, request);
        wire_write_bytes(&page, listing->token, token);
        if (!conversation_call(conversation, listing->path, &page, &reply))
            return false;
        for (struct str rest = reply; conversation_next(&rest, LISTED, &item); any = true) {
            if (!any && listing->heading)
                printf("%s\n", listing->heading);
            listing->print(item);
        }
        token = conversation_text(reply, listing->next);
    } while (token.len > 0);
    if (!any && listing->none)
        printf("%s\n", listing->none);
    return true;
}

/* ---- failures ---- */

static struct str reason_of(struct str details)
{
    static const struct str type = STR_LITERAL("type.googleapis.com/google.rpc.ErrorInfo");
    struct str any;

    while (conversation_next(&details, STATUS_DETAILS, &any))
        if (str_equal(conversation_text(any, ANY_TYPE), type))
            return conversation_text(conversation_text(any, ANY_VALUE), INFO_REASON);
    return STR_EMPTY;
}

/* The message without the reason that the server puts in front of it. */
static struct str without_reason(struct str message, struct str reason)
{
    static const struct str colon = STR_LITERAL(": ");
    struct str rest;

    if (reason.len == 0 || !str_starts_with(message, reason))
        return message;
    rest = str_of_bytes(message.data + reason.len, message.len - reason.len);
    return str_starts_with(rest, colon) ? str_of_bytes(rest.data + colon.len, rest.len - colon.len) : message;
}

void conversation_complain(const struct rpc_status *ended)
{
    struct str reason = reason_of(ended->details);
    struct str message = without_reason(ended->message, reason);

    fprintf(stderr, "tavola: %s%s%.*s: %.*s\n", rpc_code_name(ended->code), reason.len > 0 ? " / " : "",
        STR_ARG(reason), STR_ARG(message));
}

/* ---- replies ---- */

bool conversation_next(struct str *rest, uint32_t number, struct str *out)
{
    struct wire_field field;

    while (wire_read_field(rest, &field) == WIRE_FIELD)
        if (field.number == number && field.type == WIRE_BYTES) {
            *out = field.bytes;
            return true;
        }
    return false;
}

/* The last one counts. 0 when it is not there. */
static uint64_t scalar_of(struct str message, uint32_t number, enum wire_type type)
{
    struct wire_field field;
    uint64_t out = 0;

    while (wire_read_field(&message, &field) == WIRE_FIELD)
        if (field.number == number && field.type == type)
            out = field.scalar;
    return out;
}

struct str conversation_text(struct str message, uint32_t number)
{
    struct str out = STR_EMPTY;

    while (conversation_next(&message, number, &out))
        continue;
    return out;
}

uint64_t conversation_number(struct str message, uint32_t number)
{
    return scalar_of(message, number, WIRE_VARINT);
}

double conversation_double(struct str message, uint32_t number)
{
    uint64_t bits = scalar_of(message, number, WIRE_FIXED64);
    double out;

    memcpy(&out, &bits, sizeof(out));
    return out;
}

double conversation_seconds(struct str message, uint32_t number)
{
    struct str duration;
    double out = -1;

    while (conversation_next(&message, number, &duration))
        out = (double)conversation_number(duration, 1) + (double)conversation_number(duration, 2) / 1e9;
    return out;
}

size_t conversation_count(struct str message, uint32_t number)
{
    struct str packed = conversation_text(message, number);
    uint64_t ignored;
    size_t count = 0;

    while (packed.len > 0 && wire_read_varint(&packed, &ignored))
        count++;
    return count;
}
