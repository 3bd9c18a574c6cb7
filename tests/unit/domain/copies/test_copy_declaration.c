/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of domain/copies/copy_declaration.c: rules beside each other. */
#include "domain/copies/copy_declaration.h"

#include <check.h>
#include <stdio.h>

#include "domain/limits.h"
#include "tests/support/catalogues.h"

enum { MAX_TABLES = 8, MAX_INDEXES = LIMIT_ACCOUNT_COPY_RULES + 2 };

static struct arena arena;
static struct error err;
static struct catalogue *catalogue;
static struct table tables[MAX_TABLES];
static struct table *pointers[MAX_TABLES];
static struct index *of_table[MAX_TABLES][MAX_INDEXES];

/* Tables "t0" with the id 100, "t1" with 101, ... */
static void setup(void)
{
    arena_init(&arena);
    err = (struct error){ 0 };
    catalogue = NULL;
    for (int i = 0; i < MAX_TABLES; i++) {
        tables[i] = (struct table){ .table_id = 100 + i,
            .account = STR_LITERAL("acme"),
            .name = arena_format(&arena, "t%d", i),
            .folded = arena_format(&arena, "t%d", i),
            .indexes = of_table[i] };
        pointers[i] = &tables[i];
    }
}

static void teardown(void)
{
    catalogue_release(catalogue);
    arena_cleanup(&arena);
}

static struct copy_name name_of(const char *text)
{
    return text[0] == '=' ? (struct copy_name){ .is_literal = true, .text = str_of(text + 1) }
                          : (struct copy_name){ .text = str_of(text) };
}

/* "A=B": the property A of table `to`, whose entities name a source in `from` by this property, is a copy of B. */
static struct index *a_rule(int to, const char *named_by, int from, const char *pair, const char *version)
{
    struct index *index = ARENA_NEW(&arena, struct index);
    struct copy_rule *rule = ARENA_NEW(&arena, struct copy_rule);
    struct str from_name = str_of(pair), to_name = str_take(&from_name, '=');

    *rule = (struct copy_rule){ .source_table_id = 100 + from,
        .source_name = tables[from].name,
        .partition_key = name_of("=p"),
        .row_key = name_of(named_by),
        .pairs = ARENA_NEW(&arena, struct copy_pair),
        .pair_count = 1,
        .version_property = str_of(version) };
    rule->pairs[0] = (struct copy_pair){ .to = to_name, .from = from_name };
    *index = (struct index){ .source_table_id = 100 + to,
        .account = STR_LITERAL("acme"),
        .name = arena_format(&arena, "rule%s", pair),
        .source_name = tables[to].name,
        .copies = rule };
    return index;
}

static void declare(struct index *index)
{
    struct table *table = &tables[index->source_table_id - 100];

    index->index_id = 1000 + index->source_table_id * MAX_INDEXES + (int64_t)table->index_count;
    table->indexes[table->index_count++] = index;
}

static enum status checked(const struct index *index)
{
    catalogue_release(catalogue);
    catalogue = a_catalogue_of(pointers, MAX_TABLES);
    err = (struct error){ 0 };
    return copy_declaration_check_with(catalogue, index, &err);
}

static void assert_conflict(const struct index *index, const char *says)
{
    ck_assert_int_eq(checked(index), STATUS_PRECONDITION);
    ck_assert_str_eq(err.reason, "COPY_RULE_CONFLICT");
    ck_assert_msg(strstr(err.message, says) != NULL, "%s", err.message);
    ck_assert_str_eq(err.meta[0].key, "index");
}

START_TEST(rules_in_a_chain_are_allowed)
{
    declare(a_rule(1, "Manager", 0, "Name=Name", ""));
    declare(a_rule(2, "Department", 1, "ManagerName=Name", ""));
    ck_assert_int_eq(checked(a_rule(3, "Building", 2, "Names=ManagerName", "Version")), STATUS_OK);
    ck_assert_int_eq(checked(a_rule(1, "Boss", 0, "BossName=Name", "")), STATUS_OK);
    ck_assert_int_eq(checked(a_rule(0, "Peer", 0, "PeerName=Title", "")), STATUS_OK);
}
END_TEST

