/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of filter_advice by cases. The texts are for people; the tests look only for the facts in them. */
#include "domain/indexes/query_advice.h"

#include <check.h>
#include <string.h>

static struct arena arena;

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

static const struct filter *compiled(const char *text)
{
    const struct filter *filter = NULL;
    struct error err;

    ck_assert_int_eq(filter_compile(str_of(text), &arena, &filter, &err), STATUS_OK);
    return filter;
}

/*
 * A table with an index by City, one by Country and Zip that is not ready, one under a literal, and two by Name of some
 * entities.
 */
static const struct table *a_table(void)
{
    static struct key_part city = { .text = STR_LITERAL("City") },
                           country[] = { { .text = STR_LITERAL("Country") }, { .text = STR_LITERAL("Zip") } },
                           all = { .is_literal = true, .text = STR_LITERAL("all") },
                           name = { .text = STR_LITERAL("Name") },
                           email = { .text = STR_LITERAL("Email"), .fold_case = true };
    static struct index
        by_city = { .name = STR_LITERAL("ByCity"), .state = INDEX_READY, .partition_key = { &city, 1 } },
        by_zip = { .name = STR_LITERAL("ByZip"), .state = INDEX_BUILDING, .partition_key = { country, 2 } },
        listed = { .name = STR_LITERAL("Listed"), .state = INDEX_READY, .partition_key = { &all, 1 } },
        paid = { .name = STR_LITERAL("Paid"), .state = INDEX_READY, .partition_key = { &name, 1 } },
        mail = { .name = STR_LITERAL("Mail"), .state = INDEX_READY, .partition_key = { &email, 1 } },
        some = { .name = STR_LITERAL("Some"), .state = INDEX_READY, .partition_key = { &name, 1 } };
    static struct index *indexes[] = { &by_city, &by_zip, &listed, &paid, &some, &mail };
    static struct table table = { .indexes = indexes, .index_count = ARRAY_LEN(indexes) };

    paid.filter = compiled("Paid and Size gt 5");
    some.filter = compiled("Paid or Size gt 5");
    return &table;
}

/* All sentences, one per line. */
static const char *advised(const char *text, const struct table *table)
{
    const struct filter *filter = NULL;
    struct key_plan plan;
    struct error err;
    struct str *sentences, out = STR_EMPTY;
    size_t count;

    ck_assert_int_eq(filter_compile(str_of(text), &arena, &filter, &err), STATUS_OK);
    filter_key_plan(filter, &arena, &plan);
    query_advice_make(filter, &plan, table, &arena, &sentences, &count);
    for (size_t i = 0; i < count; i++)
        out = arena_format(&arena, "%.*s%.*s\n", STR_ARG(out), STR_ARG(sentences[i]));
    return arena_copy(&arena, out).data;
}

