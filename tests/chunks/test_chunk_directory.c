/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_chunk_directory.c - chunks as files: what a crash leaves, what a full disk does, and which files are touched.
 */
#include "base/clock.h"
#include "chunks/chunk_directory.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chunks/chunk_open.h"
#include "tests/support/temporary.h"

#define NAME "acme-1/ab/abcd-01"

static char folder[MAX_TEMPORARY_PATH];
static struct chunk_store *store;
static struct arena arena;
static const struct chunk_wait wait_long = { .until_us = INT64_MAX };

static void setup(void)
{
    temporary_folder_make("chunks", folder, sizeof(folder));
    store = chunk_directory_open(folder);
    arena_init(&arena);
}

static void teardown(void)
{
    store->calls->close(store);
    arena_cleanup(&arena);
    temporary_folder_remove(folder);
}

static const char *path_of(const char *name)
{
    return arena_format(&arena, "%s/%s", folder, name).data;
}

static enum status put(struct str bytes)
{
    struct error err = { 0 };

    return store->calls->put(store, NAME, bytes, &wait_long, &err);
}

static enum status get(struct str *out)
{
    struct error err = { 0 };

    return store->calls->get(store, NAME, &wait_long, &arena, out, &err);
}

static enum status remove_it(void)
{
    struct error err = { 0 };

    return store->calls->remove(store, NAME, &wait_long, &err);
}

static bool exists(const char *name)
{
    return access(path_of(name), F_OK) == 0;
}

/* Make the file of the chunk, or another one, with these bytes. */
static void write_file(const char *name, const char *text)
{
    FILE *file;

    ck_assert_int_eq(put(STR_LITERAL("folders")), STATUS_OK);
    ck_assert_int_eq(remove_it(), STATUS_OK);
    file = fopen(path_of(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

START_TEST(what_is_put_is_there_until_it_is_removed)
{
    struct str found;

    ck_assert_int_eq(get(&found), STATUS_NOT_FOUND);
    ck_assert_int_eq(put(STR_LITERAL("bytes")), STATUS_OK);
    ck_assert_int_eq(get(&found), STATUS_OK);
    ck_assert(str_equal(found, STR_LITERAL("bytes")));
    ck_assert(!exists(NAME ".part"));
    ck_assert_int_eq(put(STR_LITERAL("bytes")), STATUS_OK);
    ck_assert_int_eq(remove_it(), STATUS_OK);
    ck_assert_int_eq(get(&found), STATUS_NOT_FOUND);
    ck_assert_int_eq(remove_it(), STATUS_OK);
}
END_TEST

START_TEST(other_users_cannot_read_chunks)
{
    struct stat found;

    ck_assert_int_eq(put(STR_LITERAL("bytes")), STATUS_OK);
    ck_assert_int_eq(stat(path_of(NAME), &found), 0);
    ck_assert_int_eq(found.st_mode & 0777, 0600);
    ck_assert_int_eq(stat(path_of("acme-1"), &found), 0);
    ck_assert_int_eq(found.st_mode & 0777, 0700);
}
END_TEST

START_TEST(what_a_crash_has_left_is_written_over_and_removed)
{
    struct str found;

    write_file(NAME ".part", "the beginning of something longer");
    ck_assert_int_eq(get(&found), STATUS_NOT_FOUND);
    ck_assert_int_eq(put(STR_LITERAL("bytes")), STATUS_OK);
    ck_assert_int_eq(get(&found), STATUS_OK);
    ck_assert(str_equal(found, STR_LITERAL("bytes")));

    write_file(NAME ".part", "the beginning");
    ck_assert_int_eq(remove_it(), STATUS_OK);
    ck_assert(!exists(NAME ".part"));
}
END_TEST

START_TEST(a_put_that_begins_too_late_leaves_nothing)
{
    const struct chunk_wait over = { .until_us = clock_monotonic_us() };
    struct error err = { 0 };

    ck_assert_int_eq(store->calls->put(store, NAME, STR_LITERAL("bytes"), &over, &err), STATUS_UNAVAILABLE);
    ck_assert(!exists(NAME) && !exists(NAME ".part"));
}
END_TEST

START_TEST(a_disk_that_is_full_leaves_nothing)
{
    const struct rlimit few = { 3, RLIM_INFINITY }, many = { RLIM_INFINITY, RLIM_INFINITY };
    struct error err = { 0 };

    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &few), 0);
    ck_assert_int_eq(
        store->calls->put(store, NAME, STR_LITERAL("bytes"), &wait_long, &err), STATUS_UNAVAILABLE);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &many), 0);
    ck_assert_msg(strstr(err.message, "TAVOLA_BLOB_DIRECTORY: File too large"), "%s", err.message);
    ck_assert(!exists(NAME) && !exists(NAME ".part"));
    ck_assert_int_eq(put(STR_LITERAL("bytes")), STATUS_OK);
}
END_TEST

