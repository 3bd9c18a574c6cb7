/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of domain/properties/datetime.c.
 */
#include "domain/properties/datetime.h"

#include <check.h>

#include "base/macros.h"

static const struct time_case {
    const char *text;
    int64_t seconds;
    int32_t nanos;
} time_cases[] = {
    { "1970-01-01", 0, 0 },
    { "1970-01-01T00:00", 0, 0 },
    { "1970-01-01T00:00:00Z", 0, 0 },
    { "1969-12-31T23:59:59.5", -1, 500000000 },
    { "2008-07-10T13:37:01.1234567Z", 1215697021, 123456700 },
    { "2008-07-10T13:37:01.1234567891234Z", 1215697021, 123456789 },
    { "2008-07-10T13:37+02:00", 1215689820, 0 },
    { "2008-07-10T13:37:00-00:30", 1215698820, 0 },
    { "2000-02-29T00:00:00Z", 951782400, 0 },
    { "2000-03-01", 951868800, 0 },
    { "1900-02-28T23:59:59Z", -2203891201, 0 },
    { "1900-03-01T00:00:00Z", -2203891200, 0 },
    { "1601-01-01T00:00:00Z", -11644473600, 0 },
    { "9999-12-31T23:59:59.9999999Z", 253402300799, 999999900 },
    { "0001-01-01T00:00:00Z", -62135596800, 0 },
    { "0000-01-01", -62167219200, 0 },
};

START_TEST(times_are_read)
{
    const struct time_case *c = &time_cases[_i];
    int64_t seconds = 1;
    int32_t nanos = 1;

    ck_assert_msg(datetime_parse(str_of(c->text), &seconds, &nanos), "%s", c->text);

    ck_assert_msg(seconds == c->seconds && nanos == c->nanos, "%s: %lld s, %d ns", c->text,
        (long long)seconds, (int)nanos);
}
END_TEST

static const char *const other_texts[] = {
    "",
    "yesterday",
    "2008",
    "2008-7-10",
    "2008-00-10",
    "2008-13-10",
    "2008-07-00",
    "2008-07-32",
    "2008-06-31",
    "2007-02-29",
    "1900-02-29",
    "12008-07-10",
    "-008-07-10",
    "2008-07-10T",
    "2008-07-10Z",
    "2008-07-10 13:37",
    "2008-07-10t13:37",
    "2008-07-10T1:37",
    "2008-07-10T24:00",
    "2008-07-10T13:60",
    "2008-07-10T13:37:60",
    "2008-07-10T13:37:",
    "2008-07-10T13:37:00.",
    "2008-07-10T13:37:00.Z",
    "2008-07-10T13:37:00.1z",
    "2008-07-10T13:37:00+2:00",
    "2008-07-10T13:37:00+24:00",
    "2008-07-10T13:37:00+02",
    "2008-07-10T13:37:00ZZ",
};

START_TEST(other_texts_are_not_times)
{
    int64_t seconds = 1;
    int32_t nanos = 2;

    ck_assert_msg(!datetime_parse(str_of(other_texts[_i]), &seconds, &nanos), "'%s' passes", other_texts[_i]);

    ck_assert(seconds == 1 && nanos == 2);
}
END_TEST

static const struct format_case {
    int64_t ticks;
    const char *all, *needed;
} format_cases[] = {
    { 0, "1601-01-01T00:00:00.0000000Z", "1601-01-01T00:00:00Z" },
    { 1, "1601-01-01T00:00:00.0000001Z", "1601-01-01T00:00:00.0000001Z" },
    { INT64_C(125962560000000000), "2000-02-29T00:00:00.0000000Z", "2000-02-29T00:00:00Z" },
    { INT64_C(125962560000000000) - 5000000, "2000-02-28T23:59:59.5000000Z", "2000-02-28T23:59:59.5Z" },
    { INT64_C(2650467743999999999), "9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z" },
};

START_TEST(times_are_written)
{
    const struct format_case *c = &format_cases[_i];
    char text[DATETIME_BYTES];

    ck_assert_uint_eq(datetime_format(c->ticks, DATETIME_ALL_DIGITS, text), strlen(c->all));
    ck_assert_str_eq(text, c->all);
    ck_assert_uint_eq(datetime_format(c->ticks, DATETIME_NEEDED_DIGITS, text), strlen(c->needed));
    ck_assert_str_eq(text, c->needed);
}
END_TEST

/* Each day of four hundred years and more, there and back. */
START_TEST(every_day_is_read_as_it_is_written)
{
    for (int64_t day = 0; day < 150000; day++) {
        char text[DATETIME_BYTES];
        int64_t seconds;
        int32_t nanos;

        (void)datetime_format(day * 86400 * 10000000, DATETIME_NEEDED_DIGITS, text);
        /* A ck_assert that holds writes to a file: too slow for each day. */
        if (!datetime_parse(str_of(text), &seconds, &nanos) || seconds != day * 86400 - INT64_C(11644473600))
            ck_abort_msg("%s is not read back", text);
    }
}
END_TEST

Suite *test_datetime_suite(void)
{
    Suite *suite = suite_create("datetime");
    TCase *tc = tcase_create("datetime");

    tcase_add_loop_test(tc, times_are_read, 0, ARRAY_LEN(time_cases));
    tcase_add_loop_test(tc, other_texts_are_not_times, 0, ARRAY_LEN(other_texts));
    tcase_add_loop_test(tc, times_are_written, 0, ARRAY_LEN(format_cases));
    tcase_add_test(tc, every_day_is_read_as_it_is_written);
    suite_add_tcase(suite, tc);
    return suite;
}
