/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_date.c - see the header. The names of days and months are those of RFC 1123; no locale is used.
 */
#include "odata/access/http_date.h"

#include <stdio.h>
#include <time.h>

#include "base/macros.h"
#include "domain/properties/datetime.h"
#include "domain/ticks.h"

/*
 * The form of a time: where FORM has the letter a, the text has a letter; where FORM has 0, a digit; all
 * other characters stand as they are.
 */
#define FORM "aaa, 00 aaa 0000 00:00:00 GMT"

enum { DAY_AT = 5, MONTH_AT = 8, YEAR_AT = 12, CLOCK_AT = 17, NAME_BYTES = 3 };

static const char months[][NAME_BYTES + 1] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
    "Oct", "Nov", "Dec" };
static const char days[][NAME_BYTES + 1] = { "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat" };

static bool has_form(struct str text)
{
    if (text.len != sizeof(FORM) - 1)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        bool is_letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');

        if (FORM[i] == 'a' ? !is_letter : FORM[i] != '0' && c != FORM[i])
            return false;
    }
    return true;
}

/* The number of the month, from 1; 0: there is no such month. */
static int month_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(months); i++)
        if (memcmp(months[i], name, NAME_BYTES) == 0)
            return (int)i + 1;
    return 0;
}

bool http_date_parse(struct str text, int64_t *out)
{
    char iso[sizeof("0000-00-00T00:00:00Z")];
    int64_t seconds;
    int32_t nanos;
    int month;

    if (!has_form(text) || (month = month_of(text.data + MONTH_AT)) == 0)
        return false;
    snprintf(iso, sizeof(iso), "%.4s-%02d-%.2sT%.8sZ", text.data + YEAR_AT, month, text.data + DAY_AT,
        text.data + CLOCK_AT);
    return datetime_parse(str_of(iso), &seconds, &nanos) && ticks_from_timestamp(seconds, nanos, out);
}

struct str http_date_format(int64_t ticks, struct arena *arena)
{
    int64_t seconds;
    int32_t nanos;
    struct tm at;
    time_t moment;

    ticks_to_timestamp(ticks, &seconds, &nanos);
    moment = (time_t)seconds;
    gmtime_r(&moment, &at);
    return arena_format(arena, "%s, %02d %s %04d %02d:%02d:%02d GMT", days[at.tm_wday], at.tm_mday,
        months[at.tm_mon], at.tm_year + 1900, at.tm_hour, at.tm_min, at.tm_sec);
}