START_TEST(two_rules_for_one_property_are_refused)
{
    declare(a_rule(1, "Manager", 0, "Name=Name", "Version"));
    assert_conflict(a_rule(1, "Boss", 2, "Name=Title", ""), "keeps Name of table t1 already");
    assert_conflict(a_rule(1, "Boss", 2, "Version=Title", ""), "keeps Version");
    assert_conflict(a_rule(1, "Boss", 2, "Title=Title", "Name"), "keeps Name");
    ck_assert_int_eq(checked(a_rule(2, "Boss", 0, "Name=Name", "")), STATUS_OK);
}
END_TEST

static const struct circle {
    const char *what;
    int to, from;
    const char *named_by, *pair, *version;
} circles[] = {
    { "back again", 0, 2, "Other", "Name=Last", "" },
    { "a property that names a source of the chain", 1, 2, "Other", "Manager=Last", "" },
    { "versions", 0, 2, "Other", "Else=Nothing", "Name" },
    { "itself", 3, 3, "Other", "Name=Name", "" },
    { "its own version", 3, 3, "Other", "Name=Title", "Version" },
};

START_TEST(circles_are_refused)
{
    const struct circle *c = &circles[_i];

    declare(a_rule(1, "Manager", 0, "Copy=Name", ""));
    declare(a_rule(2, "Department", 1, "Last=Copy", ""));
    assert_conflict(a_rule(c->to, c->named_by, c->from, c->pair, c->version), "circle");
}
END_TEST

/* Else is on no circle, but leads to one. */
START_TEST(a_circle_is_told_by_the_new_rules_target_on_it)
{
    declare(a_rule(1, "Manager", 0, "Copy=Name", "Version"));
    assert_conflict(a_rule(0, "Other", 1, "Else=Nothing", "Latest"),
        "a change of Latest in table t0 would change it again, by the rule of index ruleCopy=Name");
}
END_TEST

START_TEST(a_circle_of_all_rules_of_an_account_is_found)
{
    enum { LAST = LIMIT_ACCOUNT_COPY_RULES - 1 };

    for (int i = 0; i < LAST; i++)
        declare(a_rule((i + 1) % MAX_TABLES, "Manager", i % MAX_TABLES,
            arena_format(&arena, "P%d=P%d", i + 1, i).data, ""));
    ck_assert_int_eq(checked(a_rule(0, "Other", LAST % MAX_TABLES, "Else=P99", "")), STATUS_OK);
    assert_conflict(a_rule(0, "Other", LAST % MAX_TABLES, "P0=P99", ""), "by the rule of index ruleP99=P98");
}
END_TEST

START_TEST(what_no_rule_copies_makes_no_circle)
{
    declare(a_rule(1, "Manager", 0, "Copy=Name", ""));
    ck_assert_int_eq(checked(a_rule(0, "Other", 1, "Title=Title", "")), STATUS_OK);
    ck_assert_int_eq(checked(a_rule(0, "Other", 1, "Title=Copy", "")), STATUS_OK);
    assert_conflict(a_rule(0, "Other", 1, "Name=Copy", ""), "circle");
}
END_TEST

START_TEST(tables_that_rules_cannot_read_or_write_are_refused)
{
    struct index *rule = a_rule(1, "Manager", 0, "Copy=Name", "");

    tables[0].is_wide = true;
    ck_assert_int_eq(checked(rule), STATUS_INVALID);
    ck_assert_str_eq(err.field, "index.copies.source_table");
    tables[0].is_wide = false;
    tables[1].is_wide = true;
    ck_assert_int_eq(checked(rule), STATUS_INVALID);
    ck_assert_str_eq(err.field, "index.table");
    tables[1].is_wide = false;
    tables[1].has_blob_properties = true;
    ck_assert_int_eq(checked(rule), STATUS_INVALID);
    ck_assert(strstr(err.message, "blob_properties"));
    tables[1].has_blob_properties = false;
    tables[0].has_blob_properties = true;
    ck_assert_int_eq(checked(rule), STATUS_OK);
}
END_TEST

