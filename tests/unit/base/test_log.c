/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/log.c and base/log_repeat.c.
 */
#include "base/log.h"

#include <check.h>
#include <regex.h>
#include <string.h>
#include <unistd.h>

#include "base/log_repeat.h"
#include "base/macros.h"

/* The text that log_write writes to standard error. */
static const char *written(const char *event, const struct log_field *fields)
{
    static char line[2 * LOG_LINE_BYTES];
    int ends[2], before = dup(STDERR_FILENO);
    ssize_t len;

    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], STDERR_FILENO);
    log_write(LOG_WARN, event, fields);
    dup2(before, STDERR_FILENO);
    close(ends[1]);
    len = read(ends[0], line, sizeof(line) - 1);
    ck_assert_int_gt(len, 0);
    line[len] = '\0';
    close(ends[0]);
    close(before);
    return line;
}

START_TEST(a_line_begins_with_time_level_program_and_event)
{
    const char *line = written("sweep_failed", (struct log_field[]){ log_number("rows", -3), { 0 } });
    regex_t form;

    ck_assert_int_eq(regcomp(&form,
                         "^time=[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{3}Z level=warn program=tavola "
                         "event=sweep_failed rows=-3\n$",
                         REG_EXTENDED | REG_NOSUB),
        0);
    ck_assert_msg(regexec(&form, line, 0, NULL, 0) == 0, "%s", line);
    regfree(&form);
}
END_TEST

