/* SPDX-License-Identifier: Apache-2.0 */
/* test_access.c - the permissions of each kind of caller, operation by operation. */
#include "domain/access/access.h"

#include <check.h>

#include "tests/support/catalogues.h"

static struct arena arena;
static struct operation operation;
static struct write write_at_hand;
static struct step step_at_hand;
static struct index by_age = { .name = { "ByAge", 5 }, .source_name = { "People", 6 }, .shape = INDEX_COPY };
static struct index groups = { .name = { "Groups", 6 }, .source_name = { "People", 6 }, .shape = INDEX_LIST };
static struct table people = {
    .account = { "acme", 4 }, .folded = { "people", 6 }, .created = 100, .signatures_from = 100
};
static struct table ages = { .account = { "acme", 4 }, .folded = { "byage", 5 }, .entries_of = &by_age };
static struct table lists = { .account = { "acme", 4 }, .folded = { "groups", 6 }, .entries_of = &groups };
static struct table *tables[] = { &ages, &lists, &people };
static struct catalogue *catalogue;

static void setup(void)
{
    arena_init(&arena);
    catalogue = a_catalogue_of(tables, 3);
}

static void teardown(void)
{
    catalogue_release(catalogue);
    arena_cleanup(&arena);
}

static struct access a_signature(const char *permissions)
{
    struct access access = {
        .account = STR_LITERAL("acme"), .table = STR_LITERAL("people"), .signed_at = 200
    };

    ck_assert(access_parse_permissions(str_of(permissions), &access.permissions));
    return access;
}

/* b/5 up to d/5. */
static struct key_range a_range(void)
{
    return (struct key_range){ .has_low = true,
        .has_high = true,
        .high_has_row = true,
        .low = { STR_LITERAL("b"), STR_LITERAL("5") },
        .high = { STR_LITERAL("d"), STR_LITERAL("5") } };
}

static struct operation *an_operation(enum operation_kind kind, const char *table)
{
    memset(&operation, 0, sizeof(operation));
    operation.kind = kind;
    operation.account = STR_LITERAL("acme");
    operation.table = str_of(table);
    return &operation;
}

static struct operation *a_write(enum write_kind kind, const char *partition, const char *row)
{
    write_at_hand = (struct write){ .kind = kind, .key = { str_of(partition), str_of(row) } };
    an_operation(OPERATION_WRITE, "People");
    operation.in.write = (struct operation_write){ .writes = &write_at_hand, .count = 1 };
    return &operation;
}

static struct operation *a_step(enum step_kind kind, const char *partition, const char *to_partition)
{
    step_at_hand = (struct step){ .kind = kind,
        .table = STR_LITERAL("People"),
        .to_table = STR_LITERAL("People"),
        .key = { str_of(partition), STR_LITERAL("7") },
        .to_key = { str_of(to_partition), STR_LITERAL("7") } };
    an_operation(OPERATION_TRANSACTION_SUBMIT, "");
    operation.in.transaction.transaction = (struct transaction){ .steps = &step_at_hand, .step_count = 1 };
    return &operation;
}

static const char *check(struct access access, struct operation *asked)
{
    struct error err = { 0 };

    return access_check(&access, catalogue, asked, &err) == STATUS_OK ? "OK" : err.reason;
}

#define FAILURE "AUTHORIZATION_FAILURE"
#define MISMATCH "AUTHORIZATION_PERMISSION_MISMATCH"

static const struct permission_case {
    enum write_kind kind;
    const char *permissions, *want;
} permission_cases[] = {
    { WRITE_INSERT, "a", "OK" },
    { WRITE_INSERT, "rud", MISMATCH },
    { WRITE_REPLACE, "u", "OK" },
    { WRITE_REPLACE, "rad", MISMATCH },
    { WRITE_MERGE, "u", "OK" },
    { WRITE_MERGE, "rad", MISMATCH },
    { WRITE_INSERT_OR_REPLACE, "au", "OK" },
    { WRITE_INSERT_OR_REPLACE, "a", MISMATCH },
    { WRITE_INSERT_OR_REPLACE, "u", MISMATCH },
    { WRITE_INSERT_OR_MERGE, "au", "OK" },
    { WRITE_INSERT_OR_MERGE, "a", MISMATCH },
    { WRITE_INSERT_OR_MERGE, "u", MISMATCH },
    { WRITE_DELETE, "d", "OK" },
    { WRITE_DELETE, "rau", MISMATCH },
};

