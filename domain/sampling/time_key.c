/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_key.c - see the header.
 */
#include "domain/sampling/time_key.h"

#include <stddef.h>

enum { DATE_BYTES = 8, MONTH_BYTES = 7 };

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static size_t count_digits(struct str text)
{
    size_t count = 0;

    while (count < text.len && is_digit(text.data[count]))
        count++;
    return count;
}

static int two_digits(const char *at)
{
    return (at[0] - '0') * 10 + (at[1] - '0');
}

static bool is_year(const char *at)
{
    int century = two_digits(at);

    return century >= 19 && century <= 21;
}

static bool is_month(const char *at)
{
    return two_digits(at) >= 1 && two_digits(at) <= 12;
}

static bool is_day(const char *at)
{
    return two_digits(at) >= 1 && two_digits(at) <= 31;
}

/*
 * Whether a date, as yyyymmdd or yyyy-mm, begins the text, whose first `digits` characters are
 * digits.
 */
static bool begins_with_date(struct str text, size_t digits)
{
    if (digits >= DATE_BYTES)
        return is_year(text.data) && is_month(text.data + 4) && is_day(text.data + 6);
    return digits == 4 && text.len >= MONTH_BYTES && text.data[4] == '-' && is_digit(text.data[5]) &&
           is_digit(text.data[6]) && is_year(text.data) && is_month(text.data + 5);
}

/*
 * Whether a time has this many digits in seconds, milliseconds, microseconds, or ticks since the
 * year 1 or counted down from the last one.
 */
static bool is_count_of_time(size_t digits)
{
    return digits == 10 || digits == 13 || digits == 16 || digits == 18 || digits == 19;
}

bool time_key_looks_like(struct str key)
{
    size_t digits = count_digits(key);

    if (digits == key.len && is_count_of_time(digits))
        return true;
    for (size_t i = 0; i<key.len; i += digits> 0 ? digits : 1) {
        struct str rest = str_from(key, i);

        digits = count_digits(rest);
        if (begins_with_date(rest, digits))
            return true;
    }
    return false;
}
