/* SPDX-License-Identifier: Apache-2.0 */
/*
 * datetime.c - see the header. Each taker moves the text forward over what it read.
 */
#include "domain/properties/datetime.h"

#include <string.h>

#include "base/digits.h"
#include "domain/ticks.h"

enum {
    SECONDS_PER_DAY = 86400,
    NANO_DIGITS = 9,
    TICK_DIGITS = 7,
    DAYS_OF_400_YEARS = 146097,
    DAYS_BEFORE_1601 = 584694, /* from 0000-03-01 */
};

static bool take_char(struct str *text, char c)
{
    if (text->len == 0 || text->data[0] != c)
        return false;
    *text = str_from(*text, 1);
    return true;
}

/* Read a number of exactly that many digits, between low and high. */
static bool take_number(struct str *text, size_t digits, int low, int high, int *out)
{
    uint64_t number;

    if (text->len < digits ||
        !digits_parse_unsigned(str_of_bytes(text->data, digits), (uint64_t)high, &number))
        return false;
    *text = str_from(*text, digits);
    *out = (int)number;
    return *out >= low;
}

static int days_of_month(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

/* Days since 1970-01-01; the year is taken to begin in March, so that a leap day is its last. */
static int64_t days_of_date(int year, int month, int day)
{
    int64_t y = (int64_t)year + (month > 2 ? 0 : -1) + 400; /* never below zero */
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return y * 365 + y / 4 - y / 100 + y / 400 + day_of_year - 146097 - 719468;
}

static bool take_date(struct str *text, int64_t *days)
{
    int year, month, day;

    if (!take_number(text, 4, 0, 9999, &year) || !take_char(text, '-') ||
        !take_number(text, 2, 1, 12, &month) || !take_char(text, '-') ||
        !take_number(text, 2, 1, days_of_month(year, month), &day))
        return false;
    *days = days_of_date(year, month, day);
    return true;
}

static bool take_hours_and_minutes(struct str *text, int *seconds)
{
    int hours, minutes;

    if (!take_number(text, 2, 0, 23, &hours) || !take_char(text, ':') ||
        !take_number(text, 2, 0, 59, &minutes))
        return false;
    *seconds = (hours * 60 + minutes) * 60;
    return true;
}

static bool take_fraction(struct str *text, int32_t *nanos)
{
    int digit;
    int count = 0;

    for (; take_number(text, 1, 0, 9, &digit); count++)
        if (count < NANO_DIGITS)
            *nanos = *nanos * 10 + digit;
    for (int i = count; i < NANO_DIGITS; i++)
        *nanos *= 10;
    return count > 0;
}

/* Read the offset of a time zone: what must be subtracted to get UTC. */
static bool take_zone(struct str *text, int *offset)
{
    bool ahead = take_char(text, '+');

    *offset = 0;
    if (!ahead && !take_char(text, '-')) {
        take_char(text, 'Z');
        return true;
    }
    if (!take_hours_and_minutes(text, offset))
        return false;
    *offset = ahead ? *offset : -*offset;
    return true;
}

bool datetime_parse(struct str text, int64_t *seconds, int32_t *nanos)
{
    int64_t days;
    int32_t fraction = 0;
    int clock = 0, second = 0, offset = 0;

    if (!take_date(&text, &days))
        return false;
    if (take_char(&text, 'T')) {
        if (!take_hours_and_minutes(&text, &clock))
            return false;
        if (take_char(&text, ':')) {
            if (!take_number(&text, 2, 0, 59, &second))
                return false;
            if (take_char(&text, '.') && !take_fraction(&text, &fraction))
                return false;
        }
        if (!take_zone(&text, &offset))
            return false;
    }
    if (text.len > 0)
        return false;
    *seconds = days * SECONDS_PER_DAY + clock + second - offset;
    *nanos = fraction;
    return true;
}

/* ---- writing ---- */

/* 00 to 99: two digits at a time are half as many divisions, and every entity of a page has a time. */
static const char digit_pairs[] = "0001020304050607080910111213141516171819"
                                  "2021222324252627282930313233343536373839"
                                  "4041424344454647484950515253545556575859"
                                  "6061626364656667686970717273747576777879"
                                  "8081828384858687888990919293949596979899";

/* Write the number with exactly that many digits, at most nine; returns their end. */
static char *put_number(char *out, int64_t number, int digits)
{
    uint32_t left = (uint32_t)number; /* divides faster */
    int at = digits;

    for (; at > 1; at -= 2, left /= 100)
        memcpy(out + at - 2, digit_pairs + left % 100 * 2, 2);
    if (at > 0)
        out[0] = (char)('0' + left % 10);
    return out + digits;
}

/* The inverse of days_of_date, from days since 1601-01-01. */
static char *put_date(char *out, int64_t days)
{
    int64_t era, day, year, month;

    days += DAYS_BEFORE_1601;
    era = days / DAYS_OF_400_YEARS;
    day = days % DAYS_OF_400_YEARS;
    year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    day -= 365 * year + year / 4 - year / 100;
    month = (5 * day + 2) / 153; /* from March */
    day -= (153 * month + 2) / 5;
    out = put_number(out, year + era * 400 + (month >= 10), 4);
    *out++ = '-';
    out = put_number(out, month < 10 ? month + 3 : month - 9, 2);
    *out++ = '-';
    return put_number(out, day + 1, 2);
}

static char *put_clock(char *out, int64_t seconds)
{
    out = put_number(out, seconds / 3600, 2);
    *out++ = ':';
    out = put_number(out, seconds / 60 % 60, 2);
    *out++ = ':';
    return put_number(out, seconds % 60, 2);
}

size_t datetime_format(int64_t ticks, enum datetime_digits digits, char out[static DATETIME_BYTES])
{
    int64_t seconds = ticks / TICKS_PER_SECOND;
    char *end = put_date(out, seconds / SECONDS_PER_DAY);

    *end++ = 'T';
    end = put_clock(end, seconds % SECONDS_PER_DAY);
    *end++ = '.';
    end = put_number(end, ticks % TICKS_PER_SECOND, TICK_DIGITS);
    while (digits == DATETIME_NEEDED_DIGITS && end[-1] == '0')
        end--;
    if (end[-1] == '.')
        end--;
    *end++ = 'Z';
    *end = '\0';
    return (size_t)(end - out);
}
