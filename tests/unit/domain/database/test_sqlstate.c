/* SPDX-License-Identifier: Apache-2.0 */
/* test_sqlstate.c - which errors of PostgreSQL are faults of the database itself. */
#include <check.h>

#include "domain/database/sqlstate.h"

static const struct sqlstate_case {
    const char *state;
    enum status want;
    bool file_trouble;
} cases[] = {
    { NULL, STATUS_UNAVAILABLE, false },    /* the connection ended without a report */
    { "08006", STATUS_UNAVAILABLE, false }, /* connection_failure */
    { "08P01", STATUS_UNAVAILABLE, false }, /* protocol_violation */
    { "25006", STATUS_UNAVAILABLE, false }, /* read_only_sql_transaction */
    { "25P02", STATUS_INTERNAL, false },    /* in_failed_sql_transaction: an error of this program */
    { "25P03", STATUS_UNAVAILABLE, false }, /* idle_in_transaction_session_timeout */
    { "40001", STATUS_UNAVAILABLE, false }, /* serialization_failure */
    { "40P01", STATUS_UNAVAILABLE, false }, /* deadlock_detected */
    { "53000", STATUS_UNAVAILABLE, false }, /* insufficient_resources: too many open files */
    { "53100", STATUS_UNAVAILABLE, false }, /* disk_full */
    { "53200", STATUS_UNAVAILABLE, false }, /* out_of_memory */
    { "53300", STATUS_UNAVAILABLE, false }, /* too_many_connections */
    { "53400", STATUS_UNAVAILABLE, false }, /* configuration_limit_exceeded: temp_file_limit */
    { "55000", STATUS_UNAVAILABLE, false }, /* object_not_in_prerequisite_state */
    { "55P03", STATUS_UNAVAILABLE, false }, /* lock_not_available */
    { "57014", STATUS_TIMEOUT, false },     /* query_canceled */
    { "57P01", STATUS_UNAVAILABLE, false }, /* admin_shutdown */
    { "57P02", STATUS_UNAVAILABLE, false }, /* crash_shutdown */
    { "57P03", STATUS_UNAVAILABLE, false }, /* cannot_connect_now */
    { "57P04", STATUS_UNAVAILABLE, false }, /* database_dropped */
    { "57P05", STATUS_UNAVAILABLE, false }, /* idle_session_timeout */
    { "58000", STATUS_UNAVAILABLE, true },  /* system_error */
    { "58030", STATUS_UNAVAILABLE, true },  /* io_error */
    { "58P01", STATUS_UNAVAILABLE, true },  /* undefined_file */
    { "58P02", STATUS_UNAVAILABLE, true },  /* duplicate_file */
    { "22012", STATUS_INTERNAL, false },    /* division_by_zero */
    { "22P05", STATUS_INTERNAL, false },    /* untranslatable_character */
    { "23505", STATUS_INTERNAL, false },    /* unique_violation */
    { "42P01", STATUS_INTERNAL, false },    /* undefined_table */
    { "P0001", STATUS_INTERNAL, false },    /* raise_exception */
    { "XX001", STATUS_INTERNAL, false },    /* data_corrupted: the same at every retry */
};

START_TEST(every_class_has_its_status)
{
    const struct sqlstate_case *c = &cases[_i];

    ck_assert_msg(sqlstate_status(c->state) == c->want, "%s: %s", c->state ? c->state : "none",
        status_name(sqlstate_status(c->state)));
    if (c->state)
        ck_assert_int_eq(sqlstate_is_file_trouble(c->state), c->file_trouble);
}
END_TEST

static const struct report {
    const char *state, *source_file, *want;
} reports[] = {
    { "XX000", "fd.c", "58030" },
    { "XX000", "heapam.c", "XX000" },
    { "XX000", NULL, "XX000" },
    { "53100", "fd.c", "53100" },
    { "23505", "nbtinsert.c", "23505" },
};

START_TEST(an_internal_error_of_a_file_is_one_of_io)
{
    const struct report *report = &reports[_i];

    ck_assert_str_eq(sqlstate_of_report(report->state, report->source_file), report->want);
    ck_assert_ptr_null(sqlstate_of_report(NULL, report->source_file));
}
END_TEST

Suite *test_sqlstate_suite(void)
{
    Suite *suite = suite_create("sqlstate");
    TCase *tc = tcase_create("sqlstate");

    tcase_add_loop_test(tc, every_class_has_its_status, 0, ARRAY_LEN(cases));
    tcase_add_loop_test(tc, an_internal_error_of_a_file_is_one_of_io, 0, ARRAY_LEN(reports));
    suite_add_tcase(suite, tc);
    return suite;
}
