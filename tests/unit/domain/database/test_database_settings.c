/* SPDX-License-Identifier: Apache-2.0 */
/* test_database_settings.c - which settings of PostgreSQL are refused, and with which message. */
#include <check.h>
#include <string.h>

#include "domain/database/database_settings.h"

#define SOUND "on", "on", "on", "read committed", "UTF8", true, true

static const struct settings_case {
    struct database_settings settings;
    bool allow_data_loss;
    const char *complaint; /* a part of it; NULL: none */
} cases[] = {
    { { SOUND }, false, NULL },
    { { "on", "on", "local", "read committed", "UTF8", true, true }, false, NULL },
    { { "on", "on", "remote_apply", "read committed", "UTF8", true, true }, false, NULL },
    { { "on", "on", "off", "read committed", "UTF8", true, true }, false, "writes: synchronous_commit=off;" },
    { { "off", "on", "on", "read committed", "UTF8", true, true }, false, "writes: fsync=off;" },
    { { "on", "off", "on", "read committed", "UTF8", true, true }, false, "writes: full_page_writes=off;" },
    { { "off", "off", "off", "read committed", "UTF8", true, true }, false,
        "fsync=off full_page_writes=off synchronous_commit=off" },
    { { "off", "off", "off", "read committed", "UTF8", true, true }, true, NULL },
    /* These settings lose no data. */
    { { "on", "on", "on", "serializable", "UTF8", true, true }, true, "isolation is \"serializable\"" },
    { { "on", "on", "on", "read committed", "SQL_ASCII", true, true }, true, "encoding is SQL_ASCII" },
    { { "on", "on", "on", "read committed", "UTF8", false, true }, true, "another collation" },
    { { "on", "on", "on", "read committed", "UTF8", true, false }, true, "pooler" },
};

START_TEST(what_voids_a_promise_is_refused)
{
    const struct settings_case *c = &cases[_i];
    struct error err = { 0 };

    enum status got = database_settings_check(&c->settings, c->allow_data_loss, &err);

    ck_assert_int_eq(got, c->complaint ? STATUS_PRECONDITION : STATUS_OK);
    if (c->complaint)
        ck_assert_msg(strstr(err.message, c->complaint) != NULL, "%s", err.message);
}
END_TEST

Suite *test_database_settings_suite(void)
{
    Suite *suite = suite_create("database_settings");
    TCase *tc = tcase_create("database_settings");

    tcase_add_loop_test(tc, what_voids_a_promise_is_refused, 0, ARRAY_LEN(cases));
    suite_add_tcase(suite, tc);
    return suite;
}
