/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_text.h - times in the form that operators write and read, such as 2026-01-31T12:00:00Z. Pure.
 */
#ifndef CLIENT_TIME_TEXT_H
#define CLIENT_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { TIME_TEXT_BYTES = 40 };

/* Write a time: "2026-01-31T12:00:00Z". Returns out. */
const char *time_text_format(int64_t ticks, char out[static TIME_TEXT_BYTES]);

/* Read a number of seconds, at least 1: "3600" is the time 3600 seconds after now. */
bool time_text_parse_lifetime(const char *text, int64_t now, int64_t *out);

/* Read a time: "2026-01-31", "2026-01-31T12:00Z", "2026-01-31T12:00:00Z", "+3600". */
bool time_text_parse(const char *text, int64_t now, int64_t *out);

#endif
