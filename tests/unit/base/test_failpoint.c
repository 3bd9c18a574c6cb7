/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of base/failpoint.c; without TAVOLA_FAILPOINTS there is only to see that the macros are nothing.
 */
#include "base/failpoint.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef TAVOLA_FAILPOINTS

static enum status pass(const char *name, struct error *err)
{
    FAILPOINT_TRY(name, err);
    return STATUS_OK;
}

START_TEST(the_named_pass_fails_once)
{
    struct error err = { 0 };

    setenv("TAVOLA_FAILPOINT", "here:error:2", 1);

    ck_assert_int_eq(pass("here", &err), STATUS_OK);
    ck_assert_int_eq(pass("there", &err), STATUS_OK);
    ck_assert_int_eq(pass("here", &err), STATUS_UNAVAILABLE);
    ck_assert_str_eq(err.message, "failpoint here");
    ck_assert_int_eq(pass("here", &err), STATUS_OK);
}
END_TEST

START_TEST(the_named_pass_kills)
{
    setenv("TAVOLA_FAILPOINT", "here:kill", 1);

    FAILPOINT("there");
    FAILPOINT("here");
}
END_TEST

START_TEST(every_pass_is_logged)
{
    char path[] = "/tmp/tavola-failpoint-XXXXXX", text[64] = "";
    int fd = mkstemp(path);
    ssize_t len;

    ck_assert_int_ge(fd, 0);
    setenv("TAVOLA_FAILPOINT_LOG", path, 1);
    FAILPOINT("one");
    FAILPOINT("two");
    FAILPOINT("one");
    len = read(fd, text, sizeof(text) - 1);
    close(fd);
    unlink(path);

    ck_assert_int_gt(len, 0);
    ck_assert_str_eq(text, "one\ntwo\none\n");
}
END_TEST

#else

START_TEST(points_are_nothing)
{
    setenv("TAVOLA_FAILPOINT", "here:kill", 1);
    FAILPOINT("here");
}
END_TEST

#endif

Suite *test_failpoint_suite(void)
{
    Suite *suite = suite_create("failpoint");
    TCase *tc = tcase_create("failpoint");

#ifdef TAVOLA_FAILPOINTS
    if (!getenv("CK_FORK")) { /* each needs a process of its own: settings are read once, and one is killed */
        tcase_add_test(tc, the_named_pass_fails_once);
        tcase_add_test_raise_signal(tc, the_named_pass_kills, SIGKILL);
        tcase_add_test(tc, every_pass_is_logged);
    }
#else
    tcase_add_test(tc, points_are_nothing);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}
