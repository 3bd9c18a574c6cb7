/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_key.h - whether a key contains a time, as keys of logs and of time buckets do. Pure.
 */
#ifndef DOMAIN_SAMPLING_TIME_KEY_H
#define DOMAIN_SAMPLING_TIME_KEY_H

#include <stdbool.h>

#include "base/str.h"

/*
 * Whether the key contains a date of the years 1900 to 2199 (2026-11-22, 2026-11, 20261122), or has
 * only digits, as many as the present time in seconds (10), milliseconds (13), microseconds (16) or
 * ticks (18, 19). A guess: any number may have this form.
 */
bool time_key_looks_like(struct str key);

#endif
