/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datetime.h - times as text: 2008-07-10T13:37:00.1234567Z.
 *
 * Pure.
 */
#ifndef DOMAIN_PROPERTIES_DATETIME_H
#define DOMAIN_PROPERTIES_DATETIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/*
 * Read an ISO 8601 time: a date; perhaps T and hours and minutes; perhaps seconds; perhaps a fraction of any
 * number of digits, cut after the ninth; perhaps Z or an offset like +02:00. Without a zone it is UTC.
 *
 * false: it is none, or there is no such day. Otherwise the seconds since 1970 and the nanoseconds on top, as in
 * a google.protobuf.Timestamp, of any year from 0 to 9999: ticks_from_timestamp knows what may be stored.
 */
bool datetime_parse(struct str text, int64_t *seconds, int32_t *nanos);

#endif
