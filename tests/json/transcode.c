/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transcode.c - the JSON mapping of api/json, a line for a line: "write TYPE HEX" prints the message's JSON, and
 * "read TYPE JSON" its bytes in hex; "!" and the error if it is refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/json_read.h"
#include "api/json/json_write.h"
#include "base/digits.h"

static void print_error(const struct error *err)
{
    printf("!%s\n", err->message);
}

static void write_json(const struct schema_message *message, struct str hex, struct arena *arena)
{
    char *bytes = arena_alloc(arena, hex.len / 2 + 1);
    struct error err = { 0 };
    struct buf out;

    buf_init(&out, arena);
    if (!digits_decode_hex(hex, bytes))
        abort();
    if (json_write_message(schema_of_api(), message, str_of_bytes(bytes, hex.len / 2), 0, &out, &err) !=
        STATUS_OK)
        print_error(&err);
    else
        printf("%.*s\n", STR_ARG(buf_str(&out)));
}

static void read_json(const struct schema_message *message, struct str json, struct arena *arena)
{
    struct error err = { 0 };
    struct buf out;
    char *hex;

    buf_init(&out, arena);
    if (json_read_message(schema_of_api(), message, json, &out, &err) != STATUS_OK) {
        print_error(&err);
        return;
    }
    hex = arena_calloc(arena, 2 * out.len + 1, 1);
    digits_encode_hex(buf_str(&out), hex);
    printf("%s\n", hex);
}

int main(void)
{
    char *text = NULL;
    size_t capacity = 0;
    ssize_t len;

    while ((len = getline(&text, &capacity, stdin)) > 0) {
        struct str line = str_of_bytes(text, (size_t)len - (text[len - 1] == '\n'));
        bool is_write = str_equal(str_take(&line, ' '), STR_LITERAL("write"));
        const struct schema_message *message = schema_find_message(schema_of_api(), str_take(&line, ' '));
        struct arena arena;

        if (!message)
            abort();
        arena_init(&arena);
        (is_write ? write_json : read_json)(message, line, &arena);
        arena_cleanup(&arena);
        (void)fflush(stdout);
    }
    free(text);
    return EXIT_SUCCESS;
}
