/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - the form of an intent in a stream entry: one field, whose name "v2" is the version of
 * the form. Its value is text:
 *
 *     BUCKET ID KIND TABLE LENGTH PARTITIONROW
 *
 * Numbers are decimal; ID is 32 hexadecimal digits (domain/intents/intent_id.h). LENGTH is the
 * length of the partition key in bytes. Partition key and row key may have any bytes and reach to
 * the end.
 */
#ifndef QUEUE_MESSAGE_H
#define QUEUE_MESSAGE_H

#include <stdbool.h>

#include "queue/queue.h"
#include "queue/redis.h"

/* Append the value as a word of the command. */
void message_encode(const struct intent *intent, struct redis_command *command);

/*
 * Read one entry: its id and the array of its fields. Strings are copied into the arena.
 *
 * false: the entry has no field "v2" or two of them, or a part of the value is missing or out of range. entry_id is set
 *        if the id is readable, so the caller can remove the entry.
 */
bool message_decode(
    const redisReply *id, const redisReply *fields, struct arena *arena, struct queue_message *out);

#endif
