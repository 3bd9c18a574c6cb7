/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what a fuzz target needs to know.
 *
 * A target is a file fuzz_<name>.c with one function `void fuzz_<name>(struct str input)`, and inputs to begin
 * with in corpus/<name>/. It gives the input to a parser and requires what must hold of the answer. The build
 * finds it; `./dev fuzz` mutates its inputs, `./dev test` replays them.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdlib.h>

#include "base/str.h"

typedef void fuzz_fn(struct str input);

struct fuzz_target {
    const char *name;
    fuzz_fn *run;
};

/* Made by the build; the last element has no name. */
extern const struct fuzz_target fuzz_targets[];

/* The input is a finding if this does not hold; so it is if an assertion of the tested code fails. */
static inline void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

#endif
