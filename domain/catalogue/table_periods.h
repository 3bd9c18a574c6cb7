/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_periods.h - tables that hold one period each: the names of a table's periods, and which of them exist. The
 * table `logins` with periods of months keeps `logins202511`, `logins202512`, ... in UTC.
 *
 * Pure: times are given. A period is a number: how many hours, days, months or years it begins after 1601-01-01.
 */
#ifndef DOMAIN_CATALOGUE_TABLE_PERIODS_H
#define DOMAIN_CATALOGUE_TABLE_PERIODS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Stored: never change a number. */
enum period_unit {
    PERIOD_NONE = 0,
    PERIOD_HOUR = 1,
    PERIOD_DAY = 2,
    PERIOD_MONTH = 3,
    PERIOD_YEAR = 4,
    PERIOD_UNIT_END,
};

enum {
    MAX_PERIODS_AHEAD = 31,
    MAX_PERIODS_KEPT = 1000,
    /* a table is dropped this long after the last time that it has to be kept for */
    PERIOD_MARGIN_S = 3600,
};

struct table_periods {
    enum period_unit unit; /* PERIOD_NONE: the table has no rule */
    int16_t ahead;         /* tables of coming periods, beside that of the present: 1 to MAX_PERIODS_AHEAD */
    int16_t kept;          /* tables of past periods: 1 to MAX_PERIODS_KEPT */
};

/*
 * Whether a table of this name can have the rule.
 *
 * STATUS_OK
 * STATUS_INVALID  INVALID_INPUT: a number is out of range, the name ends with a digit, or names of periods would be
 *                 longer than a table's may be
 */
MUST_USE enum status table_periods_check(
    const struct table_periods *periods, struct str name, struct error *err);

/* The period of a time in ticks. */
int64_t table_periods_at(enum period_unit unit, int64_t ticks);

/* The name of a period's table; prefix is the name of the table with the rule. */
struct str table_periods_name(enum period_unit unit, struct str prefix, int64_t period, struct arena *arena);

/* Whether name, in lower case as prefix, is that of a period's table. *out: the period. */
bool table_periods_parse(enum period_unit unit, struct str prefix, struct str name, int64_t *out);

/*
 * The first period whose table is kept. now: ticks of the database's clock; own_now: of this program's. The earlier one
 * counts, so a clock that is ahead drops nothing.
 */
int64_t table_periods_first_kept(const struct table_periods *periods, int64_t now, int64_t own_now);

#endif
