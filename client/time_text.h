/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_text.h - times as operators write and read them, such as 2026-01-31T12:00:00Z. Pure.
 */
#ifndef CLIENT_TIME_TEXT_H
#define CLIENT_TIME_TEXT_H

#include <stdbool.h>
#include <stdint.h>

enum { TIME_TEXT_BYTES = 40 };

/* "2026-01-31T12:00:00Z"; returns out. */
const char *time_text_format(int64_t ticks, char out[static TIME_TEXT_BYTES]);

/* "3600": this number of seconds after now; at least 1. */
bool time_text_parse_lifetime(const char *text, int64_t now, int64_t *out);

/* "2026-01-31", "2026-01-31T12:00Z", "2026-01-31T12:00:00Z", "+3600". */
bool time_text_parse(const char *text, int64_t now, int64_t *out);

#endif
