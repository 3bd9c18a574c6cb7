/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inputs.c - see the header.
 */
#include "tests/fuzz/inputs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/hash.h"

/* ---- files ---- */

void inputs_add(struct inputs *inputs, struct str input)
{
    char *copy = xmalloc(input.len + 1);

    if (inputs->count == inputs->capacity) {
        inputs->capacity = inputs->capacity ? inputs->capacity * 2 : 64;
        inputs->items = xrealloc(inputs->items, inputs->capacity * sizeof(*inputs->items));
    }
    if (input.len > 0)
        memcpy(copy, input.data, input.len);
    inputs->items[inputs->count++] = str_of_bytes(copy, input.len);
}

void inputs_load(struct inputs *inputs, const char *folder)
{
    static char bytes[FUZZ_INPUT_BYTES];
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);

    for (int i = 0; i < count; i++) {
        char path[4096];
        FILE *file;

        snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
        file = names[i]->d_name[0] == '.' ? NULL : fopen(path, "rb");
        if (file) {
            inputs_add(inputs, str_of_bytes(bytes, fread(bytes, 1, sizeof(bytes), file)));
            fclose(file);
        }
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

const char *inputs_save(struct str input, const char *folder, const char *prefix)
{
    static char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s%016llx", folder, prefix,
        (unsigned long long)hash_bytes(HASH_EMPTY, input));
    file = fopen(path, "wb");
    if (!file)
        return NULL;
    fwrite(input.data, 1, input.len, file);
    fclose(file);
    return path;
}

/* ---- mutation ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ mixed >> 27) * UINT64_C(0x94D049BB133111EB);
    return mixed ^ mixed >> 31;
}

/* 0..limit-1; 0 if limit is 0. */
static size_t pick(struct inputs *inputs, size_t limit)
{
    return limit ? (size_t)(next_random(&inputs->random) % limit) : 0;
}

/* Replace `removed` bytes at `at` by other bytes. */
static size_t replace(char *out, size_t len, size_t at, size_t removed, struct str bytes)
{
    if (len - removed + bytes.len > FUZZ_INPUT_BYTES)
        return len;
    memmove(out + at + bytes.len, out + at + removed, len - at - removed);
    if (bytes.len > 0)
        memcpy(out + at, bytes.data, bytes.len);
    return len - removed + bytes.len;
}

/* A part of one of the inputs: the inputs serve as a dictionary. */
static struct str piece_of_any(struct inputs *inputs, char room[static 64])
{
    struct str whole, piece;

    if (inputs->count == 0)
        return STR_EMPTY;
    whole = inputs->items[pick(inputs, inputs->count)];
    piece = str_from(whole, pick(inputs, whole.len));
    piece.len = piece.len < 64 ? pick(inputs, piece.len + 1) : pick(inputs, 65);
    if (piece.len > 0)
        memcpy(room, piece.data, piece.len);
    return str_of_bytes(room, piece.len);
}

static size_t mutate_once(struct inputs *inputs, char *out, size_t len)
{
    static const char edges[] = { 0, 1, -1, 127, -128, ' ', '\'', '(', ')', '0', '9' };
    char room[64];
    size_t at = pick(inputs, len + 1), left = len - at;
    char byte = (char)pick(inputs, 256);

    switch (pick(inputs, 7)) {
    case 0:
        if (left > 0)
            out[at] = (char)(out[at] ^ 1 << pick(inputs, 8));
        return len;
    case 1:
        if (left > 0)
            out[at] = edges[pick(inputs, sizeof(edges))];
        return len;
    case 2:
        if (left > 0)
            out[at] = (char)(out[at] + (char)pick(inputs, 9) - 4);
        return len;
    case 3:
        return replace(out, len, at, 0, str_of_bytes(&byte, 1));
    case 4:
        return replace(out, len, at, pick(inputs, left < 16 ? left + 1 : 17), STR_EMPTY);
    case 5:
        return replace(out, len, at, 0, piece_of_any(inputs, room));
    default:
        return replace(out, len, at, pick(inputs, left < 16 ? left + 1 : 17), piece_of_any(inputs, room));
    }
}

size_t inputs_mutate(struct inputs *inputs, char out[static FUZZ_INPUT_BYTES])
{
    size_t len = 0;

    if (inputs->count > 0)
        len = replace(out, 0, 0, 0, inputs->items[pick(inputs, inputs->count)]);
    for (size_t times = 1 + pick(inputs, 6); times > 0; times--)
        len = mutate_once(inputs, out, len);
    return len;
}
