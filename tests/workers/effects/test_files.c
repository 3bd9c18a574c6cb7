/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of workers/effects/files.c, on a real file system.
 */
#include "workers/effects/files.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"

static char root[64];

static void setup(void)
{
    snprintf(root, sizeof(root), "%s/tavola-files-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(root));
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *walk)
{
    (void)stat, (void)type, (void)walk;
    return remove(path);
}

static void teardown(void)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- words ---- */

static enum delivery_cause cause;
static struct error failure;

static enum status make(const char *path, const char *content)
{
    const struct files_address at = { root, STR_LITERAL("acme#1"), str_of(path) };

    failure = (struct error){ 0 };
    return files_write(&at, str_of(content), &cause, &failure);
}

static const char *path_of(const char *path)
{
    static char full[256];

    snprintf(full, sizeof(full), "%s/%s", root, path);
    return full;
}

static const char *content_of(const char *path)
{
    static char content[256];
    FILE *file = fopen(path_of(path), "r");

    ck_assert_msg(file != NULL, "%s: %s", path, strerror(errno));
    content[fread(content, 1, sizeof(content) - 1, file)] = '\0';
    fclose(file);
    return content;
}

static int names_in(const char *path)
{
    DIR *folder = opendir(path_of(path));
    int count = -2; /* . and .. */

    ck_assert_ptr_nonnull(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void require_failure(
    enum status status, enum status wanted, const char *reason, enum delivery_cause why)
{
    ck_assert_int_eq(status, wanted);
    ck_assert_str_eq(failure.reason, reason);
    ck_assert_int_eq(cause, why);
}

/* ---- write_file ---- */

START_TEST(a_file_is_made_with_its_folders)
{
    ck_assert_int_eq(make("2026/11/ada.json", "{}"), STATUS_OK);
    ck_assert_str_eq(content_of("acme#1/2026/11/ada.json"), "{}");
    ck_assert_int_eq(names_in("acme#1/2026/11"), 1);
}
END_TEST

START_TEST(a_file_may_be_empty)
{
    ck_assert_int_eq(make("empty", ""), STATUS_OK);
    ck_assert_int_eq(make("empty", ""), STATUS_OK);
    ck_assert_str_eq(content_of("acme#1/empty"), "");
}
END_TEST

/* guard G16 */
START_TEST(a_file_that_is_there_is_never_replaced)
{
    struct stat before, after;

    ck_assert_int_eq(make("a", "one"), STATUS_OK);
    ck_assert_int_eq(stat(path_of("acme#1/a"), &before), 0);
    ck_assert_int_eq(make("a", "one"), STATUS_OK);
    require_failure(make("a", "two"), STATUS_EXISTS, "FILE_EXISTS", DELIVERY_FINAL);
    require_failure(make("a", "on"), STATUS_EXISTS, "FILE_EXISTS", DELIVERY_FINAL);
    ck_assert_int_eq(stat(path_of("acme#1/a"), &after), 0);
    ck_assert_uint_eq(before.st_ino, after.st_ino);
    ck_assert_str_eq(content_of("acme#1/a"), "one");
    ck_assert_int_eq(names_in("acme#1"), 1);
}
END_TEST

static const struct link_case {
    const char *link, *path;
} link_cases[] = {
    { "acme#1", "a" },       /* the account's folder */
    { "acme#1/in", "in/a" }, /* a folder of the path */
    { "acme#1/out", "out" }, /* the file */
};

START_TEST(no_link_is_followed) /* guard G51 */
{
    const struct link_case *c = &link_cases[_i];
    char outside[80];

    snprintf(outside, sizeof(outside), "%s/outside", root);
    ck_assert_int_eq(mkdir(outside, 0700), 0);
    if (_i > 0)
        ck_assert_int_eq(mkdir(path_of("acme#1"), 0700), 0);
    ck_assert_int_eq(symlink(outside, path_of(c->link)), 0);
    require_failure(make(c->path, "x"), STATUS_PRECONDITION, "FILE_PATH_BLOCKED", DELIVERY_FINAL);
    ck_assert_int_eq(names_in("outside"), 0);
}
END_TEST

START_TEST(what_is_in_the_way_is_named)
{
    ck_assert_int_eq(make("a", "x"), STATUS_OK);
    require_failure(make("a/b", "x"), STATUS_PRECONDITION, "FILE_PATH_BLOCKED", DELIVERY_FINAL);
    ck_assert_int_eq(make("folder/b", "x"), STATUS_OK);
    require_failure(make("folder", "x"), STATUS_EXISTS, "FILE_EXISTS", DELIVERY_FINAL);
    ck_assert_int_eq(mkfifo(path_of("acme#1/pipe"), 0600), 0);
    require_failure(make("pipe", "x"), STATUS_EXISTS, "FILE_EXISTS", DELIVERY_FINAL);
}
END_TEST

START_TEST(storage_that_fails_is_tried_again)
{
    ck_assert_int_eq(rmdir(root), 0);
    require_failure(make("a", "x"), STATUS_INTERNAL, "FILE_STORAGE_FAILED", DELIVERY_OF_OUTSIDE);
    ck_assert_int_eq(mkdir(root, 0700), 0);
    ck_assert_int_eq(make("a", "x"), STATUS_OK);
}
END_TEST

START_TEST(an_account_without_a_name_for_a_folder_is_refused)
{
    static const char *const accounts[] = { "", ".", "..", ".x", "a/b" };

    for (size_t i = 0; i < ARRAY_LEN(accounts); i++) {
        const struct files_address at = { root, str_of(accounts[i]), STR_LITERAL("a") };

        failure = (struct error){ 0 };
        require_failure(files_write(&at, STR_LITERAL("x"), &cause, &failure), STATUS_PRECONDITION,
            "FILE_PATH_BLOCKED", DELIVERY_FINAL);
    }
    ck_assert_int_eq(names_in(""), 0);
}
END_TEST

/* ---- append_file ---- */

static enum status append(const char *content, int64_t offset, int64_t least)
{
    const struct files_address at = { root, STR_LITERAL("acme#1"), STR_LITERAL("log") };

    failure = (struct error){ 0 };
    return files_append(&at, str_of(content), offset, least, &cause, &failure);
}

START_TEST(appends_in_any_order_and_twice_are_each_there_once) /* guard G16 */
{
    ck_assert_int_eq(append("two\n", 4, 0), STATUS_OK);
    ck_assert_int_eq(append("one\n", 0, 0), STATUS_OK);
    ck_assert_int_eq(append("two\n", 4, 0), STATUS_OK);
    ck_assert_int_eq(append("three\n", 8, 8), STATUS_OK);
    ck_assert_int_eq(append("one\n", 0, 0), STATUS_OK);
    ck_assert_str_eq(content_of("acme#1/log"), "one\ntwo\nthree\n");
}
END_TEST

START_TEST(an_append_that_was_cut_off_is_completed)
{
    ck_assert_int_eq(append("one\n", 0, 0), STATUS_OK);
    ck_assert_int_eq(append("tw", 4, 0), STATUS_OK); /* as far as a full disk allowed */
    ck_assert_int_eq(append("two\n", 4, 4), STATUS_OK);
    ck_assert_str_eq(content_of("acme#1/log"), "one\ntwo\n");
}
END_TEST

START_TEST(what_another_program_has_written_stays) /* guard G53 */
{
    FILE *other;

    ck_assert_int_eq(append("one\n", 0, 0), STATUS_OK);
    other = fopen(path_of("acme#1/log"), "a");
    fputs("foreign", other);
    fclose(other);
    require_failure(append("two\n", 4, 4), STATUS_PRECONDITION, "FILE_CHANGED", DELIVERY_FINAL);
    ck_assert_str_eq(content_of("acme#1/log"), "one\nforeign");
}
END_TEST

START_TEST(a_file_that_was_moved_is_not_begun_again)
{
    ck_assert_int_eq(append("one\n", 0, 0), STATUS_OK);
    ck_assert_int_eq(truncate(path_of("acme#1/log"), 0), 0);
    require_failure(append("two\n", 4, 4), STATUS_PRECONDITION, "FILE_CHANGED", DELIVERY_FINAL);
    ck_assert_str_eq(content_of("acme#1/log"), "");
}
END_TEST

START_TEST(an_append_follows_no_link) /* guard G51 */
{
    ck_assert_int_eq(make("other", "x"), STATUS_OK);
    ck_assert_int_eq(symlink("other", path_of("acme#1/log")), 0);
    require_failure(append("one\n", 0, 0), STATUS_PRECONDITION, "FILE_PATH_BLOCKED", DELIVERY_FINAL);
    ck_assert_str_eq(content_of("acme#1/other"), "x");
    ck_assert_int_eq(unlink(path_of("acme#1/log")), 0);
    ck_assert_int_eq(mkdir(path_of("acme#1/log"), 0700), 0);
    require_failure(append("one\n", 0, 0), STATUS_PRECONDITION, "FILE_PATH_BLOCKED", DELIVERY_FINAL);
}
END_TEST

Suite *test_files_suite(void)
{
    Suite *suite = suite_create("files");
    TCase *tc = tcase_create("files");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_file_is_made_with_its_folders);
    tcase_add_test(tc, a_file_may_be_empty);
    tcase_add_test(tc, a_file_that_is_there_is_never_replaced);
    tcase_add_loop_test(tc, no_link_is_followed, 0, ARRAY_LEN(link_cases));
    tcase_add_test(tc, what_is_in_the_way_is_named);
    tcase_add_test(tc, storage_that_fails_is_tried_again);
    tcase_add_test(tc, an_account_without_a_name_for_a_folder_is_refused);
    tcase_add_test(tc, appends_in_any_order_and_twice_are_each_there_once);
    tcase_add_test(tc, an_append_that_was_cut_off_is_completed);
    tcase_add_test(tc, what_another_program_has_written_stays);
    tcase_add_test(tc, a_file_that_was_moved_is_not_begun_again);
    tcase_add_test(tc, an_append_follows_no_link);
    suite_add_tcase(suite, tc);
    return suite;
}
