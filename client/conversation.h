/*
 * conversation.h - calls of a command to the server of TAVOLA_TARGET, and their replies, which are read by hand, field by
 * field: a command shows few of them.
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

/* "UNAVAILABLE / SERVER_DRAINING: ...": status and reason of a call that failed, on standard error. */
void conversation_complain(const struct rpc_status *ended);

/* The last value of a field: text, or the bytes of a message; empty when it is not there. */
struct str reply_text(struct str message, uint32_t number);
/* 0 when it is not there. */
uint64_t reply_number(struct str message, uint32_t number);
double reply_double(struct str message, uint32_t number);
/* The seconds of a Duration; below 0: it is not there. */
double reply_seconds(struct str message, uint32_t number);
/* How many numbers a packed field holds. */
size_t reply_count(struct str message, uint32_t number);

#endif
