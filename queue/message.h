/*
 * message.h - an intent as the fields of a stream entry: v (version of this form), b (bucket), i (id),
 * k (kind), t (table id), p and r (the key's two strings, any bytes).
 */
#ifndef QUEUE_MESSAGE_H
#define QUEUE_MESSAGE_H

#include <stdbool.h>

#include "queue/queue.h"
#include "queue/redis.h"

/* Append the seven values, in the order v b i k t p r. */
void message_encode(const struct intent *intent, struct redis_command *command);

/*
 * Read one entry: its id and its fields' array. Strings are copied into the arena. entry_id is set
 * whenever the id itself can be read, so that a caller can remove what it cannot use.
 * false: another version, a field missing, doubled or out of its range.
 */
bool message_decode(
    const redisReply *id, const redisReply *fields, struct arena *arena, struct queue_message *out);

#endif
