/* SPDX-License-Identifier: Apache-2.0 */
/* test_copy_rules.c - which copy rules may be declared, and what they keep others from. */
#include <check.h>

#include "store/catalogue/table_calls.h"
#include "store/indexes/index_calls.h"
#include "store/indexes/replacement_calls.h"
#include "tests/support/calls.h"
#include "tests/support/index_calls.h"

static struct world world;

static struct operation *run_on_table(enum operation_kind kind,
    void (*request)(struct session *session, struct operation *operation), const char *name)
{
    return call_run(&world.writer, request, call_make(&world.arena, kind, name));
}

static void setup(void)
{
    world_open(&world);
    call_succeeded(run_on_table(OPERATION_TABLE_CREATE, table_calls_create, "Managers"));
}

static void teardown(void)
{
    world_close(&world);
}

/* People of whom each names the manager in partition "p" whose property `from` is its property `to`. */
static struct operation *a_declaration(const char *name, const char *source, const char *to, const char *from)
{
    struct operation *operation = call_make(&world.arena, OPERATION_INDEX_CREATE, name);
    struct copy_rule *rule = ARENA_NEW(&world.arena, struct copy_rule);
    struct key_part *part = ARENA_NEW(&world.arena, struct key_part);

    *part = (struct key_part){ .text = STR_LITERAL("Manager") };
    *rule = (struct copy_rule){ .source_name = str_of(source),
        .partition_key = { .is_literal = true, .text = STR_LITERAL("p") },
        .row_key = { .text = STR_LITERAL("Manager") },
        .pairs = ARENA_NEW(&world.arena, struct copy_pair),
        .pair_count = 1 };
    rule->pairs[0] = (struct copy_pair){ str_of(to), str_of(from) };
    operation->in.index.definition = (struct index){ .name = str_of(name),
        .source_name = STR_LITERAL("People"),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .consistency = INDEX_STRONG,
        .partition_key = { part, 1 },
        .projection = PROJECT_KEYS_ONLY,
        .copies = rule };
    return operation;
}

static struct operation *declared(const char *name, const char *source, const char *to, const char *from)
{
    return call_run(&world.writer, index_calls_create, a_declaration(name, source, to, from));
}

static long long indexes(void)
{
    return test_number(world.sql, "select count(*) from indexes");
}

static const struct refused {
    const char *what, *before, *source, *to, *reason;
} refused[] = {
    { "a source table that does not exist", "", "Nobody", "ManagerName", "TABLE_NOT_FOUND" },
    { "the table of an index", "", "ManagerOf", "ManagerName", "INDEX_OWNED" },
    { "a property of another rule", "", "Managers", "Note", "COPY_RULE_CONFLICT" },
    { "a circle", "", "People", "City", "COPY_RULE_CONFLICT" },
    { "a source of wide entities", "update tables set is_wide = true where name = 'Managers'", "Managers",
        "ManagerName", "INVALID_INPUT" },
    { "dependents with blobs", "update tables set blob_properties = true where name = 'People'", "Managers",
        "ManagerName", "INVALID_INPUT" },
    { "programs that do not know rules", "update schema_migrations set oldest_program = 46", "Managers",
        "ManagerName", "NOT_IMPLEMENTED" },
};

START_TEST(rules_that_cannot_be_kept_are_refused)
{
    const struct refused *c = &refused[_i];

    call_succeeded(declared("ManagerOf", "managers", "Note", "Name"));
    if (c->before[0])
        world_change(&world, "%s", c->before);
    call_failed(declared("Second", c->source, c->to, "City"), c->reason);
    ck_assert_int_eq(indexes(), 1);
}
END_TEST

START_TEST(a_rule_is_stored_with_its_source)
{
    const struct table *source;
    const struct index *follower;

    call_succeeded(declared("ManagerOf", "managers", "ManagerName", "Name"));
    call_succeeded(run_on_table(OPERATION_TABLE_GET, table_calls_get, "Managers"));
    source = catalogue_find(world.writer.catalogue, STR_LITERAL("acme"), STR_LITERAL("Managers"));
    follower = catalogue_next_follower(world.writer.catalogue, source->table_id, 0);

    ck_assert_ptr_nonnull(follower);
    ck_assert_int_eq(follower->source_table_id, TABLE_ID);
    ck_assert(str_equal(follower->copies->source_name, STR_LITERAL("Managers")));
    ck_assert_int_eq(follower->copies->source_table_id, source->table_id);
    ck_assert_ptr_null(catalogue_next_follower(world.writer.catalogue, source->table_id, follower->index_id));
    call_succeeded(index_dropped(&world, "ManagerOf"));
    call_succeeded(run_on_table(OPERATION_TABLE_GET, table_calls_get, "Managers"));
    ck_assert_ptr_null(catalogue_next_follower(world.writer.catalogue, source->table_id, 0));
}
END_TEST

START_TEST(the_index_of_a_rule_stays_as_it_is)
{
    struct operation *update = call_make(&world.arena, OPERATION_INDEX_UPDATE, "ManagerOf"),
                     *replace = a_declaration("ManagerOf", "Managers", "Other", "Name"),
                     *replace_plain = a_declaration("Plain", "Managers", "Other", "Name");

    call_succeeded(declared("ManagerOf", "Managers", "ManagerName", "Name"));
    call_succeeded(index_created(&world, "Plain", "People", 0));
    update->in.index.consistency = INDEX_EVENTUAL;
    call_failed(call_run(&world.writer, index_calls_update, update), "INVALID_INPUT");
    replace->in.index.definition.copies = NULL;
    call_failed(call_run(&world.writer, replacement_calls_create, replace), "INVALID_INPUT");
    call_failed(call_run(&world.writer, replacement_calls_create, replace_plain), "INVALID_INPUT");
    ck_assert_int_eq(indexes(), 2);
}
END_TEST

START_TEST(the_tables_of_a_rule_stay_as_they_are)
{
    struct operation *update = call_make(&world.arena, OPERATION_TABLE_UPDATE, "People");

    call_succeeded(declared("ManagerOf", "Managers", "ManagerName", "Name"));
    call_failed(run_on_table(OPERATION_TABLE_DELETE, table_calls_delete, "Managers"), "COPY_RULE_CONFLICT");
    update->in.tables.change = (struct table_change){ .sets_blob_properties = true, .blob_properties = true };
    call_failed(call_run(&world.writer, table_calls_update, update), "COPY_RULE_CONFLICT");
    call_succeeded(run_on_table(OPERATION_TABLE_DELETE, table_calls_delete, "People"));
    call_succeeded(run_on_table(OPERATION_TABLE_DELETE, table_calls_delete, "Managers"));
}
END_TEST

Suite *test_copy_rules_suite(void)
{
    Suite *suite = suite_create("copy_rules");
    TCase *tc = tcase_create("copy_rules");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, rules_that_cannot_be_kept_are_refused, 0, ARRAY_LEN(refused));
    tcase_add_test(tc, a_rule_is_stored_with_its_source);
    tcase_add_test(tc, the_index_of_a_rule_stays_as_it_is);
    tcase_add_test(tc, the_tables_of_a_rule_stay_as_they_are);
    suite_add_tcase(suite, tc);
    return suite;
}
