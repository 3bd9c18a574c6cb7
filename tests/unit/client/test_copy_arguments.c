/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of client/copy_arguments.c.
 */
#include "client/copy_arguments.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"

enum { MAX_OPTIONS = 5 };

static struct copy_arguments rule;
static char text[1024];

static void append(const char *part)
{
    size_t len = strlen(text);

    snprintf(text + len, sizeof(text) - len, "%s", part);
}

static void append_key(const struct tavola_copy_key *key)
{
    append(key->literal ? "'" : "");
    append(key->literal ? key->literal : key->property);
    append(key->literal ? "' " : " ");
}

/* What the options declare: "managers 'company' Manager ManagerName=Name"; "": no rule; "?": they are refused. */
static const char *declared(const char *const options[static MAX_OPTIONS])
{
    struct arguments arguments = { .command = "index create" };
    char given[MAX_OPTIONS][512], *argv[MAX_OPTIONS];
    int argc = 0;
    bool found;

    for (; argc < MAX_OPTIONS && options[argc]; argc++) {
        snprintf(given[argc], sizeof(given[argc]), "%s", options[argc]);
        argv[argc] = given[argc];
    }
    text[0] = '\0';
    ck_assert(arguments_read(COPY_ARGUMENTS, argc, argv, &arguments));
    if (!copy_arguments_read(&arguments, &rule, &found))
        return "?";
    if (!found)
        return "";
    append(rule.copies.source_table);
    append(" ");
    append_key(&rule.copies.partition_key);
    append_key(&rule.copies.row_key);
    for (const struct tavola_copied *one = rule.copies.properties; one->property; one++) {
        append(one->property);
        append("=");
        append(one->of);
        append(" ");
    }
    append(rule.copies.version_property ? rule.copies.version_property : "-");
    append(rule.copies.keep ? " keep" : "");
    return text;
}

static const struct rule_case {
    const char *options[MAX_OPTIONS];
    const char *wanted;
} rule_cases[] = {
    { { NULL }, "" },
    { { "--copy-from=managers", "--named-by=PartitionKey,Manager", "--copy=ManagerName=Name" },
        "managers PartitionKey Manager ManagerName=Name -" },
    { { "--copy-from=m", "--named-by==company,Manager", "--copy=A=B,C,D=E", "--keep", "--version-to=V" },
        "m 'company' Manager A=B C=C D=E V keep" },
    { { "--copy-from=m", "--named-by==a,b,Manager", "--copy=A" }, "m 'a,b' Manager A=A -" },
    { { "--copy-from=m", "--named-by=Manager,=a,b", "--copy=A" }, "m Manager 'a,b' A=A -" },
    { { "--copy-from=m", "--named-by==,Manager", "--copy=A" }, "m '' Manager A=A -" },
    { { "--copy-from=m", "--named-by=Manager", "--copy=A" }, "?" },
    { { "--copy-from=m", "--named-by=,Manager", "--copy=A" }, "?" },
    { { "--copy-from=m", "--named-by=Manager,", "--copy=A" }, "?" },
    { { "--copy-from=m", "--copy=A" }, "?" },
    { { "--copy-from=m", "--named-by=P,R" }, "?" },
    { { "--copy-from=m", "--named-by=P,R", "--version-to=V" }, "?" },
    { { "--copy-from=m", "--named-by=P,R", "--copy=A=" }, "?" },
    { { "--copy-from=m", "--named-by=P,R", "--copy==A" }, "?" },
    { { "--copy-from=m", "--named-by=P,R", "--copy=A,,B" }, "?" },
    { { "--copy=A" }, "?" },
    { { "--keep" }, "?" },
};

START_TEST(options_declare_a_rule_or_are_refused)
{
    const struct rule_case *c = &rule_cases[_i];

    ck_assert_str_eq(declared(c->options), c->wanted);
}
END_TEST

/* "--copy=A,A..." with so many names. */
static void write_option(char *out, size_t size, int count)
{
    size_t len = (size_t)snprintf(out, size, "--copy=A");

    while (--count > 0)
        len += (size_t)snprintf(out + len, size - len, ",A");
}

START_TEST(as_many_copies_as_a_rule_may_have)
{
    for (int more = 0; more <= 1; more++) {
        char option[512];

        write_option(option, sizeof(option), COPY_ARGUMENTS_MAX + more);
        ck_assert_int_eq(
            *declared((const char *const[MAX_OPTIONS]){ "--copy-from=m", "--named-by=P,R", option }),
            more ? '?' : 'm');
    }
}
END_TEST

Suite *test_copy_arguments_suite(void)
{
    Suite *suite = suite_create("copy_arguments");
    TCase *tcase = tcase_create("copy_arguments");

    tcase_add_loop_test(tcase, options_declare_a_rule_or_are_refused, 0, ARRAY_LEN(rule_cases));
    tcase_add_test(tcase, as_many_copies_as_a_rule_may_have);
    suite_add_tcase(suite, tcase);
    return suite;
}