START_TEST(each_write_needs_its_permissions)
{
    const struct permission_case *c = &permission_cases[_i];

    ck_assert_str_eq(check(a_signature(c->permissions), a_write(c->kind, "p", "r")), c->want);
}
END_TEST

START_TEST(reads_need_r)
{
    ck_assert_str_eq(check(a_signature("r"), an_operation(OPERATION_GET, "People")), "OK");
    ck_assert_str_eq(check(a_signature("r"), an_operation(OPERATION_PAGE, "PEOPLE")), "OK");
    ck_assert_str_eq(check(a_signature("audit"), an_operation(OPERATION_GET, "People")), MISMATCH);
    ck_assert_str_eq(check(a_signature("audit"), an_operation(OPERATION_PAGE, "People")), MISMATCH);
    ck_assert_int_eq(operation.signed_at, 200);
}
END_TEST

START_TEST(a_signature_is_for_its_table)
{
    ck_assert_str_eq(check(a_signature("r"), an_operation(OPERATION_GET, "Peoples")), FAILURE);
    ck_assert_str_eq(check(a_signature("r"), an_operation(OPERATION_PAGE, "ByAge")), FAILURE);
    a_write(WRITE_INSERT, "p", "r")->table = STR_LITERAL("Things");
    ck_assert_str_eq(check(a_signature("raud"), &operation), FAILURE);
    a_step(STEP_DELETE_IF_EXISTS, "c", "");
    step_at_hand.table = STR_LITERAL("Things");
    ck_assert_str_eq(check(a_signature("raudit"), &operation), FAILURE);
    a_step(STEP_MOVE, "c", "c");
    step_at_hand.to_table = STR_LITERAL("Things");
    ck_assert_str_eq(check(a_signature("raudit"), &operation), FAILURE);
}
END_TEST

static const struct range_case {
    const char *partition, *row;
    bool inside;
} range_cases[] = {
    { "a", "9", false },
    { "b", "", false },
    { "b", "4", false },
    { "b", "5", true },
    { "b", "5a", true },
    { "ba", "", true },
    { "c", "", true },
    { "c", "9", true },
    { "d", "", true },
    { "d", "5", true },
    { "d", "5a", false },
    { "d", "6", false },
    { "da", "", false },
    { "B", "6", false },
};

START_TEST(both_ends_belong_to_the_range)
{
    const struct range_case *c = &range_cases[_i];
    struct access access = a_signature("raudt");
    struct entity_key key = { str_of(c->partition), str_of(c->row) };

    access.range = a_range();
    ck_assert_msg(key_range_contains(&access.range, &key) == c->inside, "%s/%s", c->partition, c->row);
    ck_assert_str_eq(check(access, a_write(WRITE_INSERT, c->partition, c->row)), c->inside ? "OK" : FAILURE);
}
END_TEST

START_TEST(without_rows_whole_partitions_belong_to_the_range)
{
    struct key_range range = a_range();
    struct entity_key first = { STR_LITERAL("b"), STR_EMPTY }, last = { STR_LITERAL("d"), STR_LITERAL("z") };

    range.low.row = STR_EMPTY;
    range.high_has_row = false;
    ck_assert(key_range_contains(&range, &first) && key_range_contains(&range, &last));
}
END_TEST

START_TEST(reads_are_narrowed_to_the_range)
{
    struct access access = a_signature("r");
    struct error err = { 0 };

    access.range = a_range();
    ck_assert_int_eq(
        access_check(&access, catalogue, an_operation(OPERATION_PAGE, "People"), &err), STATUS_OK);
    ck_assert_ptr_eq(operation.within, &access.range);
    access.range = (struct key_range){ 0 };
    ck_assert_int_eq(
        access_check(&access, catalogue, an_operation(OPERATION_GET, "People"), &err), STATUS_OK);
    ck_assert_ptr_null(operation.within);
}
END_TEST

