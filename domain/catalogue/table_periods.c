/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_periods.c - see the header. The year 1601 begins a cycle of 400 years of the calendar, so no year needs an
 * offset.
 */
#include "domain/catalogue/table_periods.h"

#include <string.h>

#include "base/digits.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/ticks.h"

enum { FIRST_YEAR = 1601, LAST_YEAR = 9999, SECONDS_PER_HOUR = 3600, HOURS_PER_DAY = 24, MONTHS = 12 };

static const int digits_of_unit[PERIOD_UNIT_END] = {
    [PERIOD_HOUR] = 10, [PERIOD_DAY] = 8, [PERIOD_MONTH] = 6, [PERIOD_YEAR] = 4
};

struct date {
    int64_t year, month, day; /* from 1 */
};

/* ---- the calendar ---- */

static int64_t days_before_year(int64_t year)
{
    int64_t years = year - FIRST_YEAR;

    return years * 365 + years / 4 - years / 100 + years / 400;
}

static int64_t days_before_month(int64_t year, int64_t month)
{
    static const int64_t days[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365 };
    bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month > 2 && is_leap);
}

static struct date date_of(int64_t days)
{
    struct date date = { .year = FIRST_YEAR + days / 366, .month = 1 };

    while (days_before_year(date.year + 1) <= days)
        date.year++;
    days -= days_before_year(date.year);
    while (date.month < MONTHS && days_before_month(date.year, date.month + 1) <= days)
        date.month++;
    date.day = days - days_before_month(date.year, date.month) + 1;
    return date;
}

static int64_t days_of(struct date date)
{
    return days_before_year(date.year) + days_before_month(date.year, date.month) + date.day - 1;
}

/* ---- periods ---- */

int64_t table_periods_at(enum period_unit unit, int64_t ticks)
{
    int64_t hours = ticks / TICKS_PER_SECOND / SECONDS_PER_HOUR;
    struct date date = date_of(hours / HOURS_PER_DAY);

    switch (unit) {
    case PERIOD_HOUR:
        return hours;
    case PERIOD_DAY:
        return hours / HOURS_PER_DAY;
    case PERIOD_MONTH:
        return (date.year - FIRST_YEAR) * MONTHS + date.month - 1;
    default:
        return date.year - FIRST_YEAR;
    }
}

int64_t table_periods_first_kept(const struct table_periods *periods, int64_t now, int64_t own_now)
{
    int64_t sure = (own_now < now ? own_now : now) - PERIOD_MARGIN_S * TICKS_PER_SECOND;

    return table_periods_at(periods->unit, sure > 0 ? sure : 0) - periods->kept;
}

/* ---- names ---- */

struct str table_periods_name(enum period_unit unit, struct str prefix, int64_t period, struct arena *arena)
{
    int64_t days = unit == PERIOD_HOUR ? period / HOURS_PER_DAY : period;
    struct date date = { 0 };

    switch (unit) {
    case PERIOD_HOUR:
        date = date_of(days);
        return arena_format(arena, "%.*s%04d%02d%02d%02d", STR_ARG(prefix), (int)date.year, (int)date.month,
            (int)date.day, (int)(period % HOURS_PER_DAY));
    case PERIOD_DAY:
        date = date_of(days);
        return arena_format(
            arena, "%.*s%04d%02d%02d", STR_ARG(prefix), (int)date.year, (int)date.month, (int)date.day);
    case PERIOD_MONTH:
        return arena_format(arena, "%.*s%04d%02d", STR_ARG(prefix), (int)(FIRST_YEAR + period / MONTHS),
            (int)(period % MONTHS + 1));
    default:
        return arena_format(arena, "%.*s%04d", STR_ARG(prefix), (int)(FIRST_YEAR + period));
    }
}

static bool parse_number(struct str digits, size_t from, size_t len, int64_t min, int64_t max, int64_t *out)
{
    uint64_t number;

    if (from >= digits.len) {
        *out = min; /* a part that the unit has not */
        return true;
    }
    if (!digits_parse_unsigned(str_of_bytes(digits.data + from, len), (uint64_t)max, &number))
        return false;
    *out = (int64_t)number;
    return *out >= min;
}

bool table_periods_parse(enum period_unit unit, struct str prefix, struct str name, int64_t *out)
{
    struct date date;
    struct str digits;
    int64_t hour;

    if (name.len != prefix.len + (size_t)digits_of_unit[unit] ||
        memcmp(name.data, prefix.data, prefix.len) != 0)
        return false;
    digits = str_of_bytes(name.data + prefix.len, name.len - prefix.len);
    if (!parse_number(digits, 0, 4, FIRST_YEAR, LAST_YEAR, &date.year) ||
        !parse_number(digits, 4, 2, 1, MONTHS, &date.month) ||
        !parse_number(digits, 6, 2, 1, 31, &date.day) ||
        !parse_number(digits, 8, 2, 0, HOURS_PER_DAY - 1, &hour))
        return false;
    if (date_of(days_of(date)).day != date.day)
        return false; /* the 30th of February */
    *out =
        table_periods_at(unit, (days_of(date) * HOURS_PER_DAY + hour) * SECONDS_PER_HOUR * TICKS_PER_SECOND);
    return true;
}

/* ---- rules ---- */

enum status table_periods_check(const struct table_periods *periods, struct str name, struct error *err)
{
    if ((unsigned)periods->unit >= PERIOD_UNIT_END || periods->unit == PERIOD_NONE)
        return reason_set(err, REASON_INVALID_INPUT, "table.periods.unit has to be hour, day, month or year");
    if (periods->ahead < 1 || periods->ahead > MAX_PERIODS_AHEAD)
        return reason_set(
            err, REASON_INVALID_INPUT, "table.periods.ahead has to be 1 to %d", MAX_PERIODS_AHEAD);
    if (periods->kept < 1 || periods->kept > MAX_PERIODS_KEPT)
        return reason_set(
            err, REASON_INVALID_INPUT, "table.periods.kept has to be 1 to %d", MAX_PERIODS_KEPT);
    if (name.len > 0 && name.data[name.len - 1] >= '0' && name.data[name.len - 1] <= '9')
        return reason_set(err, REASON_INVALID_INPUT,
            "table %.*s ends with a digit, so the names of its periods could be those of another table's",
            STR_ARG(name));
    if (name.len + (size_t)digits_of_unit[periods->unit] > LIMIT_TABLE_NAME_MAX)
        return reason_set(err, REASON_INVALID_INPUT,
            "the name of a period has %d digits behind that of the table, and at most %d characters",
            digits_of_unit[periods->unit], LIMIT_TABLE_NAME_MAX);
    return STATUS_OK;
}
