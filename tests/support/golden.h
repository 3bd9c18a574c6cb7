/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden.h - stored bytes, spelled out in a test: a row that an older version has written has exactly these.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "base/str.h"

/* The test fails, and prints the actual bytes, unless they are these; expected: lower-case hexadecimal, without spaces. */
void require_bytes(struct str actual, const char *expected);

#endif
