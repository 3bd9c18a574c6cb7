/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - the form of an intent in a stream entry: a field whose name "v2" is the version of
 * the form, and a field "at". The value of "v2" is text:
 *
 *     BUCKET ID KIND TABLE LENGTH PARTITIONROW
 *
 * Numbers are decimal; ID is 32 hexadecimal digits (domain/intents/intent_id.h). LENGTH is the
 * length of the partition key in bytes. Partition key and row key may have any bytes and reach to
 * the end.
 *
 * The value of "at" is 24 hexadecimal digits: the ctids of the intent's row and of the source's row, or zeros
 * (domain/intents/row_ctid.h). Earlier versions write no "at", so it may be absent; a value of another form
 * counts as zeros.
 */
#ifndef QUEUE_MESSAGE_H
#define QUEUE_MESSAGE_H

#include <stdbool.h>

#include "queue/queue.h"
#include "queue/redis.h"

/* of the value of "at" */
enum { MESSAGE_CTIDS_DIGITS = 2 * sizeof(struct intent_ctids) };

/* Append the values of "v2" and "at" as two words of the command. */
void message_encode(const struct intent *intent, struct redis_command *command);

/*
 * Read one entry: its id and the array of its fields. Strings are copied into the arena.
 *
 * false: the entry has no field "v2", or one of the two fields twice, or a part of the value of "v2" is missing or out
 *        of range. entry_id is set if the id is readable, so the caller can remove the entry.
 */
bool message_decode(
    const redisReply *id, const redisReply *fields, struct arena *arena, struct queue_message *out);

#endif
