/* SPDX-License-Identifier: Apache-2.0 */
/* inputs.h - the inputs of a fuzz run: read from folders, mutated, and kept if they reach new code. */
#ifndef TESTS_FUZZ_INPUTS_H
#define TESTS_FUZZ_INPUTS_H

#include <stdint.h>

#include "base/str.h"

enum { FUZZ_INPUT_BYTES = 65536 };

struct inputs {
    struct str *items;
    size_t count, capacity;
    uint64_t random; /* the state of the generator */
};

/* Add every file of a folder, which need not exist; larger ones are cut. */
void inputs_load(struct inputs *inputs, const char *folder);
void inputs_add(struct inputs *inputs, struct str input);

/* Write an input into a folder; it is named after its content. Returns the path, or NULL. */
const char *inputs_save(struct str input, const char *folder, const char *prefix);

/* A mutation of one of the inputs, or of an empty one; returns its length in `out`. */
size_t inputs_mutate(struct inputs *inputs, char out[static FUZZ_INPUT_BYTES]);

#endif
