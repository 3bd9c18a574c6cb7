/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of client/doctor/rules.c.
 */
#include "client/doctor/rules.h"

#include <check.h>
#include <string.h>

#include "base/macros.h"

/* A value that is as it should be, and one that is a finding. */
static const struct rule_case {
    const struct rules *rules;
    const char *fact, *good, *bad;
    enum severity severity;
} cases[] = {
    { &rules_of_postgres, "fsync", "on", "off", SEVERITY_PROBLEM },
    { &rules_of_postgres, "full_page_writes", "on", "off", SEVERITY_PROBLEM },
    { &rules_of_postgres, "synchronous_commit", "local", "off", SEVERITY_PROBLEM },
    { &rules_of_postgres, "default_transaction_isolation", "read committed", "serializable", SEVERITY_NOTE },
    { &rules_of_postgres, "collation_version", "unchanged", "changed", SEVERITY_NOTE },
    { &rules_of_postgres, "connections_left_for_one_more", "0", "-1", SEVERITY_PROBLEM },
    { &rules_of_postgres, "autovacuum", "on", "off", SEVERITY_PROBLEM },
    { &rules_of_postgres, "track_counts", "on", "off", SEVERITY_PROBLEM },
    { &rules_of_postgres, "data_checksums", "on", "off", SEVERITY_NOTE },
    { &rules_of_postgres, "shared_buffers", "2147483648", "134217727", SEVERITY_WARNING },
    { &rules_of_postgres, "max_wal_size", "1073741824", "1073741823", SEVERITY_WARNING },
    { &rules_of_postgres, "min_wal_size", "536870912", "536870911", SEVERITY_NOTE },
    { &rules_of_postgres, "free_connections", "16", "15", SEVERITY_WARNING },
    { &rules_of_postgres, "oldest_transaction", "300", "301", SEVERITY_WARNING },
    { &rules_of_postgres, "oldest_prepared_transaction", "60", "61", SEVERITY_WARNING },
    { &rules_of_postgres, "slot_behind", "4294967296", "4294967297", SEVERITY_WARNING },
    { &rules_of_postgres, "standby_behind", "0", "268435457", SEVERITY_WARNING },
    { &rules_of_postgres, "transaction_ids_used", "1000000000", "1000000001", SEVERITY_PROBLEM },
    { &rules_of_postgres, "dead_rows_percent", "30", "31", SEVERITY_WARNING },
    { &rules_of_postgres, "intents_empty_bytes", "0", "1073741825", SEVERITY_WARNING },
    { &rules_of_disk, "disk_free_percent", "10", "9", SEVERITY_WARNING },
    { &rules_of_disk, "disk_free_percent_of_max_wal_size", "200", "199", SEVERITY_PROBLEM },
    { &rules_of_redis, "maxmemory_policy", "noeviction", "allkeys-lru", SEVERITY_PROBLEM },
    { &rules_of_redis, "used_memory_percent", "90", "91", SEVERITY_WARNING },
    { &rules_of_redis, "evicted_keys", "0", "1", SEVERITY_WARNING },
    { &rules_of_redis, "role", "master", "slave", SEVERITY_PROBLEM },
    { &rules_of_redis, "loading", "0", "1", SEVERITY_WARNING },
    { &rules_of_redis, "rdb_last_bgsave_status", "ok", "err", SEVERITY_WARNING },
    { &rules_of_redis, "aof_last_write_status", "ok", "err", SEVERITY_WARNING },
    { &rules_of_redis, "redis_version", "6.0.1", "5.0.14", SEVERITY_WARNING },
};

static struct arena arena;

static void begin(void)
{
    arena_init(&arena);
}

static void end(void)
{
    arena_cleanup(&arena);
}

static struct finding finding_of(const struct rules *rules, const char *name, const char *value)
{
    struct fact fact = { str_of(name), str_of(value) };
    struct findings found;

    findings_init(&found, &arena);
    rules_apply(rules, &(struct facts){ &fact, 1 }, &found);
    ck_assert_uint_eq(found.count, 1);
    return found.items[0];
}

START_TEST(a_fact_is_a_finding_beyond_its_bound)
{
    const struct rule_case *c = &cases[_i];
    struct finding good = finding_of(c->rules, c->fact, c->good), bad = finding_of(c->rules, c->fact, c->bad);

    ck_assert_int_eq(good.severity, SEVERITY_OK);
    ck_assert_uint_eq(good.why.len + good.remedy.len, 0);
    ck_assert_int_eq(bad.severity, c->severity);
    ck_assert_uint_gt(bad.why.len, 0);
    ck_assert_uint_gt(bad.remedy.len, 0);
    ck_assert(str_starts_with(bad.what, str_of(c->fact)));
}
END_TEST

START_TEST(every_rule_has_a_case)
{
    ck_assert_uint_eq(rules_of_postgres.count + rules_of_redis.count + rules_of_disk.count, ARRAY_LEN(cases));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_str_ne(cases[i].fact, cases[j].fact);
}
END_TEST

START_TEST(a_fact_that_is_not_there_is_no_finding)
{
    struct findings found;

    findings_init(&found, &arena);
    rules_apply(&rules_of_postgres, &(struct facts){ NULL, 0 }, &found);
    ck_assert_uint_eq(found.count, 0);
}
END_TEST

START_TEST(facts_are_read_from_the_answer_to_info)
{
    static const char info[] = "# Server\r\nredis_version:7.0.15\r\n\r\n# "
                               "Memory\r\nused_memory:500\r\nmaxmemory:1000\r\nempty:\r\nno line end:1";
    struct facts facts;

    rules_read_info(str_of(info), &arena, &facts);
    ck_assert(str_equal(rules_fact(&facts, "redis_version"), STR_LITERAL("7.0.15")));
    ck_assert(str_equal(rules_fact(&facts, "used_memory_percent"), STR_LITERAL("50")));
    ck_assert(str_equal(rules_fact(&facts, "no line end"), STR_LITERAL("1")));
    ck_assert_uint_eq(rules_fact(&facts, "empty").len, 0);
    rules_read_info(STR_LITERAL("maxmemory:0\r\n"), &arena, &facts);
    ck_assert_uint_eq(rules_fact(&facts, "used_memory_percent").len, 0);
}
END_TEST

Suite *test_rules_suite(void)
{
    Suite *suite = suite_create("rules");
    TCase *tc = tcase_create("rules");

    tcase_add_checked_fixture(tc, begin, end);
    tcase_add_loop_test(tc, a_fact_is_a_finding_beyond_its_bound, 0, ARRAY_LEN(cases));
    tcase_add_test(tc, every_rule_has_a_case);
    tcase_add_test(tc, a_fact_that_is_not_there_is_no_finding);
    tcase_add_test(tc, facts_are_read_from_the_answer_to_info);
    suite_add_tcase(suite, tc);
    return suite;
}
