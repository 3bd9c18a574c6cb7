/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of client/doctor/findings.c.
 */
#include "client/doctor/findings.h"

#include <check.h>
#include <stdlib.h>

static struct arena arena;
static struct findings findings;

static void begin(void)
{
    arena_init(&arena);
    findings_init(&findings, &arena);
    findings_add_ok(&findings, "Redis", "it can be reached");
    findings_add(
        &findings, &(struct finding){ .severity = SEVERITY_WARNING,
                       .part = STR_LITERAL("PostgreSQL"),
                       .what = STR_LITERAL("free_connections is 3"),
                       .why = STR_LITERAL("a server that is started may be refused"),
                       .remedy = STR_LITERAL("psql -c \"alter system set max_connections = 200\"") });
}

static void end(void)
{
    arena_cleanup(&arena);
}

enum form { PROBLEMS_ONLY, EVERYTHING, JSON };

static const char *printed(enum form form, int width)
{
    static char *text;
    size_t len;
    FILE *out;

    free(text);
    out = open_memstream(&text, &len);
    if (form == JSON)
        findings_print_json(&findings, out);
    else
        findings_print(&findings, form == EVERYTHING, width, out);
    fclose(out);
    return text;
}

START_TEST(the_worst_is_told)
{
    ck_assert_int_eq(findings_worst(&findings), SEVERITY_WARNING);
    findings_init(&findings, &arena);
    ck_assert_int_eq(findings_worst(&findings), SEVERITY_OK);
}
END_TEST

START_TEST(what_is_ok_is_printed_when_all_is_wanted)
{
    ck_assert_str_eq(printed(PROBLEMS_ONLY, 100),
        "warning  PostgreSQL: free_connections is 3\n"
        "    why     a server that is started may be refused\n"
        "    remedy  psql -c \"alter system set max_connections = 200\"\n");
    ck_assert_str_eq(printed(EVERYTHING, 100),
        "ok       Redis: it can be reached\n"
        "warning  PostgreSQL: free_connections is 3\n"
        "    why     a server that is started may be refused\n"
        "    remedy  psql -c \"alter system set max_connections = 200\"\n");
}
END_TEST

START_TEST(lines_fit_a_narrow_terminal)
{
    ck_assert_str_eq(printed(PROBLEMS_ONLY, 40), "warning  PostgreSQL: free_connections is\n"
                                                 "         3\n"
                                                 "    why     a server that is started may\n"
                                                 "            be refused\n"
                                                 "    remedy  psql -c \"alter system set\n"
                                                 "            max_connections = 200\"\n");
}
END_TEST

START_TEST(json_has_all_findings)
{
    ck_assert_str_eq(printed(JSON, 0),
        "{\n"
        "  \"worst\": \"warning\",\n"
        "  \"findings\": [\n"
        "    {\n"
        "      \"severity\": \"ok\",\n"
        "      \"part\": \"Redis\",\n"
        "      \"what\": \"it can be reached\",\n"
        "      \"why\": \"\",\n"
        "      \"remedy\": \"\"\n"
        "    },\n"
        "    {\n"
        "      \"severity\": \"warning\",\n"
        "      \"part\": \"PostgreSQL\",\n"
        "      \"what\": \"free_connections is 3\",\n"
        "      \"why\": \"a server that is started may be refused\",\n"
        "      \"remedy\": \"psql -c \\\"alter system set max_connections = 200\\\"\"\n"
        "    }\n"
        "  ]\n"
        "}\n");
}
END_TEST

Suite *test_findings_suite(void)
{
    Suite *suite = suite_create("findings");
    TCase *tc = tcase_create("findings");

    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_test(tc, the_worst_is_told);
    tcase_add_test(tc, what_is_ok_is_printed_when_all_is_wanted);
    tcase_add_test(tc, lines_fit_a_narrow_terminal);
    tcase_add_test(tc, json_has_all_findings);
    suite_add_tcase(suite, tc);
    return suite;
}
