/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of service/admission/rates.c, with a clock of their own. */
#include "service/admission/rates.h"

#include <check.h>
#include <stdio.h>

#include "base/macros.h"
#include "domain/reason.h"

enum { SECOND_US = 1000000, LIMIT = 100 };

static struct rates *rates;

static bool put(const char *account, const char *partition, size_t count, int64_t now_us)
{
    struct write writes[LIMIT];
    struct operation operation = { .kind = OPERATION_WRITE,
        .account = str_of(account),
        .table = STR_LITERAL("t"),
        .in.write = { .writes = writes, .count = count } };
    struct error err;
    enum status status;

    for (size_t i = 0; i < count; i++)
        writes[i] = (struct write){ .key.partition = str_of(partition) };
    status = rates_admit(rates, &operation, now_us, &err);
    if (status != STATUS_OK)
        ck_assert_str_eq(err.reason, "SERVER_BUSY");
    return status == STATUS_OK;
}

static int put_until_refused(const char *account, const char *partition, int64_t now_us)
{
    int done = 0;

    while (done < 10 * LIMIT && put(account, partition, 1, now_us))
        done++;
    return done;
}

static void teardown(void)
{
    rates_free(rates);
}

START_TEST(a_second_s_worth_at_once_then_the_rate)
{
    rates = rates_new(&(struct rate_limits){ { LIMIT, 0, 0 } });

    ck_assert_int_eq(put_until_refused("a", "p", SECOND_US), LIMIT);
    ck_assert_int_eq(put_until_refused("a", "p", SECOND_US + SECOND_US / 2), LIMIT / 2);
    ck_assert_int_eq(put_until_refused("a", "p", 100 * SECOND_US), LIMIT);
    ck_assert_int_eq(put_until_refused("b", "p", 100 * SECOND_US), LIMIT);
    ck_assert_int_eq(rates_refused(rates, RATE_ACCOUNT), 4);
    ck_assert_int_eq(rates_refused(rates, RATE_PARTITION), 0);
}
END_TEST

START_TEST(partitions_have_rates_of_their_own)
{
    rates = rates_new(&(struct rate_limits){ { 0, LIMIT, 0 } });

    ck_assert_int_eq(put_until_refused("a", "p", SECOND_US), LIMIT);
    ck_assert_int_eq(put_until_refused("a", "q", SECOND_US), LIMIT);
    ck_assert_int_eq(put_until_refused("b", "p", SECOND_US), LIMIT);
    ck_assert_int_eq(rates_refused(rates, RATE_PARTITION), 3);
}
END_TEST

START_TEST(a_large_request_is_paid_off_afterwards)
{
    rates = rates_new(&(struct rate_limits){ { 0, LIMIT / 10, 0 } });

    ck_assert(put("a", "p", LIMIT, SECOND_US));
    ck_assert(!put("a", "p", 1, 5 * SECOND_US));
    ck_assert(put("a", "p", 1, 11 * SECOND_US));
}
END_TEST

START_TEST(a_crowded_table_forgets_the_idle_first)
{
    rates = rates_new(&(struct rate_limits){ { 0, LIMIT, 0 } });
    put_until_refused("a", "busy", SECOND_US);
    for (int i = 0; i < 20000; i++) {
        char name[16];

        snprintf(name, sizeof(name), "%d", i);
        ck_assert(put("a", name, 1, SECOND_US));
    }

    ck_assert(!put("a", "busy", 1, SECOND_US));
}
END_TEST

enum { CROWD = 12000 };

/* Which of a crowd of partitions are forgotten, on a server of its own: those with too many others in their set. */
static void find_forgotten(bool forgotten[CROWD])
{
    rates = rates_new(&(struct rate_limits){ { 0, 1, 0 } });
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < CROWD; i++) {
            char name[16];

            snprintf(name, sizeof(name), "%d", i);
            forgotten[i] = put("a", name, 1, SECOND_US);
        }
    rates_free(rates);
    rates = NULL;
}

