/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.h - one connection to Redis, made when it is needed and again when it broke, and batches of
 * commands sent as one pipeline.
 *
 * Where Sentinels say who the master is, they are asked before every connection and, while one lasts, every ten
 * seconds. A Redis that answers as a replica, or without its replicas, is left: the next connection may find
 * another one.
 *
 * A redis belongs to one thread. TLS writes to its socket plainly, so programs ignore SIGPIPE.
 */
#ifndef QUEUE_REDIS_H
#define QUEUE_REDIS_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/embedded.h"
#include "base/error.h"
#include "base/str.h"
#include "queue/redis_url.h"

struct redis;

/*
 * Read the address and the certificates; nothing is connected yet. scripts: the Lua scripts that batches may
 * name, NULL at the end. Both outlive the connection.
 * STATUS_INVALID  see redis_url.h and redis_tls.h; certificates are set, but the address is one without TLS
 */
MUST_USE enum status redis_open(const struct redis_access *access, const struct embedded *const *scripts,
    struct redis **out, struct error *err);
void redis_close(struct redis *redis);

/* One command: its words are borrowed until the batch has run. */
struct redis_command {
    struct arena *arena;
    const char **words;
    size_t *lens;
    size_t count;
    size_t room;
    const struct embedded *script; /* NULL: an ordinary command */
};

/* Commands and, after redis_run, one reply for each. */
struct redis_batch {
    struct arena *arena;
    struct redis_command *commands;
    redisReply **replies;
    size_t count;
    size_t room;
};

/* The arena must outlive the batch; room is the most commands it takes (asserted). */
void redis_batch_init(struct redis_batch *batch, struct arena *arena, size_t room);
void redis_batch_cleanup(struct redis_batch *batch); /* releases the replies */
void redis_batch_drop_replies(struct redis_batch *batch);
#define REDIS_BATCH __attribute__((cleanup(redis_batch_cleanup))) struct redis_batch

/* Begin a command, or the call of a script with its keys counted; words follow with redis_word. */
struct redis_command *redis_command(struct redis_batch *batch, const char *name);
struct redis_command *redis_script(struct redis_batch *batch, const struct embedded *script, struct str key);
void redis_word(struct redis_command *command, struct str word);
void redis_word_int(struct redis_command *command, int64_t number);

/*
 * Send all commands in one pipeline and wait for all replies. wait_ms: how long the server may take on
 * purpose (BLOCK), on top of the ordinary time limit. Error replies are replies: see redis_reply_status.
 *
 * STATUS_OK           every command has its reply
 * STATUS_UNAVAILABLE  no connection, or it broke, or time is up: no command has a reply, any may have run.
 *                     The connection is closed; the next call makes a new one, but after a failed attempt
 *                     not before a pause is over, four times as long as the attempt took
 */
MUST_USE enum status redis_run(
    struct redis *redis, struct redis_batch *batch, int64_t wait_ms, struct error *err);

/*
 * What a reply says.
 * STATUS_OK           not an error
 * STATUS_LIMIT        Redis is out of memory (OOM)
 * STATUS_UNAVAILABLE  loading, read-only, without its replicas, not logged in: no fault of the command
 * STATUS_PRECONDITION the consumer group, or its stream, is gone
 * STATUS_INTERNAL     anything else, such as a key of the wrong type
 */
MUST_USE enum status redis_reply_status(const redisReply *reply, struct error *err);

/* Whether a reply is the error whose first word this is. */
bool redis_reply_is_error(const redisReply *reply, const char *code);

/* Typed views; false when the reply has another type. */
bool redis_reply_int(const redisReply *reply, int64_t *out);
bool redis_reply_str(const redisReply *reply, struct str *out); /* borrowed */
bool redis_reply_array(const redisReply *reply, size_t least);  /* an array of at least this many */

#endif
