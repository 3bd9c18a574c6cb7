/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.h - one connection to Redis, opened when a batch is run and opened again after it broke,
 * and batches of commands sent as one pipeline.
 *
 * If the address names Sentinels, they are asked for the master before every connection and, while
 * a connection lasts, every ten seconds. If a server answers that it is a replica, or that it has
 * too few replicas, the connection is
 * closed: the next one may reach another server.
 *
 * A struct redis is used by one thread. Writes over TLS may raise SIGPIPE, so programs ignore it.
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
 * STATUS_INVALID  see redis_url.h and redis_tls.h; or certificates are set, but the address is without TLS
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

/* The arena must outlive the batch. room: the maximum number of commands (asserted). */
void redis_batch_init(struct redis_batch *batch, struct arena *arena, size_t room);
void redis_batch_cleanup(struct redis_batch *batch); /* releases the replies */
void redis_batch_drop_replies(struct redis_batch *batch);
#define REDIS_BATCH __attribute__((cleanup(redis_batch_cleanup))) struct redis_batch

/* Begin a command, or the call of a script with its keys counted; words follow with redis_word. */
struct redis_command *redis_command(struct redis_batch *batch, const char *name);
struct redis_command *redis_script(
    struct redis_batch *batch, const struct embedded *script, const struct str *keys, size_t key_count);
void redis_word(struct redis_command *command, struct str word);
void redis_word_int(struct redis_command *command, int64_t number);

/*
 * Send all commands in one pipeline and wait for all replies. wait_ms: how long a command may block
 * in the server (BLOCK), in addition to the time limit of one second. Error replies are replies:
 * see redis_reply_status.
 *
 * STATUS_OK           every command has its reply
 * STATUS_UNAVAILABLE  there is no connection, it broke, or the time limit has passed: no command has a reply, and any
 *                     of them may have run. The connection is closed; the next call opens a new one. After a failed
 *                     attempt to connect, calls fail at once during a pause of four times the attempt's duration
 */
MUST_USE enum status redis_run(
    struct redis *redis, struct redis_batch *batch, int64_t wait_ms, struct error *err);

/*
 * The status that a reply stands for.
 * STATUS_OK           not an error
 * STATUS_LIMIT        Redis is out of memory (OOM)
 * STATUS_UNAVAILABLE  the server is loading, read-only, without its replicas, or wants a login
 * STATUS_PRECONDITION the consumer group or its stream does not exist
 * STATUS_INTERNAL     anything else, such as a key of the wrong type
 */
MUST_USE enum status redis_reply_status(const redisReply *reply, struct error *err);

/* Whether a reply is an error whose first word is `code`. */
bool redis_reply_is_error(const redisReply *reply, const char *code);

/* Typed views; false when the reply has another type. */
bool redis_reply_int(const redisReply *reply, int64_t *out);
bool redis_reply_str(const redisReply *reply, struct str *out); /* borrowed */
/* an array of at least min elements */
bool redis_reply_array(const redisReply *reply, size_t min);

#endif