/* Otherwise a caller could find names that make a server forget the rate of another one. */
START_TEST(each_server_has_sets_of_its_own)
{
    static bool forgotten[2][CROWD];

    find_forgotten(forgotten[0]);
    find_forgotten(forgotten[1]);

    ck_assert_ptr_nonnull(memchr(forgotten[0], true, CROWD));
    ck_assert_ptr_nonnull(memchr(forgotten[0], false, CROWD));
    ck_assert_mem_ne(forgotten[0], forgotten[1], sizeof(forgotten[0]));
}
END_TEST

static bool creates(enum operation_kind kind, const char *account, int64_t now_us)
{
    const struct operation operation = {
        .kind = kind, .account = str_of(account), .table = STR_LITERAL("t")
    };
    struct error err;

    return rates_admit(rates, &operation, now_us, &err) == STATUS_OK;
}

START_TEST(changes_of_tables_have_a_rate_of_their_own_and_five_seconds_at_once)
{
    int done = 0;

    rates = rates_new(&(struct rate_limits){ { 0, 0, LIMIT / 10 } });
    while (done < LIMIT && creates(done % 2 ? OPERATION_TABLE_CREATE : OPERATION_INDEX_DROP, "a", SECOND_US))
        done++;
    ck_assert_int_eq(done, LIMIT / 2);
    ck_assert(creates(OPERATION_TABLE_LIST, "a", SECOND_US));
    ck_assert(creates(OPERATION_TABLE_CREATE, "b", SECOND_US));
    ck_assert(put("a", "p", LIMIT, SECOND_US));
    ck_assert(!creates(OPERATION_TABLE_DELETE, "a", SECOND_US));
    ck_assert(creates(OPERATION_TABLE_DELETE, "a", SECOND_US + SECOND_US / 10));
    ck_assert_int_eq(rates_refused(rates, RATE_CATALOGUE), 2);
    ck_assert_int_eq(rates_refused(rates, RATE_ACCOUNT), 0);
}
END_TEST

static bool inflates(const char *account, size_t bytes, int64_t now_us)
{
    struct error err = { 0 };

    if (rates_admit_inflating(rates, str_of(account), now_us, &err) != STATUS_OK)
        return false;
    rates_note_inflated(rates, str_of(account), bytes, now_us);
    return true;
}

START_TEST(inflated_bytes_are_paid_off_before_the_next_message)
{
    rates = rates_new(&(struct rate_limits){ .per_second[RATE_INFLATED] = LIMIT });

    ck_assert(inflates("a", LIMIT / 4 - 1, SECOND_US));
    ck_assert(inflates("a", 2 * LIMIT + 1, SECOND_US));
    ck_assert(!inflates("a", 1, SECOND_US));
    ck_assert(inflates("b", 1, SECOND_US));
    ck_assert(put("a", "p", LIMIT, SECOND_US));
    ck_assert(!inflates("a", 1, 3 * SECOND_US));
    ck_assert(inflates("a", 1, 3 * SECOND_US + SECOND_US / LIMIT));
    ck_assert_int_eq(rates_refused(rates, RATE_INFLATED), 2);
}
END_TEST

START_TEST(without_a_rate_all_are_inflated)
{
    rates = rates_new(&(struct rate_limits){ { 0 } });

    for (int i = 0; i < 10; i++)
        ck_assert(inflates("a", SIZE_MAX / 4, SECOND_US));
}
END_TEST

Suite *test_rates_suite(void)
{
    Suite *suite = suite_create("rates");
    TCase *tc = tcase_create("rates");

    tcase_add_checked_fixture(tc, NULL, teardown);
    tcase_add_test(tc, a_second_s_worth_at_once_then_the_rate);
    tcase_add_test(tc, partitions_have_rates_of_their_own);
    tcase_add_test(tc, a_large_request_is_paid_off_afterwards);
    tcase_add_test(tc, a_crowded_table_forgets_the_idle_first);
    tcase_add_test(tc, each_server_has_sets_of_its_own);
    tcase_add_test(tc, changes_of_tables_have_a_rate_of_their_own_and_five_seconds_at_once);
    tcase_add_test(tc, inflated_bytes_are_paid_off_before_the_next_message);
    tcase_add_test(tc, without_a_rate_all_are_inflated);
    suite_add_tcase(suite, tc);
    return suite;
}