START_TEST(a_group_is_checked_write_by_write)
{
    struct write writes[] = { { .kind = WRITE_INSERT }, { .kind = WRITE_DELETE } };
    struct access access = a_signature("a");
    struct error err = { 0 };

    an_operation(OPERATION_WRITE, "People");
    operation.in.write = (struct operation_write){ .writes = writes, .count = 2, .is_group = true };
    ck_assert_int_eq(access_check(&access, catalogue, &operation, &err), STATUS_DENIED);
    ck_assert_str_eq(err.meta[0].key, "operation_index");
    ck_assert_str_eq(err.meta[0].value, "1");
}
END_TEST

START_TEST(look_ups_need_an_index_of_the_table_and_no_range)
{
    struct access access = a_signature("ri");

    ck_assert_str_eq(check(access, an_operation(OPERATION_LOOKUP, "byage")), "OK");
    ck_assert_str_eq(check(a_signature("r"), an_operation(OPERATION_LOOKUP, "ByAge")), MISMATCH);
    ck_assert_str_eq(check(a_signature("i"), an_operation(OPERATION_LOOKUP, "ByAge")), MISMATCH);
    ck_assert_str_eq(check(access, an_operation(OPERATION_LOOKUP, "Nothing")), FAILURE);
    access.table = STR_LITERAL("things");
    ck_assert_str_eq(check(access, an_operation(OPERATION_LOOKUP, "ByAge")), FAILURE);
    access = a_signature("ri");
    access.range = a_range();
    ck_assert_str_eq(check(access, an_operation(OPERATION_LOOKUP, "ByAge")), FAILURE);
}
END_TEST

START_TEST(a_range_does_not_divide_lists)
{
    struct access access = a_signature("r");

    access.table = STR_LITERAL("groups");
    ck_assert_str_eq(check(access, an_operation(OPERATION_PAGE, "Groups")), "OK");
    access.range = a_range();
    ck_assert_str_eq(check(access, an_operation(OPERATION_PAGE, "Groups")), FAILURE);
    ck_assert_str_eq(check(access, an_operation(OPERATION_GET, "Groups")), FAILURE);
}
END_TEST

static const struct step_case {
    enum step_kind kind;
    const char *permissions, *want;
} step_cases[] = {
    { STEP_INSERT_OR_REPLACE, "aut", "OK" },
    { STEP_INSERT_OR_REPLACE, "rau", MISMATCH },
    { STEP_INSERT_OR_REPLACE, "at", MISMATCH },
    { STEP_INSERT_OR_MERGE, "ut", MISMATCH },
    { STEP_DELETE_IF_EXISTS, "dt", "OK" },
    { STEP_DELETE_IF_EXISTS, "raut", MISMATCH },
    { STEP_MOVE, "raudt", "OK" },
    { STEP_MOVE, "audt", MISMATCH },
    { STEP_MOVE, "rdt", MISMATCH },
};

START_TEST(each_step_needs_its_permissions)
{
    const struct step_case *c = &step_cases[_i];

    ck_assert_str_eq(check(a_signature(c->permissions), a_step(c->kind, "c", "c")), c->want);
}
END_TEST

START_TEST(no_signature_is_for_steps_outside_the_tables)
{
    ck_assert_str_eq(check(a_signature("raudit"), a_step(STEP_WRITE_FILE, "c", "")), FAILURE);
    ck_assert_str_eq(check(access_unlimited(STR_LITERAL("acme")), a_step(STEP_WRITE_FILE, "c", "")), "OK");
}
END_TEST

START_TEST(steps_stay_inside_the_range)
{
    struct access access = a_signature("raudt");

    access.range = a_range();
    ck_assert_str_eq(check(access, a_step(STEP_MOVE, "c", "c")), "OK");
    ck_assert_str_eq(check(access, a_step(STEP_MOVE, "c", "e")), FAILURE);
    ck_assert_str_eq(check(access, a_step(STEP_MOVE, "a", "c")), FAILURE);
    ck_assert_str_eq(check(access, a_step(STEP_INSERT_OR_REPLACE, "a", "")), FAILURE);
}
END_TEST