static const struct value_case {
    const char *text, *want;
} value_cases[] = {
    { "127.0.0.1:80", "127.0.0.1:80" },
    { "", "\"\"" },
    { "two words", "\"two words\"" },
    { "a=b", "\"a=b\"" },
    { "say \"no\"", "\"say \\\"no\\\"\"" },
    { "back\\slash", "\"back\\\\slash\"" },
    { "line\nline\r\tend", "\"line\\nline\\r\\tend\"" },
    { "bell\a del\x7f", "\"bell\\u0007 del\\u007f\"" },
    { "Grüße €", "\"Grüße €\"" },
    { "bad \xff\xc3 end", "\"bad \xef\xbf\xbd\xef\xbf\xbd end\"" },
    { "cut \xe2\x82", "\"cut \xef\xbf\xbd\xef\xbf\xbd\"" },
    { "\xc0\xaf \xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
};

START_TEST(a_value_is_bare_or_quoted)
{
    const struct value_case *c = &value_cases[_i];
    const char *line =
        written("e", (struct log_field[]){ log_text("why", c->text), log_number("n", 1), { 0 } });
    const char *value = strstr(line, " why=");
    size_t len = strlen(c->want);

    ck_assert_ptr_nonnull(value);
    ck_assert_msg(strncmp(value + 5, c->want, len) == 0, "%s is not %s", value, c->want);
    ck_assert_str_eq(value + 5 + len, " n=1\n");
}
END_TEST

/* A line that is cut ends with a whole value. */
START_TEST(a_line_that_is_too_long_is_cut_and_well_formed)
{
    static char text[2 * LOG_LINE_BYTES];
    size_t len = LOG_LINE_BYTES - 100 + (size_t)_i;
    const char *line, *end;

    memset(text, _i % 2 ? '"' : 'x', len);
    text[len] = '\0';
    text[0] = ' ';
    line = written("e", (struct log_field[]){ log_text("why", text), log_text("more", text), { 0 } });
    end = line + strlen(line);
    ck_assert_int_le(end - line, LOG_LINE_BYTES);
    ck_assert_msg(strcmp(end - 2, "\"\n") == 0 && end[-3] != '\\', "%s", end - 20);
    ck_assert_ptr_null(strchr(line, '\n') + 1 == end ? NULL : line);
}
END_TEST

/* ---- JSON ---- */

static void log_as_json(void)
{
    log_init("tavola", LOG_INFO, LOG_JSON);
}

static void log_as_logfmt(void)
{
    log_init("tavola", LOG_INFO, LOG_LOGFMT);
}

START_TEST(a_line_as_json_is_an_object_with_the_same_fields)
{
    const char *line = written("database", (struct log_field[]){ log_text("why", "no \"route\""),
                                               log_text("word", "bare"), log_number("rows", -3), { 0 } });
    regex_t pattern;

    ck_assert_int_eq(regcomp(&pattern,
                         "^\\{\"time\":\"[-0-9]{10}T[0-9:]{8}\\.[0-9]{3}Z\",\"level\":\"warn\",\"program\":"
                         "\"tavola\",\"event\":"
                         "\"database\",\"why\":\"no \\\\\"route\\\\\"\",\"word\":\"bare\",\"rows\":-3\\}\n$",
                         REG_EXTENDED | REG_NOSUB),
        0);
    ck_assert_msg(regexec(&pattern, line, 0, NULL, 0) == 0, "%s", line);
    regfree(&pattern);
}
END_TEST

START_TEST(a_json_line_that_is_too_long_is_cut_and_well_formed)
{
    static char text[2 * LOG_LINE_BYTES];
    size_t len = LOG_LINE_BYTES - 140 + (size_t)_i;
    const char *line, *end;

    memset(text, _i % 2 ? '"' : 'x', len);
    text[len] = '\0';
    line = written("e", (struct log_field[]){ log_text("why", text), log_text("more", text), { 0 } });
    end = line + strlen(line);
    ck_assert_int_le(end - line, LOG_LINE_BYTES);
    ck_assert_msg(strcmp(end - 3, "\"}\n") == 0 && end[-4] != '\\', "%s", end - 20);
}
END_TEST

START_TEST(the_level_can_change_at_any_time)
{
    log_set_level(LOG_ERROR);
    ck_assert(!log_wants(LOG_WARN));
    log_set_level(LOG_DEBUG);
    ck_assert(log_wants(LOG_DEBUG));
    log_set_level(LOG_INFO);
    ck_assert(!log_wants(LOG_DEBUG));
}
END_TEST

/* ---- failures that repeat ---- */

enum { SECOND_US = 1000000 };

START_TEST(a_failure_is_said_once_and_its_end_once)
{
    struct log_repeat repeat = { 0 }, ended;
    int said = 0, ends = 0;

    for (int64_t now_us = 0; now_us < 10 * SECOND_US; now_us += SECOND_US / 4) {
        said += log_repeat_failed(&repeat, "no route", now_us);
        ends += log_repeat_worked(&repeat, now_us + SECOND_US / 8, &ended); /* between two failures */
    }
    ends += log_repeat_worked(&repeat, 11 * SECOND_US, &ended);
    ends += log_repeat_worked(&repeat, 12 * SECOND_US, &ended);

    ck_assert_int_eq(said, 1);
    ck_assert_int_eq(ends, 1);
    ck_assert_int_eq(ended.failures, 40);
    ck_assert(log_repeat_failed(&repeat, "no route", 13 * SECOND_US));
    ck_assert_int_eq(repeat.failures, 1);
}
END_TEST

START_TEST(another_cause_and_a_long_time_are_said_again)
{
    struct log_repeat repeat = { 0 };

    ck_assert(log_repeat_failed(&repeat, "one", 0));
    ck_assert(!log_repeat_failed(&repeat, "two", 4 * SECOND_US));
    ck_assert(log_repeat_failed(&repeat, "two", 5 * SECOND_US));
    ck_assert_int_eq(repeat.failures, 3);
    ck_assert(!log_repeat_failed(&repeat, "two", 64 * SECOND_US));
    ck_assert(log_repeat_failed(&repeat, "two", 65 * SECOND_US));
    ck_assert_int_eq(repeat.failures, 5);
}
END_TEST

START_TEST(a_minute_without_a_failure_ends_an_outage_unseen)
{
    struct log_repeat repeat = { 0 };

    ck_assert(log_repeat_failed(&repeat, "one", 0));
    ck_assert(log_repeat_failed(&repeat, "one", 61 * SECOND_US));
    ck_assert_int_eq(repeat.failures, 1);
}
END_TEST

Suite *test_log_suite(void)
{
    Suite *suite = suite_create("log");
    TCase *tc = tcase_create("log");

    tcase_add_test(tc, a_line_begins_with_time_level_program_and_event);
    tcase_add_loop_test(tc, a_value_is_bare_or_quoted, 0, ARRAY_LEN(value_cases));
    tcase_add_loop_test(tc, a_line_that_is_too_long_is_cut_and_well_formed, 0, 120);
    tcase_add_test(tc, the_level_can_change_at_any_time);
    tcase_add_test(tc, a_failure_is_said_once_and_its_end_once);
    tcase_add_test(tc, another_cause_and_a_long_time_are_said_again);
    tcase_add_test(tc, a_minute_without_a_failure_ends_an_outage_unseen);
    suite_add_tcase(suite, tc);

    tc = tcase_create("json");
    tcase_add_checked_fixture(tc, log_as_json, log_as_logfmt);
    tcase_add_test(tc, a_line_as_json_is_an_object_with_the_same_fields);
    tcase_add_loop_test(tc, a_json_line_that_is_too_long_is_cut_and_well_formed, 0, 120);
    suite_add_tcase(suite, tc);
    return suite;
}
