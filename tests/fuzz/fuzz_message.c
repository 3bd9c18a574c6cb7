/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_message.c - any entry of a stream as a message: other programs may write to Redis. The input is cut into an
 * entry's id and its fields by one length byte each; an accepted message is within its limits.
 */
#include "domain/limits.h"
#include "queue/message.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_WORDS = 32 };

fuzz_fn fuzz_message;

void fuzz_message(struct str input)
{
    redisReply words[MAX_WORDS] = { 0 }, *elements[MAX_WORDS];
    redisReply fields = { .type = REDIS_REPLY_ARRAY, .element = elements };
    struct queue_message message;
    struct arena arena;
    size_t count = 0, given = input.len;

    arena_init(&arena);
    while (input.len > 0 && count < MAX_WORDS) {
        size_t len = (unsigned char)input.data[0];
        struct str word;

        input = str_from(input, 1);
        word = arena_copy(&arena, str_of_bytes(input.data, len < input.len ? len : input.len));
        input = str_from(input, word.len);
        words[count] =
            (redisReply){ .type = REDIS_REPLY_STRING, .str = (char *)(uintptr_t)word.data, .len = word.len };
        elements[count] = &words[count];
        count++;
    }
    /* The first word is the entry's id. */
    fields.element = elements + 1;
    fields.elements = count > 0 ? count - 1 : 0;
    if (count > 0 && message_decode(&words[0], &fields, &arena, &message)) {
        fuzz_require(message.intent.bucket >= 0 && message.intent.bucket < BUCKETS);
        fuzz_require(message.intent.kind >= 0 && message.intent.table_id >= 0);
        fuzz_require(strlen(message.entry_id) <= words[0].len);
        fuzz_require(message.intent.key.partition.len + message.intent.key.row.len < given);
    }
    arena_cleanup(&arena);
}
