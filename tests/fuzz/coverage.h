/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.h - which paths an input took, where the build records them (preset fuzz).
 */
#ifndef TESTS_FUZZ_COVERAGE_H
#define TESTS_FUZZ_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Forget the last input. */
void coverage_start(void);

/* Whether the input went where none had gone before, or more often. Always false in other builds. */
bool coverage_is_new(void);

/* How many places have been reached. */
size_t coverage_count(void);

#endif
