/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of service/admission/memory_bound.c: settings, limits of cgroups, and what follows from them.
 */
#include "service/admission/memory_bound.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"

#define MIB (INT64_C(1024) * 1024)

static char folder[64];

static void write_file(const char *group, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof(path), "mkdir -p %s%s", folder, group);
    ck_assert_int_eq(system(path), 0);
    snprintf(path, sizeof(path), "%s%s/%s", folder, group, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void setup(void)
{
    snprintf(folder, sizeof(folder), "/tmp/test_cgroup_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void teardown(void)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static const struct setting_case {
    const char *text;
    int64_t bytes; /* 0: refused */
} setting_cases[] = {
    { "67108864", 64 * MIB },
    { "256MB", 256 * MIB },
    { "2GB", 2048 * MIB },
    { "65536kB", 64 * MIB },
    { "63MB", 0 },
    { "256 MB", 0 },
    { "256mb", 0 },
    { "256M", 0 },
    { "-256MB", 0 },
    { "", 0 },
    { "MB", 0 },
    { "1.5GB", 0 },
    { "99999999999999999999GB", 0 },
    { "9999999999999GB", 0 },
};

START_TEST(settings_are_read)
{
    const struct setting_case *c = &setting_cases[_i];

    ck_assert_msg(memory_bound_is_valid(c->text) == (c->bytes > 0), "\"%s\"", c->text);
    if (c->bytes > 0)
        ck_assert_int_eq(memory_bound_find(c->text).bytes, c->bytes);
}
END_TEST

START_TEST(version_2_has_the_smallest_of_the_path)
{
    write_file("/a/b", "memory.max", "max\n");
    write_file("/a", "memory.max", "1073741824\n");
    write_file("", "memory.max", "2147483648\n");

    ck_assert_int_eq(memory_bound_of_cgroup("0::/a/b\n", folder), 1024 * MIB);
    ck_assert_int_eq(memory_bound_of_cgroup("0::/\n", folder), 2048 * MIB);
    ck_assert_int_eq(memory_bound_of_cgroup("0::/elsewhere\n", folder), 2048 * MIB);
}
END_TEST

START_TEST(version_1_has_a_hierarchy_for_memory)
{
    const char *groups = "3:cpu,cpuacct:/x\n2:memory:/docker/c1\n1:name=systemd:/y\n0::/z\n";

    write_file("/memory/docker/c1", "memory.limit_in_bytes", "536870912\n");
    write_file("/memory", "memory.limit_in_bytes", "9223372036854771712\n");

    ck_assert_int_eq(memory_bound_of_cgroup(groups, folder), 512 * MIB);
    ck_assert_int_eq(memory_bound_of_cgroup("2:memory:/\n", folder), 0);
}
END_TEST

START_TEST(without_a_cgroup_there_is_no_limit)
{
    const char *texts[] = { "", "\n", "0::/\n", "nonsense", "0:", "2:memory:/a/b/c\n" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        ck_assert_msg(memory_bound_of_cgroup(texts[i], folder) == 0, "\"%s\"", texts[i]);
}
END_TEST

START_TEST(limits_follow_from_the_bound)
{
    const struct memory_bound bound = { 256 * MIB, MEMORY_BOUND_SETTING };
    struct rpc_limits small = { 0 }, few_files = { 0 },
                      said = { .connections = 7, .connections_per_address = 3 };

    memory_bound_set_limits(&bound, 20000, &small);
    memory_bound_set_limits(&bound, 40, &few_files);
    memory_bound_set_limits(&bound, 20000, &said);

    ck_assert_int_eq(small.connections, 1024);
    ck_assert_int_eq(small.connections_per_address, 256);
    ck_assert_int_eq(small.open_calls, 1024);
    ck_assert_int_gt(small.streams, 0);
    ck_assert_int_gt(small.first_call_ms, 0);
    ck_assert_int_eq(few_files.connections, 40);
    ck_assert_int_eq(few_files.connections_per_address, 16);
    ck_assert_int_eq(said.connections, 7);
    ck_assert_int_eq(said.connections_per_address, 3);
}
END_TEST

Suite *test_memory_bound_suite(void)
{
    Suite *suite = suite_create("memory_bound");
    TCase *tcase = tcase_create("memory_bound");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, settings_are_read, 0, (int)ARRAY_LEN(setting_cases));
    tcase_add_test(tcase, version_2_has_the_smallest_of_the_path);
    tcase_add_test(tcase, version_1_has_a_hierarchy_for_memory);
    tcase_add_test(tcase, without_a_cgroup_there_is_no_limit);
    tcase_add_test(tcase, limits_follow_from_the_bound);
    suite_add_tcase(suite, tcase);
    return suite;
}
