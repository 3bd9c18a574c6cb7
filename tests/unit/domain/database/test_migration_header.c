/* SPDX-License-Identifier: Apache-2.0 */
/* test_migration_header.c - what migrations say of themselves, and which programs a database accepts. */
#include <check.h>

#include "domain/database/migration_header.h"

START_TEST(a_header_names_programs_and_locks)
{
    struct migration_header header;

    ck_assert(
        migration_header_parse(str_of("-- SPDX\n-- Words.\n-- programs: 34\n-- locks: intents moment\n"
                                      "-- locks: index_state scan\nalter table x;\n-- locks: late moment\n"),
            &header));
    ck_assert_int_eq(header.oldest_program, 34);
    ck_assert(header.says_locks);
    ck_assert_uint_eq(header.lock_count, 2);
    ck_assert(str_equal(header.locks[0].table, str_of("intents")));
    ck_assert_int_eq(header.locks[0].work, MIGRATION_MOMENT);
    ck_assert(str_equal(header.locks[1].table, str_of("index_state")));
    ck_assert_int_eq(header.locks[1].work, MIGRATION_SCAN);
}
END_TEST

START_TEST(a_header_may_say_nothing)
{
    struct migration_header header;

    ck_assert(migration_header_parse(str_of("-- Words.\ncreate table x ();"), &header));
    ck_assert_int_eq(header.oldest_program, 0);
    ck_assert(!header.says_locks);
    ck_assert(migration_header_parse(str_of("-- locks: none"), &header));
    ck_assert(header.says_locks);
    ck_assert_uint_eq(header.lock_count, 0);
}
END_TEST

static const char *const malformed[] = {
    "-- programs: ",
    "-- programs: 0",
    "-- programs: 34b",
    "-- programs: 34\n-- programs: 35",
    "-- locks: ",
    "-- locks: intents",
    "-- locks: intents long",
    "-- locks:  moment",
    "-- locks: none moment",
    "-- locks: a scan\n-- locks: b scan\n-- locks: c scan\n-- locks: d scan\n-- locks: e scan\n-- locks: f "
    "scan\n"
    "-- locks: g scan\n-- locks: h scan\n-- locks: i scan",
};

START_TEST(a_malformed_header_is_refused)
{
    struct migration_header header;

    ck_assert_msg(!migration_header_parse(str_of(malformed[_i]), &header), "%s", malformed[_i]);
}
END_TEST

static const struct acceptance {
    int known, found, oldest;
    bool want;
} acceptances[] = {
    { 34, 34, 0, true }, { 34, 33, 0, false }, /* `tavola migrate` has to run first */
    { 34, 35, 34, true },                      /* expanded */
    { 34, 36, 34, true },                      /* two expansions */
    { 34, 36, 35, false },                     /* contracted for programs of 35 and later */
    { 34, 35, 35, false },                     /* says nothing, so only its own programs */
};

START_TEST(a_program_works_with_what_accepts_it)
{
    const struct acceptance *a = &acceptances[_i];

    ck_assert_int_eq(migration_header_accepts(a->known, a->found, a->oldest), a->want);
}
END_TEST

START_TEST(an_estimate_grows_with_the_table)
{
    const int64_t gigabyte = INT64_C(1) << 30;

    ck_assert_int_le(migration_header_estimate_ms(MIGRATION_MOMENT, 100 * gigabyte), 100);
    ck_assert_int_ge(migration_header_estimate_ms(MIGRATION_SCAN, gigabyte), 10000);
    ck_assert_int_ge(migration_header_estimate_ms(MIGRATION_INDEX, gigabyte), 50000);
    ck_assert_int_ge(migration_header_estimate_ms(MIGRATION_REWRITE, gigabyte), 50000);
}
END_TEST

Suite *test_migration_header_suite(void)
{
    Suite *suite = suite_create("migration_header");
    TCase *tc = tcase_create("migration_header");

    tcase_add_test(tc, a_header_names_programs_and_locks);
    tcase_add_test(tc, a_header_may_say_nothing);
    tcase_add_loop_test(tc, a_malformed_header_is_refused, 0, sizeof(malformed) / sizeof(malformed[0]));
    tcase_add_loop_test(
        tc, a_program_works_with_what_accepts_it, 0, sizeof(acceptances) / sizeof(acceptances[0]));
    tcase_add_test(tc, an_estimate_grows_with_the_table);
    suite_add_tcase(suite, tc);
    return suite;
}
