/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spoken_time.h - times as operators write and read them. Pure.
 */
#ifndef CLIENT_SPOKEN_TIME_H
#define CLIENT_SPOKEN_TIME_H

#include <stdbool.h>
#include <stdint.h>

enum { SPOKEN_TIME_BYTES = 40 };

/* "2026-01-31T12:00:00Z"; returns out. */
const char *spoken_time_format(int64_t ticks, char out[static SPOKEN_TIME_BYTES]);

/* "3600": so many seconds after now, at least one. */
bool spoken_time_parse_lifetime(const char *text, int64_t now, int64_t *out);

/* "2026-01-31", "2026-01-31T12:00Z", "2026-01-31T12:00:00Z", "+3600". */
bool spoken_time_parse(const char *text, int64_t now, int64_t *out);

#endif
