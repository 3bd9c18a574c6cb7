/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_date.h - times in the form of HTTP headers: "Fri, 26 Jun 2015 23:39:12 GMT". Pure.
 */
#ifndef ODATA_ACCESS_HTTP_DATE_H
#define ODATA_ACCESS_HTTP_DATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

/*
 * Read a time of the years 1601 to 9999, in ticks. The name of the day is not compared with the date.
 *
 * false: the text does not have the form, or the day does not exist
 */
bool http_date_parse(struct str text, int64_t *out);

/* Write a time. ticks: 1 to TICKS_MAX. */
struct str http_date_format(int64_t ticks, struct arena *arena);

#endif