/* What the advice contains, in this order, separated by '|'; "" for no advice. And what it does not contain. */
static const struct advice_case {
    const char *name, *filter, *said, *unsaid;
} advice_cases[] = {
    { "nothing helps a point", "PartitionKey eq 'p' and RowKey eq 'r' and City eq 'x'", "", NULL },
    { "nothing helps a range", "PartitionKey eq 'p' and RowKey ge 'r'", "", NULL },
    { "everything is a scan", "", "ScanEntities", "PartitionKey" },
    { "a contradiction", "PartitionKey eq 'p' and PartitionKey eq 'q'", "contradicts itself", "bind" },
    { "an index that is ready", "City eq 'x'", "LookupIndex in the index ByCity finds|bind the partition",
        "CreateIndex" },
    { "an index in the making", "Country eq 'x' and Zip eq 5",
        "once the index ByZip is ready|bind the partition", "CreateIndex" },
    { "an index without case", "Email eq 'x'",
        "the index Mail finds entities by these properties, without case", "CreateIndex" },
    { "half of an index", "Country eq 'x'", "partition key is the property Country|bind the partition",
        "ByZip" },
    { "the first that is bound", "Age gt 5 and Name eq 'x' and Zip eq 1", "the property Name",
        "property Age" },
    { "an index needs equality", "City gt 'x'", "bind the partition", "Index" },
    { "an index needs it in every case", "City eq 'x' or Age eq 1", "in every operand of the `or`", "Index" },
    { "an index of what the query asks for", "Size gt 5 and Name eq 'x' and Paid", "the index Paid finds",
        "Some" },
    { "an index of less than that", "Name eq 'x' and Paid and Size gt 4", "the property Name", "the index" },
    { "a literal binds nothing", "Age gt 5", "bind the partition", "Listed" },
    { "rows of all partitions", "RowKey ge 'a'", "bind the partition as well", NULL },
    { "a partition", "PartitionKey eq 'p' and Age gt 5", "bound RowKey within the partition",
        "bind the partition" },
    { "a partition and an index", "PartitionKey eq 'p' and City eq 'x'", "ByCity finds|bound RowKey", NULL },
    { "contains of a key", "PartitionKey eq 'p' and contains(RowKey,'x')",
        "bound RowKey|only startswith is a range", NULL },
    { "endswith of a key", "endswith(PartitionKey,'x')", "bind the partition|only startswith is a range",
        NULL },
    { "contains of a property", "contains(City,'x')", "bind the partition", "startswith is a range" },
    { "text for a number", "City eq 'x' and Age ge '40'",
        "Age ge '40': the literal is text; a number is|counts as less", "City eq 'x':" },
    { "text for a time", "Placed lt '2026-01-01'", "a time is written datetime'", NULL },
    { "text for a Boolean", "Paid eq 'true'", "a Boolean is written without quotes", NULL },
    { "a Double for an integer", "Total ge 100.0", "Total ge 100.0: the literal is a Double", NULL },
    { "a Double for a Double", "Total ge 100.5", "bind the partition", "literal" },
    { "a number for a key", "PartitionKey eq 5", "keys are text|contradicts itself", NULL },
    { "text for the time of a write", "Timestamp gt '2026-01-01'", "Timestamp is a DateTime", NULL },
    { "text that is text", "City gt '1st' and Zip gt '-' and Name gt '2026-1-1'", "bind the partition",
        "literal" },
    { "no more than four sentences", "A eq '1' or B eq '1' or C eq '1' or D eq '1' or E eq '1'",
        "D eq '1':", "E eq '1':" },
};

START_TEST(what_helps_is_said)
{
    const struct advice_case *c = &advice_cases[_i];
    const char *rest = advised(c->filter, a_table());

    if (c->unsaid)
        ck_assert_msg(!strstr(rest, c->unsaid), "%s: %s", c->name, rest);
    if (c->said[0] == '\0')
        ck_assert_msg(rest[0] == '\0', "%s: %s", c->name, rest);
    for (const char *said = c->said; *said;) {
        size_t len = strcspn(said, "|");
        const char *part = arena_copy(&arena, str_of_bytes(said, len)).data, *found = strstr(rest, part);

        ck_assert_msg(found, "%s: '%s' is not in '%s'", c->name, part, rest);
        rest = found + len;
        said += len + (said[len] == '|');
    }
}
END_TEST

START_TEST(a_table_without_indexes_could_have_one)
{
    static const struct table bare = { 0 };

    ck_assert_ptr_nonnull(strstr(advised("City eq 'x' and Zip eq 5", &bare), "the property City"));
}
END_TEST

Suite *test_query_advice_suite(void);

Suite *test_query_advice_suite(void)
{
    Suite *suite = suite_create("filter_advice");
    TCase *tc = tcase_create("filter_advice");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, what_helps_is_said, 0, ARRAY_LEN(advice_cases));
    tcase_add_test(tc, a_table_without_indexes_could_have_one);
    suite_add_tcase(suite, tc);
    return suite;
}
