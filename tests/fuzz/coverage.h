/* SPDX-License-Identifier: Apache-2.0 */
/* coverage.h - the paths that an input took, if the build records them (preset fuzz). */
#ifndef TESTS_FUZZ_COVERAGE_H
#define TESTS_FUZZ_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Forget the last input. */
void coverage_start(void);

/* Whether the input took a path that no input had taken before, or more often. Always false in other builds. */
bool coverage_is_new(void);

/* The number of covered blocks. */
size_t coverage_count(void);

#endif