START_TEST(a_directory_that_is_not_mounted_is_not_made_and_loses_nothing)
{
    struct str found;

    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_int_eq(put(STR_LITERAL("bytes")), STATUS_UNAVAILABLE);
    ck_assert_int_eq(get(&found), STATUS_UNAVAILABLE);
    ck_assert_int_eq(remove_it(), STATUS_UNAVAILABLE);
    ck_assert(!exists(""));
}
END_TEST

START_TEST(a_file_that_is_too_large_is_not_read)
{
    char *bytes = arena_alloc(&arena, CHUNK_STORE_MAX_BYTES + 1);
    struct str found;

    memset(bytes, 'x', CHUNK_STORE_MAX_BYTES + 1);
    ck_assert_int_eq(put(str_of_bytes(bytes, CHUNK_STORE_MAX_BYTES)), STATUS_OK);
    ck_assert_int_eq(get(&found), STATUS_OK);
    ck_assert_uint_eq(found.len, CHUNK_STORE_MAX_BYTES);
    ck_assert_int_eq(put(str_of_bytes(bytes, CHUNK_STORE_MAX_BYTES + 1)), STATUS_OK);
    ck_assert_int_eq(get(&found), STATUS_LIMIT);
}
END_TEST

START_TEST(a_link_is_not_followed)
{
    struct str found;

    write_file("target", "secret");
    ck_assert_int_eq(symlink(path_of("target"), path_of(NAME)), 0);
    ck_assert_int_eq(get(&found), STATUS_UNAVAILABLE);
    ck_assert_int_eq(symlink(path_of("target"), path_of(NAME ".part")), 0);
    ck_assert_int_eq(put(STR_LITERAL("bytes")), STATUS_UNAVAILABLE);
    ck_assert_int_eq(remove_it(), STATUS_OK);
    ck_assert(exists("target"));
    ck_assert_int_eq(symlink(folder, path_of("acme-2")), 0);
    ck_assert_int_eq(
        store->calls->put(store, "acme-2/ab/x", STR_LITERAL("bytes"), &wait_long, &(struct error){ 0 }),
        STATUS_UNAVAILABLE);
}
END_TEST

START_TEST(a_check_needs_what_a_put_needs_and_leaves_no_file)
{
    struct error err = { 0 };

    ck_assert_int_eq(chunk_open_check(store, &err), STATUS_OK);
    ck_assert_int_eq(rmdir(path_of("check/00")), 0);
    teardown();
    arena_init(&arena);
    store = chunk_directory_open("/nowhere/at/all");
    ck_assert_int_eq(chunk_open_check(store, &err), STATUS_UNAVAILABLE);
}
END_TEST

Suite *test_chunk_directory_suite(void)
{
    Suite *suite = suite_create("chunk_directory");
    TCase *tc = tcase_create("chunk_directory");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_is_put_is_there_until_it_is_removed);
    tcase_add_test(tc, other_users_cannot_read_chunks);
    tcase_add_test(tc, what_a_crash_has_left_is_written_over_and_removed);
    tcase_add_test(tc, a_put_that_begins_too_late_leaves_nothing);
    tcase_add_test(tc, a_disk_that_is_full_leaves_nothing);
    tcase_add_test(tc, a_directory_that_is_not_mounted_is_not_made_and_loses_nothing);
    tcase_add_test(tc, a_file_that_is_too_large_is_not_read);
    tcase_add_test(tc, a_link_is_not_followed);
    tcase_add_test(tc, a_check_needs_what_a_put_needs_and_leaves_no_file);
    suite_add_tcase(suite, tc);
    return suite;
}