static struct index *numbered_rule(int to, int from, int number)
{
    return a_rule(to, "Manager", from, arena_format(&arena, "Copy%d=Name%d", number, number).data, "");
}

START_TEST(a_source_table_has_16_rules)
{
    for (int i = 0; i < LIMIT_COPY_FOLLOWERS; i++)
        declare(numbered_rule(1, 0, i));
    ck_assert_int_eq(checked(numbered_rule(2, 0, 99)), STATUS_LIMIT);
    ck_assert_str_eq(err.reason, "QUOTA_EXCEEDED");
    ck_assert_int_eq(checked(numbered_rule(2, 3, 99)), STATUS_OK);
}
END_TEST

START_TEST(an_account_has_100_rules)
{
    for (int i = 0; i < LIMIT_ACCOUNT_COPY_RULES; i++)
        declare(numbered_rule(1 + i % 3, i % MAX_TABLES, i));
    ck_assert_int_eq(checked(numbered_rule(1, 2, 999)), STATUS_LIMIT);
    ck_assert(strstr(err.message, "the account has 100 copy rules"));
    tables[1].index_count--;
    tables[2].index_count--;
    ck_assert_int_eq(checked(numbered_rule(1, 2, 999)), STATUS_OK);
}
END_TEST

START_TEST(the_table_of_sources_stays_while_there_are_dependents)
{
    struct index *rule = a_rule(1, "Manager", 0, "Copy=Name", "");

    declare(rule);
    ck_assert_int_eq(checked(a_rule(2, "Manager", 0, "Copy=Name", "")), STATUS_OK);
    ck_assert_int_eq(copy_declaration_check_delete(catalogue, &tables[0], &err), STATUS_PRECONDITION);
    ck_assert(strstr(err.message, "drop the index first"));
    ck_assert_int_eq(copy_declaration_check_delete(catalogue, &tables[1], &err), STATUS_OK);
    ck_assert_int_eq(copy_declaration_check_blobs(&tables[1], &err), STATUS_PRECONDITION);
    ck_assert_int_eq(copy_declaration_check_blobs(&tables[0], &err), STATUS_OK);
}
END_TEST

START_TEST(a_table_whose_entities_copy_from_each_other_may_be_deleted)
{
    declare(a_rule(0, "Manager", 0, "Copy=Name", ""));
    ck_assert_int_eq(checked(a_rule(2, "Manager", 3, "Copy=Name", "")), STATUS_OK);
    ck_assert_int_eq(copy_declaration_check_delete(catalogue, &tables[0], &err), STATUS_OK);
}
END_TEST

Suite *test_copy_declaration_suite(void)
{
    Suite *suite = suite_create("copy_declaration");
    TCase *tc = tcase_create("copy_declaration");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, rules_in_a_chain_are_allowed);
    tcase_add_test(tc, two_rules_for_one_property_are_refused);
    tcase_add_loop_test(tc, circles_are_refused, 0, ARRAY_LEN(circles));
    tcase_add_test(tc, a_circle_is_told_by_the_new_rules_target_on_it);
    tcase_add_test(tc, a_circle_of_all_rules_of_an_account_is_found);
    tcase_add_test(tc, what_no_rule_copies_makes_no_circle);
    tcase_add_test(tc, tables_that_rules_cannot_read_or_write_are_refused);
    tcase_add_test(tc, a_source_table_has_16_rules);
    tcase_add_test(tc, an_account_has_100_rules);
    tcase_add_test(tc, the_table_of_sources_stays_while_there_are_dependents);
    tcase_add_test(tc, a_table_whose_entities_copy_from_each_other_may_be_deleted);
    suite_add_tcase(suite, tc);
    return suite;
}