START_TEST(steps_need_a_table_older_than_the_signature)
{
    struct access access = a_signature("raudt");

    access.signed_at = 99;
    ck_assert_str_eq(check(access, a_step(STEP_DELETE_IF_EXISTS, "c", "")), FAILURE);
    access.signed_at = 100;
    ck_assert_str_eq(check(access, a_step(STEP_DELETE_IF_EXISTS, "c", "")), "OK");
}
END_TEST

/* Kinds of operations that signatures permit; every other kind needs the account's own token. */
START_TEST(a_signature_opens_nothing_else)
{
    static const bool opened[OPERATION_KIND_COUNT] = {
        [OPERATION_GET] = true,
        [OPERATION_WRITE] = true,
        [OPERATION_PAGE] = true,
        [OPERATION_COUNT] = true,
        [OPERATION_EXPLAIN] = true,
        [OPERATION_LOOKUP] = true,
        [OPERATION_CHANGES] = true,
        [OPERATION_CHANGES_WAIT] = true,
        [OPERATION_TRANSACTION_SUBMIT] = true,
        [OPERATION_TRANSACTION_GET] = true,
        [OPERATION_TRANSACTION_WAIT] = true,
    };

    for (int kind = 0; kind < OPERATION_KIND_COUNT; kind++)
        if (!opened[kind])
            ck_assert_msg(
                strcmp(check(a_signature("raudit"), an_operation((enum operation_kind)kind, "People")),
                    FAILURE) == 0,
                "kind %d", kind);
}
END_TEST

START_TEST(every_kind_of_operation_is_allowed_to_some_caller)
{
    struct access access = access_unlimited(STR_LITERAL("acme"));

    for (int kind = 0; kind < OPERATION_KIND_COUNT; kind++)
        ck_assert_msg(strcmp(check(access, an_operation((enum operation_kind)kind, "People")), "OK") == 0,
            "kind %d", kind);
}
END_TEST

static const struct letters_case {
    const char *text;
    bool good;
} letters_cases[] = {
    { "", true },
    { "r", true },
    { "raudit", true },
    { "rd", true },
    { "dr", false },
    { "rr", false },
    { "R", false },
    { "rx", false },
    { "r ", false },
};

START_TEST(letters_stand_in_order)
{
    const struct letters_case *c = &letters_cases[_i];
    unsigned permissions = 0;

    ck_assert_msg(access_parse_permissions(str_of(c->text), &permissions) == c->good, "%s", c->text);
    if (c->good)
        ck_assert(str_equal(access_format_permissions(permissions, &arena), str_of(c->text)));
}
END_TEST

/* ---- narrowing ---- */

START_TEST(a_filter_is_cut_to_what_the_range_can_hold)
{
    struct key_range range = a_range();
    struct key_filter filter = { 0 };

    key_range_narrow(&range, &filter);
    ck_assert(!filter.nothing && str_equal(filter.partition.low, STR_LITERAL("b")) &&
              str_equal(filter.partition.high, STR_LITERAL("d")) && !filter.row.has_low);

    filter = (struct key_filter){ .partition = { .has_low = true, .low = STR_LITERAL("c") } };
    key_range_narrow(&range, &filter);
    ck_assert(str_equal(filter.partition.low, STR_LITERAL("c")));

    filter = (struct key_filter){ .partition = { .has_low = true, .low = STR_LITERAL("e") } };
    key_range_narrow(&range, &filter);
    ck_assert(filter.nothing);

    filter =
        (struct key_filter){ .partition = { .has_low = true, .low_open = true, .low = STR_LITERAL("d") } };
    key_range_narrow(&range, &filter);
    ck_assert(filter.nothing);
}
END_TEST

