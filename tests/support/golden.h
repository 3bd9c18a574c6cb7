/* SPDX-License-Identifier: Apache-2.0 */
/*
 * golden.h - stored bytes, spelled out in a test: a row that an earlier version has written has exactly these bytes.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "base/str.h"

/*
 * Fail the test, and print the actual bytes, unless they are the expected ones: lower-case hexadecimal, without
 * spaces.
 */
void require_bytes(struct str actual, const char *expected);

#endif
