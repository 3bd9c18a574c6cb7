/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_text.c - see the header.
 */
#include "client/time_text.h"

#include <time.h>

#include "base/digits.h"
#include "base/macros.h"
#include "domain/ticks.h"

const char *time_text_format(int64_t ticks, char out[static TIME_TEXT_BYTES])
{
    int64_t seconds;
    int32_t nanos;
    struct tm parts;
    time_t when;

    ticks_to_timestamp(ticks, &seconds, &nanos);
    when = (time_t)seconds;
    gmtime_r(&when, &parts);
    strftime(out, TIME_TEXT_BYTES, "%Y-%m-%dT%H:%M:%SZ", &parts);
    return out;
}

bool time_text_parse_lifetime(const char *text, int64_t now, int64_t *out)
{
    int64_t seconds;

    if (!digits_parse_signed(str_of(text), 1, (TICKS_MAX - now) / TICKS_PER_SECOND, &seconds))
        return false;
    *out = now + seconds * TICKS_PER_SECOND;
    return true;
}

/* Whether the date exists: strptime accepts 30 February, and timegm would make 2 March of it. */
static bool is_of_the_calendar(const struct tm *parts, time_t when)
{
    struct tm real;

    gmtime_r(&when, &real);
    return real.tm_year == parts->tm_year && real.tm_mon == parts->tm_mon && real.tm_mday == parts->tm_mday &&
           real.tm_hour == parts->tm_hour && real.tm_min == parts->tm_min && real.tm_sec == parts->tm_sec;
}

bool time_text_parse(const char *text, int64_t now, int64_t *out)
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ", "%Y-%m-%d" };

    if (*text == '+')
        return time_text_parse_lifetime(text + 1, now, out);
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct tm parts = { 0 };
        const char *end = strptime(text, forms[i], &parts);

        if (end && !*end) {
            struct tm normal = parts;
            time_t when = timegm(&normal);

            return is_of_the_calendar(&parts, when) && ticks_from_timestamp((int64_t)when, 0, out);
        }
    }
    return false;
}