START_TEST(rows_are_cut_where_one_partition_is_left)
{
    struct key_range range = a_range();
    struct key_filter filter = {
        .partition = { .has_low = true, .has_high = true, .low = STR_LITERAL("b"), .high = STR_LITERAL("b") }
    };

    key_range_narrow(&range, &filter);
    ck_assert(filter.row.has_low && str_equal(filter.row.low, STR_LITERAL("5")) && !filter.row.has_high);

    filter.partition.low = filter.partition.high = STR_LITERAL("d");
    filter.row = (struct interval){ .has_low = true, .low = STR_LITERAL("6") };
    key_range_narrow(&range, &filter);
    ck_assert(filter.nothing);
}
END_TEST

/* ---- account signatures ---- */

#define TYPE "AUTHORIZATION_RESOURCE_TYPE_MISMATCH"

static const struct account_case {
    enum operation_kind kind;
    unsigned resources, permissions;
    const char *want;
} account_cases[] = {
    { OPERATION_GET, RESOURCE_OBJECT, PERMISSION_READ, "OK" },
    { OPERATION_PAGE, RESOURCE_OBJECT, PERMISSION_READ, "OK" },
    { OPERATION_PAGE, RESOURCE_SERVICE | RESOURCE_CONTAINER, PERMISSION_READ, TYPE },
    { OPERATION_PAGE, RESOURCE_OBJECT, PERMISSION_LIST | PERMISSION_SET, MISMATCH },
    { OPERATION_SERVICE_PROPERTIES_GET, RESOURCE_SERVICE, PERMISSION_READ, "OK" },
    { OPERATION_SERVICE_PROPERTIES_GET, RESOURCE_SERVICE, PERMISSION_SET, MISMATCH },
    { OPERATION_SERVICE_PROPERTIES_GET, RESOURCE_OBJECT, PERMISSION_READ, TYPE },
    { OPERATION_SERVICE_PROPERTIES_SET, RESOURCE_SERVICE, PERMISSION_SET, "OK" },
    { OPERATION_SERVICE_PROPERTIES_SET, RESOURCE_SERVICE, PERMISSION_READ, MISMATCH },
    { OPERATION_TABLE_LIST, RESOURCE_CONTAINER, PERMISSION_LIST, "OK" },
    { OPERATION_TABLE_LIST, RESOURCE_SERVICE, PERMISSION_LIST, "OK" },
    { OPERATION_TABLE_LIST, RESOURCE_OBJECT, PERMISSION_LIST, TYPE },
    { OPERATION_TABLE_LIST, RESOURCE_CONTAINER, PERMISSION_READ, MISMATCH },
    { OPERATION_TABLE_CREATE, RESOURCE_CONTAINER, PERMISSION_CREATE, "OK" },
    { OPERATION_TABLE_CREATE, RESOURCE_CONTAINER, PERMISSION_SET, "OK" },
    { OPERATION_TABLE_CREATE, RESOURCE_CONTAINER, PERMISSION_ADD, MISMATCH },
    { OPERATION_TABLE_CREATE, RESOURCE_OBJECT, PERMISSION_CREATE, TYPE },
    { OPERATION_TABLE_DELETE, RESOURCE_CONTAINER, PERMISSION_DELETE, "OK" },
    { OPERATION_TABLE_DELETE, RESOURCE_CONTAINER, PERMISSION_SET, MISMATCH },
    { OPERATION_TABLE_DELETE, RESOURCE_OBJECT, PERMISSION_DELETE, TYPE },
};

static struct access an_account_signature(unsigned resources, unsigned permissions)
{
    return (
        struct access){ .account = STR_LITERAL("acme"), .resources = resources, .permissions = permissions };
}

START_TEST(an_account_signature_needs_resource_and_permission)
{
    const struct account_case *c = &account_cases[_i];
    struct access access = an_account_signature(c->resources, c->permissions);

    ck_assert_str_eq(check(access, an_operation(c->kind, "people")), c->want);
    ck_assert_str_eq(check(access, an_operation(c->kind, "anyother")), c->want);
}
END_TEST

