/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conversation.h - calls of a command to the server of TAVOLA_TARGET, and their replies, which are read by hand,
 * field by field: a command shows few of them.
 */
#ifndef CLIENT_CONVERSATION_H
#define CLIENT_CONVERSATION_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "client/client_config.h"
#include "rpc/channel.h"

struct conversation {
    struct rpc_channel *channel;
    struct arena arena; /* of requests and replies */
};

/* False: there is no channel, and standard error says why. */
bool conversation_begin(struct conversation *out, const struct client_config *config);

/* Returns the exit code, so that a command can end with it. */
int conversation_end(struct conversation *conversation, int exit_code);

/* path: "/tavola.v1.AdminService/ListDeadLetters". False: the call failed, and standard error says how. */
bool conversation_call(
    struct conversation *conversation, const char *path, struct buf *request, struct str *reply);

/* A method that lists in pages; the items are field 1 of its replies. */
struct listing {
    const char *path;
    uint32_t token;      /* the field of a page's token in requests */
    uint32_t next;       /* and of the next one's in replies */
    const char *heading; /* above the first item, or NULL */
    const char *none;    /* where there is no item, or NULL */
    void (*print)(struct str item);
};

/* Print all items, page by page. request: what it says beside the token. False: as with a call. */
bool conversation_list(struct conversation *conversation, const struct listing *listing, struct str request);

/* "UNAVAILABLE / SERVER_DRAINING: ...": status and reason of a call that failed, on standard error. */
void conversation_complain(const struct rpc_status *ended);

/* The next value of a repeated field of texts or messages; rest moves behind it. False: there is none any more. */
bool conversation_next(struct str *rest, uint32_t number, struct str *out);

/* The last value of a field: text, or the bytes of a message; empty when it is not there. */
struct str conversation_text(struct str message, uint32_t number);
/* 0 when it is not there. */
uint64_t conversation_number(struct str message, uint32_t number);
double conversation_double(struct str message, uint32_t number);
/* The seconds of a Duration; below 0: it is not there. */
double conversation_seconds(struct str message, uint32_t number);
/* How many numbers a packed field holds. */
size_t conversation_count(struct str message, uint32_t number);

#endif
