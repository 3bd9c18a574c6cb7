/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - an intent as the one field of a stream entry. The field's name is the version of this form, "v2"; its
 * value can be read by people:
 *
 *     BUCKET ID KIND TABLE LENGTH PARTITIONROW
 *
 * Numbers are decimal, LENGTH is that of the partition key in bytes, and the key's two strings, which may hold any
 * bytes, follow each other to the end.
 */
#ifndef QUEUE_MESSAGE_H
#define QUEUE_MESSAGE_H

#include <stdbool.h>

#include "queue/queue.h"
#include "queue/redis.h"

/* Append the value. */
void message_encode(const struct intent *intent, struct redis_command *command);

/*
 * Read one entry: its id and its fields' array. Strings are copied into the arena. entry_id is set
 * whenever the id itself can be read, so that a caller can remove what it cannot use.
 * false: another version, the field doubled, a part of it missing or out of its range.
 */
bool message_decode(
    const redisReply *id, const redisReply *fields, struct arena *arena, struct queue_message *out);

#endif