START_TEST(writes_of_an_account_signature_are_checked_like_those_of_a_table)
{
    const struct permission_case *c = &permission_cases[_i];
    struct access access = an_account_signature(RESOURCE_OBJECT, a_signature(c->permissions).permissions);

    ck_assert_str_eq(check(access, a_write(c->kind, "p", "r")), c->want);
    access.resources = RESOURCE_CONTAINER | RESOURCE_SERVICE;
    ck_assert_str_eq(check(access, a_write(c->kind, "p", "r")), TYPE);
}
END_TEST

/* With all types and all permissions that there are. */
START_TEST(an_account_signature_opens_nothing_else)
{
    const enum operation_kind opened[] = { OPERATION_GET, OPERATION_WRITE, OPERATION_PAGE, OPERATION_COUNT,
        OPERATION_EXPLAIN, OPERATION_CHANGES, OPERATION_CHANGES_WAIT, OPERATION_TABLE_CREATE,
        OPERATION_TABLE_LIST, OPERATION_TABLE_DELETE, OPERATION_SERVICE_PROPERTIES_GET,
        OPERATION_SERVICE_PROPERTIES_SET };
    struct access access = an_account_signature(7, 511);

    for (int kind = 0; kind < OPERATION_KIND_COUNT; kind++) {
        bool is_opened = false;

        for (size_t i = 0; i < ARRAY_LEN(opened); i++)
            is_opened = is_opened || opened[i] == (enum operation_kind)kind;
        ck_assert_msg(is_opened == (strcmp(check(access, an_operation((enum operation_kind)kind, "people")),
                                        "OK") == 0),
            "kind %d", kind);
    }
}
END_TEST

START_TEST(the_right_to_list_tables_shows_the_name_of_one)
{
    struct access access = an_account_signature(RESOURCE_CONTAINER, PERMISSION_LIST);
    struct operation *get = an_operation(OPERATION_TABLE_GET, "people");

    ck_assert_str_eq(check(access, get), FAILURE);
    get->in.tables.names_only = true;
    ck_assert_str_eq(check(access, get), "OK");
    ck_assert_str_eq(check(a_signature("raudit"), get), FAILURE);
}
END_TEST

Suite *test_access_suite(void)
{
    Suite *suite = suite_create("access");
    TCase *tc = tcase_create("access");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, each_write_needs_its_permissions, 0, ARRAY_LEN(permission_cases));
    tcase_add_test(tc, reads_need_r);
    tcase_add_test(tc, a_signature_is_for_its_table);
    tcase_add_loop_test(tc, both_ends_belong_to_the_range, 0, ARRAY_LEN(range_cases));
    tcase_add_test(tc, without_rows_whole_partitions_belong_to_the_range);
    tcase_add_test(tc, reads_are_narrowed_to_the_range);
    tcase_add_test(tc, a_group_is_checked_write_by_write);
    tcase_add_test(tc, look_ups_need_an_index_of_the_table_and_no_range);
    tcase_add_test(tc, a_range_does_not_divide_lists);
    tcase_add_loop_test(tc, each_step_needs_its_permissions, 0, ARRAY_LEN(step_cases));
    tcase_add_test(tc, no_signature_is_for_steps_outside_the_tables);
    tcase_add_test(tc, steps_stay_inside_the_range);
    tcase_add_test(tc, steps_need_a_table_older_than_the_signature);
    tcase_add_test(tc, a_signature_opens_nothing_else);
    tcase_add_test(tc, every_kind_of_operation_is_allowed_to_some_caller);
    tcase_add_loop_test(tc, letters_stand_in_order, 0, ARRAY_LEN(letters_cases));
    tcase_add_test(tc, a_filter_is_cut_to_what_the_range_can_hold);
    tcase_add_test(tc, rows_are_cut_where_one_partition_is_left);
    tcase_add_loop_test(tc, an_account_signature_needs_resource_and_permission, 0, ARRAY_LEN(account_cases));
    tcase_add_loop_test(
        tc, writes_of_an_account_signature_are_checked_like_those_of_a_table, 0, ARRAY_LEN(permission_cases));
    tcase_add_test(tc, an_account_signature_opens_nothing_else);
    tcase_add_test(tc, the_right_to_list_tables_shows_the_name_of_one);
    suite_add_tcase(suite, tc);
    return suite;
}
