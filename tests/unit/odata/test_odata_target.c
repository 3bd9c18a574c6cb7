/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of odata/odata_target.c: URLs as clients write them, and what they name.
 */
#include "odata/odata_target.h"

#include <check.h>

#include "base/macros.h"

static struct arena arena;
static struct error err;
static struct odata_target target;

static void setup(void)
{
    arena_init(&arena);
    err = (struct error){ 0 };
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const char local[] = "127.0.0.1:10002", cloud[] = "acct.table.example.com";

/* The target in one line: account, "!" for the secondary, the resource's number, table, keys. */
static const struct form_case {
    const char *host, *target, *out;
} form_cases[] = {
    { local, "/acct", "acct 0 []" },
    { local, "/acct/", "acct 0 []" },
    { local, "/acct?restype=service&comp=properties", "acct 0 []" },
    { cloud, "/", "acct 0 []" },
    { local, "/acct/Tables", "acct 1 [Tables]" },
    { local, "/acct/Tables/", "acct 1 [Tables]" },
    { local, "/acct/tables()", "acct 1 [tables]" },
    { cloud, "/Tables", "acct 1 [Tables]" },
    { "acct-secondary.table.example.com", "/Tables", "acct! 1 [Tables]" },
    { local, "/acct-secondary/Tables", "acct! 1 [Tables]" },
    { local, "/-secondary/Tables", "-secondary 1 [Tables]" },
    { local, "/acct/Tables('Orders')", "acct 2 [Orders]" },
    { local, "/acct/Tables(%27Orders%27)", "acct 2 [Orders]" },
    { local, "/acct/Orders", "acct 3 [Orders]" },
    { local, "/acct/Orders()", "acct 3 [Orders]" },
    { local, "/acct/Orders/", "acct 3 [Orders]" },
    { local, "/acct/Orders?$filter=a", "acct 3 [Orders]" },
    { local, "/acct/Orders(PartitionKey='p',RowKey='r')", "acct 4 [Orders] [p] [r]" },
    { local, "/acct/Orders(RowKey='r', PartitionKey='p')", "acct 4 [Orders] [p] [r]" },
    { local, "/acct/Orders(PartitionKey='',RowKey='')", "acct 4 [Orders] [] []" },
    { local, "/acct/Orders(PartitionKey='O''Neil',RowKey='''')", "acct 4 [Orders] [O'Neil] [']" },
    { local, "/acct/Orders(PartitionKey=%27O%27%27Neil%27,RowKey=%27a%2Cb%29%27)",
        "acct 4 [Orders] [O'Neil] [a,b)]" },
    { local, "/acct/Orders(PartitionKey='a%2Fb',RowKey='a+b%20%C3%A4%25')",
        "acct 4 [Orders] [a/b] [a+b \xC3\xA4%]" },
    { local, "/acct/Orders(PartitionKey='),RowKey=',RowKey='r')", "acct 4 [Orders] [),RowKey=] [r]" },
    { local, "/acct/$batch", "acct 5 [$batch]" },
    { local, "/acct/1", "acct 3 [1]" },
    { "table.example.com", "/acct/Orders", "acct 3 [Orders]" },
    { "localhost", "/acct/Orders", "acct 3 [Orders]" },
    { "", "/acct/Orders", "acct 3 [Orders]" },
};

static const char *describe(void)
{
    struct str keys =
        target.resource == ODATA_RESOURCE_ENTITY
            ? arena_format(&arena, " [%.*s] [%.*s]", STR_ARG(target.partition), STR_ARG(target.row))
            : STR_EMPTY;

    return arena_format(&arena, "%.*s%s %d [%.*s]%.*s", STR_ARG(target.account),
        target.is_secondary ? "!" : "", (int)target.resource, STR_ARG(target.table), STR_ARG(keys))
        .data;
}

START_TEST(targets_are_read)
{
    const struct form_case *c = &form_cases[_i];

    ck_assert_msg(odata_target_parse(str_of(c->host), str_of(c->target), &arena, &target, &err) == STATUS_OK,
        "%s: %s", c->target, err.message);
    ck_assert_str_eq(describe(), c->out);
}
END_TEST

static const struct refused_case {
    const char *target, *reason;
} refused_cases[] = {
    { "", "INVALID_INPUT" },
    { "acct/Orders", "INVALID_INPUT" },
    { "/acct/Orders/x", "INVALID_INPUT" },
    { "/acct/%zz", "INVALID_INPUT" },
    { "/%C3/Orders", "INVALID_INPUT" },
    { "/acct/Orders(", "INVALID_INPUT" },
    { "/acct/Orders(')", "INVALID_INPUT" },
    { "/acct/Orders('p')", "INVALID_INPUT" },
    { "/acct/Tables('T'", "INVALID_INPUT" },
    { "/acct/Tables('T')x", "INVALID_INPUT" },
    { "/acct/Tables(T)", "INVALID_INPUT" },
    { "/acct/Orders(PartitionKey='p')", "INVALID_INPUT" },
    { "/acct/Orders(PartitionKey='p',PartitionKey='p')", "INVALID_INPUT" },
    { "/acct/Orders(PartitionKey='p',RowKey='r'", "INVALID_INPUT" },
    { "/acct/Orders(PartitionKey='p',RowKey='r')()", "INVALID_INPUT" },
    { "/acct/Orders(PartitionKey='p',RowKey='r'x)", "INVALID_INPUT" },
    { "/acct/Orders(PartitionKey=p,RowKey=r)", "INVALID_INPUT" },
    { "/acct/Orders(PartitionKey='a/b',RowKey='r')", "INVALID_INPUT" },
    { "/acct/Orders(PartitionKey='O'Neil',RowKey='r')", "INVALID_INPUT" },
    { "/acct/Orders?$filter=%zz", "INVALID_INPUT" },
    { "/acct/Orders?%24top=1&$top=2", "INVALID_INPUT" },
    { "/acct/Orders?$orderby=A", "NOT_IMPLEMENTED" },
    { "/acct/Orders?$skip=1", "NOT_IMPLEMENTED" },
};

START_TEST(other_targets_are_refused)
{
    const struct refused_case *c = &refused_cases[_i];

    ck_assert_int_ne(odata_target_parse(str_of(local), str_of(c->target), &arena, &target, &err), STATUS_OK);
    ck_assert_str_eq(err.reason, c->reason);
}
END_TEST

START_TEST(options_are_decoded)
{
    ck_assert_int_eq(
        odata_target_parse(str_of(local),
            STR_LITERAL(
                "/acct/Orders()?%24filter=A%20eq%20%27x%26y%27+and+true&$select=A,B&$top=5&$format=json&"
                "timeout=30&comp=acl&restype=service&NextPartitionKey=1!&NextRowKey=2&NextTableName=t&"
                "sv=2019-02-02&sv=2"),
            &arena, &target, &err),
        STATUS_OK);

    ck_assert(str_equal(target.options.filter, STR_LITERAL("A eq 'x&y' and true")));
    ck_assert(str_equal(target.options.select, STR_LITERAL("A,B")));
    ck_assert(str_equal(target.options.top, STR_LITERAL("5")));
    ck_assert(str_equal(target.options.format, STR_LITERAL("json")));
    ck_assert(str_equal(target.options.timeout, STR_LITERAL("30")));
    ck_assert(str_equal(target.options.comp, STR_LITERAL("acl")));
    ck_assert(str_equal(target.options.restype, STR_LITERAL("service")));
    ck_assert(str_equal(target.options.next_partition_key, STR_LITERAL("1!")));
    ck_assert(str_equal(target.options.next_row_key, STR_LITERAL("2")));
    ck_assert(str_equal(target.options.next_table_name, STR_LITERAL("t")));
    ck_assert(str_equal(target.raw_path, STR_LITERAL("/acct/Orders()")));
}
END_TEST

Suite *test_odata_target_suite(void)
{
    Suite *suite = suite_create("odata_target");
    TCase *tc = tcase_create("odata_target");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, targets_are_read, 0, ARRAY_LEN(form_cases));
    tcase_add_loop_test(tc, other_targets_are_refused, 0, ARRAY_LEN(refused_cases));
    tcase_add_test(tc, options_are_decoded);
    suite_add_tcase(suite, tc);
    return suite;
}
