/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datetime.h - times as text: 2008-07-10T13:37:00.1234567Z.
 *
 * Pure.
 */
#ifndef DOMAIN_PROPERTIES_DATETIME_H
#define DOMAIN_PROPERTIES_DATETIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Read an ISO 8601 time: a date, then optionally T with hours and minutes, seconds, a fraction of
 * any number of digits (cut after the ninth), and Z or an offset like +02:00. Without a zone the
 * time is in UTC.
 *
 * false: the text is not a time, or the day does not exist. Otherwise the seconds since 1970 and
 * the nanoseconds on top, as in a google.protobuf.Timestamp, of any year from 0 to 9999;
 * ticks_from_timestamp decides what may be stored.
 */
bool datetime_parse(struct str text, int64_t *seconds, int32_t *nanos);

enum { DATETIME_BYTES = sizeof("2008-07-10T13:37:00.1234567Z") };

enum datetime_digits {
    DATETIME_ALL_DIGITS,    /* seven */
    DATETIME_NEEDED_DIGITS, /* no zeros at the end, and no point without a digit behind it */
};

/* Write ticks, 0..TICKS_MAX, in UTC and with a NUL; returns the length without the NUL. */
size_t datetime_format(int64_t ticks, enum datetime_digits digits, char out[static DATETIME_BYTES]);

#endif
