/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_json.c - any text as the JSON of a message, and any bytes as a message to be written. The first byte chooses the
 * type and the direction. Accepted input converted in the other direction gives the same.
 */
#include "api/json/json_read.h"
#include "api/json/json_write.h"
#include "tests/fuzz/fuzz.h"

fuzz_fn fuzz_json;

static const struct schema_message *choose(unsigned char byte)
{
    static const char *const names[] = { "tavola.v1.Entity", "tavola.v1.CreateIndexRequest",
        "tavola.v1.UpdateTableRequest", "tavola.v1.LookupIndexRequest", "google.rpc.Status",
        "tavola.v1.ListQueuesResponse", "google.protobuf.Duration" };

    return schema_find_message(schema_of_api(), str_of(names[byte / 2 % (sizeof(names) / sizeof(names[0]))]));
}

/* Bytes that were read from JSON, or written as JSON before: they are written and read without loss. */
static void require_same(const struct schema_message *message, struct str bytes, struct arena *arena)
{
    struct error err = { 0 };
    struct buf text, again;

    buf_init(&text, arena);
    buf_init(&again, arena);
    fuzz_require(json_write_message(schema_of_api(), message, bytes, 2, &text, &err) == STATUS_OK);
    fuzz_require(json_read_message(schema_of_api(), message, buf_str(&text), &again, &err) == STATUS_OK);
    text.len = 0;
    fuzz_require(json_write_message(schema_of_api(), message, buf_str(&again), 0, &text, &err) == STATUS_OK);
}

void fuzz_json(struct str input)
{
    const struct schema_message *message;
    struct error err = { 0 };
    struct arena arena;
    struct buf out;

    if (input.len == 0)
        return;
    message = choose((unsigned char)input.data[0]);
    arena_init(&arena);
    buf_init(&out, &arena);
    if (input.data[0] & 1) {
        if (json_write_message(schema_of_api(), message, str_from(input, 1), 0, &out, &err) != STATUS_OK)
            fuzz_require(err.message[0] != '\0');
    } else if (json_read_message(schema_of_api(), message, str_from(input, 1), &out, &err) == STATUS_OK) {
        require_same(message, buf_str(&out), &arena);
    }
    arena_cleanup(&arena);
}
