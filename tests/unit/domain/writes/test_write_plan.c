/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_write_plan.c - what each kind of write does in each state, what a group leaves behind, and random batches
 * against a model without plans.
 */
#include "domain/writes/write_plan.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/builders.h"

enum { TABLE = 7, STORED_VERSION = 5, STORED_TS = 1000 };

static struct arena arena;
static const struct table table = { .table_id = TABLE, .name = { "Things", 6 } };

static void setup(void)
{
    arena_init(&arena);
}

static void teardown(void)
{
    arena_cleanup(&arena);
}

/* ---- one write on one state ---- */

enum state { ABSENT, DEAD, LIVE, STATES };
enum asked { NO_CONDITION, MUST_EXIST, SAME_ETAG, OTHER_ETAG, CONDITIONS };

/*
 * By state (absent, dead, live), then by condition: + applied, E exists, N not found, S stale, . nothing to do, ? not
 * called (insertions have no condition).
 */
static const struct kind_case {
    enum write_kind kind;
    const char *outcomes;
} kind_cases[] = {
    { WRITE_INSERT, "+???+???E???" },
    { WRITE_REPLACE, "NNNNNNNN+++S" },
    { WRITE_MERGE, "NNNNNNNN+++S" },
    { WRITE_INSERT_OR_REPLACE, "+NNN+NNN+++S" },
    { WRITE_INSERT_OR_MERGE, "+NNN+NNN+++S" },
    { WRITE_DELETE, "NNNNNNNN+++S" },
    { WRITE_DELETE_IF_EXISTS, ".NNN.NNN+++S" },
};

static struct row_state a_state(enum state state)
{
    if (state == ABSENT)
        return (struct row_state){ 0 };
    return (struct row_state){ .live = state == LIVE,
        .version = STORED_VERSION,
        .ts = STORED_TS,
        .properties = state == LIVE ? some_texts(&arena, "A", "old", "B", "old", NULL)
                                    : (struct property_list){ STR_EMPTY } };
}

static struct condition a_condition(enum asked asked)
{
    static const enum condition_kind kinds[] = { CONDITION_NONE, CONDITION_EXISTS, CONDITION_MATCHES,
        CONDITION_MATCHES };

    return (struct condition){ .kind = kinds[asked],
        .etag = { .table_id = TABLE, .version = asked == SAME_ETAG ? STORED_VERSION : STORED_VERSION - 1 } };
}

static const char *wanted_reason(char outcome)
{
    switch (outcome) {
    case 'E':
        return "ENTITY_ALREADY_EXISTS";
    case 'N':
        return "RESOURCE_NOT_FOUND";
    case 'S':
        return "UPDATE_CONDITION_NOT_SATISFIED";
    default:
        return "OK";
    }
}

static bool deletes(enum write_kind kind)
{
    return kind == WRITE_DELETE || kind == WRITE_DELETE_IF_EXISTS;
}

static void check_applied(enum write_kind kind, enum state state, const struct row_state *next,
    const struct write_result *result, struct write_clock clock)
{
    int64_t stored = state == ABSENT ? 0 : STORED_VERSION, ts = state == ABSENT ? 0 : STORED_TS;
    bool merges = kind == WRITE_MERGE || kind == WRITE_INSERT_OR_MERGE;

    ck_assert_int_eq(next->version, (stored > clock.floor ? stored : clock.floor) + 1);
    ck_assert_int_eq(next->ts, ts + 1 > clock.ticks ? ts + 1 : clock.ticks);
    ck_assert_int_eq(next->live, !deletes(kind));
    if (deletes(kind)) {
        ck_assert_int_eq(result->etag.version, 0);
        ck_assert_int_eq(result->timestamp, 0);
        ck_assert_uint_eq(next->properties.bytes.len, 0);
        return;
    }
    ck_assert(etag_equal(result->etag, (struct etag){ .table_id = TABLE, .version = next->version }));
    ck_assert_int_eq(result->timestamp, next->ts);
    ck_assert(str_equal(text_of(next->properties, "B"), STR_LITERAL("new")));
    ck_assert(str_equal(text_of(next->properties, "A"), str_of(merges && state == LIVE ? "old" : "")));
}

static void check_one(const struct kind_case *c, enum state state, enum asked asked, struct write_clock clock)
{
    char outcome = c->outcomes[state * CONDITIONS + asked];
    struct row_state current = a_state(state), next = { 0 };
    struct write write = a_write(c->kind, "p", "r",
        deletes(c->kind) ? (struct property_list){ STR_EMPTY } : some_texts(&arena, "B", "new", NULL));
    struct write_result result = { 0 };
    struct error err = { 0 };
    enum status status;

    if (outcome == '?')
        return;
    write.condition = a_condition(asked);
    status = write_plan_one(
        &current, &write, &(struct write_context){ TABLE, clock, &arena, false }, &next, &result, &err);
    ck_assert_msg(strcmp(status == STATUS_OK ? "OK" : err.reason, wanted_reason(outcome)) == 0,
        "kind %d state %d condition %d: %s", c->kind, state, asked, status == STATUS_OK ? "OK" : err.reason);
    if (outcome == '+')
        check_applied(c->kind, state, &next, &result, clock);
    if (outcome == '.')
        ck_assert(!next.live && next.version == current.version && next.ts == current.ts);
}

START_TEST(every_kind_on_every_state_under_every_condition)
{
    static const struct write_clock clocks[] = { { 0, 1, 0 }, { 0, 5000, 0 }, { 9, 1, 0 }, { 4, 1000, 0 } };

    for (size_t clock = 0; clock < ARRAY_LEN(clocks); clock++)
        for (enum state state = 0; state < STATES; state++)
            for (enum asked asked = 0; asked < CONDITIONS; asked++)
                check_one(&kind_cases[_i], state, asked, clocks[clock]);
}
END_TEST

START_TEST(a_failed_condition_names_the_etag_there_is)
{
    struct row_state current = a_state(LIVE), next;
    struct write write = a_write(WRITE_REPLACE, "p", "r", some_texts(&arena, NULL));
    struct write_result result;
    struct error err = { 0 };

    write.condition = a_condition(OTHER_ETAG);
    ck_assert_int_eq(write_plan_one(&current, &write,
                         &(struct write_context){ TABLE, (struct write_clock){ .ticks = 1 }, &arena, false },
                         &next, &result, &err),
        STATUS_STALE);

    ck_assert_str_eq(meta_of(&err, "actual"), "W/\"7.5.c20e6775\"");
}
END_TEST

/* ---- what a change feed tells ---- */

static const struct change_case {
    bool was_live, is_live;
    int64_t was, is; /* versions */
    enum feed_change_kind kind;
} change_cases[] = {
    { false, false, 0, 0, CHANGE_NONE }, { false, true, 0, 1, CHANGE_INSERTED },
    { false, true, 5, 6, CHANGE_INSERTED }, /* over a dead row */
    { true, true, 5, 6, CHANGE_UPDATED }, { true, true, 5, 5, CHANGE_NONE },
    { true, false, 5, 6, CHANGE_DELETED },
    { false, false, 0, 2, CHANGE_NONE }, /* inserted and deleted in one commit */
};

START_TEST(a_row_tells_what_became_of_it)
{
    const struct change_case *c = &change_cases[_i];
    const struct plan_row row = { .table = &table,
        .stored = { .live = c->was_live, .version = c->was },
        .now = { .live = c->is_live, .version = c->is } };

    ck_assert_int_eq(write_plan_change(&row), c->kind);
}
END_TEST

/* What is left out of a change: wide entities that are large, or were not read as a whole. */
START_TEST(a_change_leaves_out_what_is_large)
{
    static const char bytes[PARTS_MAX_WHOLE_BYTES + 1];
    struct table wide = { .is_wide = true }, narrow = { 0 };
    struct plan_row row = { .table = &wide,
        .now = { .live = true, .properties = { { bytes, sizeof(bytes) - 1 } } } };

    ck_assert(!write_plan_leaves_out(&row));
    row.now.properties.bytes.len++;
    ck_assert(write_plan_leaves_out(&row));
    row.table = &narrow;
    ck_assert(!write_plan_leaves_out(&row));
    row.table = &wide;
    row.now.properties.bytes.len = 1;
    row.now.rest = (struct property_rest){ .bytes = 1, .count = 1 };
    ck_assert(write_plan_leaves_out(&row));
    row.now.live = false;
    ck_assert(!write_plan_leaves_out(&row));
}
END_TEST

/* ---- rows for a key that may be absent ---- */

START_TEST(an_insertion_offers_the_row_itself)
{
    struct write write = a_write(WRITE_INSERT, "p", "r", some_texts(&arena, "A", "x", NULL));
    struct row_state offered = write_plan_offer(&write,
        &(struct write_context){ TABLE, (struct write_clock){ .floor = 41, .ticks = 77 }, &arena, false });

    ck_assert(offered.live);
    ck_assert_int_eq(offered.version, 42);
    ck_assert_int_eq(offered.ts, 77);
    ck_assert(str_equal(offered.properties.bytes, write.properties.bytes));
}
END_TEST

static const enum write_kind refused_kinds[] = { WRITE_REPLACE, WRITE_MERGE, WRITE_DELETE,
    WRITE_DELETE_IF_EXISTS };

START_TEST(what_needs_an_entity_offers_a_dead_row)
{
    struct write write = a_write(refused_kinds[_i], "p", "r", some_texts(&arena, NULL));
    struct row_state offered = write_plan_offer(&write,
        &(struct write_context){ TABLE, (struct write_clock){ .floor = 41, .ticks = 77 }, &arena, false });

    ck_assert(!offered.live);
    ck_assert_int_eq(offered.version, 42);
    ck_assert_uint_eq(offered.properties.bytes.len, 0);
}
END_TEST

/* ---- time to live ---- */

/* On an expired row: as on a dead one, but that the sweeper deletes it. */
static const struct due_case {
    enum write_kind kind;
    char outcome;
} due_cases[] = {
    { WRITE_INSERT, '+' },
    { WRITE_REPLACE, 'N' },
    { WRITE_MERGE, 'N' },
    { WRITE_INSERT_OR_REPLACE, '+' },
    { WRITE_INSERT_OR_MERGE, '+' },
    { WRITE_DELETE, 'N' },
    { WRITE_DELETE_IF_EXISTS, '.' },
    { WRITE_EXPIRE, '+' },
};

START_TEST(what_is_due_is_absent_but_for_its_version)
{
    const struct due_case *c = &due_cases[_i];
    struct row_state stored = a_state(LIVE);
    struct plan_row row = { .table = &table, .key = a_key("p", "r"), .stored = stored };
    struct write write = a_write(c->kind, "p", "r", some_texts(&arena, "B", "new", NULL));
    struct operation *operation;
    struct plan_row *rows[] = { &row };

    if (deletes(c->kind) || c->kind == WRITE_EXPIRE)
        write.properties.bytes = STR_EMPTY;
    row.now = write_plan_visible(&stored, true);
    operation = a_write_operation(&arena, "Things", write);
    write_plan_operation(operation, rows, (struct write_clock){ .ticks = 1 });

    ck_assert_reason(operation, wanted_reason(c->outcome));
    ck_assert_int_eq(write_plan_action(&row), c->outcome == '+' ? ROW_UPDATE : ROW_KEEP);
    if (c->outcome != '+')
        return;
    ck_assert_int_eq(row.now.version, STORED_VERSION + 1);
    ck_assert_int_eq(row.now.live, c->kind != WRITE_EXPIRE);
    ck_assert_uint_eq(text_of(row.now.properties, "A").len, 0);
}
END_TEST

/* Two writes on one key in one batch: the first leaves an entity that has expired. */
START_TEST(what_expired_before_it_was_written_is_gone_for_the_next_in_the_batch)
{
    static const enum write_kind kinds[] = { WRITE_REPLACE, WRITE_MERGE, WRITE_DELETE };
    const int64_t moment = 1000;

    for (int64_t expires = moment - 1; expires <= moment + 1; expires++) {
        struct row_state stored = a_state(LIVE);
        struct plan_row row = { .table = &table, .key = a_key("p", "r"), .stored = stored, .now = stored };
        struct plan_row *rows[] = { &row };
        struct write_clock clock = { .ticks = 1, .due = moment };
        bool is_gone = expires <= moment;
        struct write put = a_write(WRITE_INSERT_OR_REPLACE, "p", "r", some_texts(&arena, "A", "a", NULL));
        struct operation *operation;

        put.expires = expires;
        operation = a_write_operation(&arena, "Things", put);
        write_plan_operation(operation, rows, clock);
        ck_assert_reason(operation, "OK");
        for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
            const struct row_state before = row.now;

            operation = a_write_operation(
                &arena, "Things", a_write(kinds[i], "p", "r", (struct property_list){ STR_EMPTY }));
            write_plan_operation(operation, rows, clock);
            ck_assert_reason(operation, is_gone ? "RESOURCE_NOT_FOUND" : "OK");
            if (is_gone)
                ck_assert_int_eq(row.now.version, before.version);
            row.now = before;
        }
    }
}
END_TEST

START_TEST(the_sweeper_leaves_alone_what_is_not_due)
{
    struct write write = a_write(WRITE_EXPIRE, "p", "r", (struct property_list){ STR_EMPTY });

    for (enum state state = 0; state < STATES; state++) {
        struct row_state current = a_state(state), next;
        struct write_result result;
        struct error err;

        ck_assert_int_eq(
            write_plan_one(&current, &write,
                &(struct write_context){ TABLE, (struct write_clock){ .ticks = 1 }, &arena, false }, &next,
                &result, &err),
            STATUS_OK);
        ck_assert_int_eq(next.version, current.version);
        ck_assert_int_eq(next.live, current.live);
    }
}
END_TEST

static const struct lifetime_case {
    enum write_kind kind;
    int64_t stored, given, wanted;
} lifetime_cases[] = {
    { WRITE_REPLACE, 50, 0, 0 },
    { WRITE_REPLACE, 50, 60, 60 },
    { WRITE_MERGE, 50, 0, 50 },
    { WRITE_MERGE, 50, 60, 60 },
    { WRITE_MERGE, 0, 60, 60 },
    { WRITE_INSERT_OR_REPLACE, 50, 0, 0 },
    { WRITE_INSERT_OR_MERGE, 50, 0, 50 },
    { WRITE_DELETE, 50, 0, 0 },
};

START_TEST(a_replace_sets_the_time_and_a_merge_keeps_it)
{
    const struct lifetime_case *c = &lifetime_cases[_i];
    struct row_state current = a_state(LIVE), next;
    struct write write = a_write(c->kind, "p", "r", (struct property_list){ STR_EMPTY });
    struct write_result result;
    struct error err;

    current.expires = c->stored;
    write.expires = c->given;
    ck_assert_int_eq(write_plan_one(&current, &write,
                         &(struct write_context){ TABLE, (struct write_clock){ .ticks = 1 }, &arena, false },
                         &next, &result, &err),
        STATUS_OK);
    ck_assert_int_eq(next.expires, c->wanted);
}
END_TEST

/* ---- conditions by filter ---- */

static struct condition a_filter(const char *filter)
{
    struct condition condition = { .text = str_of(filter) };
    struct error err = { 0 };

    ck_assert_msg(
        filter_compile(condition.text, &arena, &condition.filter, &err) == STATUS_OK, "%s", err.message);
    return condition;
}

/* By state: as in kind_cases, with a condition that holds for what is stored, and with one that does not. */
static const struct filter_case {
    enum write_kind kind;
    const char *holds, *fails;
} filter_cases[] = {
    { WRITE_REPLACE, "NN+", "NNS" },
    { WRITE_MERGE, "NN+", "NNS" },
    { WRITE_DELETE, "NN+", "NNS" },
    { WRITE_INSERT_OR_REPLACE, "NN+", "NNS" },
    { WRITE_INSERT_OR_MERGE, "NN+", "NNS" },
    { WRITE_DELETE_IF_EXISTS, "NN+", "NNS" },
};

static void check_filtered(enum write_kind kind, const char *filter, enum state state, char outcome)
{
    struct row_state current = a_state(state), next = { 0 };
    struct write write = a_write(kind, "p", "r",
        deletes(kind) ? (struct property_list){ STR_EMPTY } : some_texts(&arena, "B", "new", NULL));
    struct write_clock clock = { .ticks = 1 };
    struct write_result result = { 0 };
    struct error err = { 0 };
    enum status status;

    write.condition = a_filter(filter);
    status = write_plan_one(
        &current, &write, &(struct write_context){ TABLE, clock, &arena, false }, &next, &result, &err);
    ck_assert_str_eq(status == STATUS_OK ? "OK" : err.reason, wanted_reason(outcome));
    if (outcome == '+')
        check_applied(kind, state, &next, &result, clock);
    if (outcome != 'S')
        return;
    ck_assert_str_eq(meta_of(&err, "clause"), "B eq 'other'");
    ck_assert_str_eq(meta_of(&err, "actual"), "W/\"7.5.c20e6775\"");
    ck_assert_str_eq(meta_of(&err, "row_key"), "r");
}

START_TEST(a_filter_is_asked_of_what_is_stored)
{
    const struct filter_case *c = &filter_cases[_i];

    for (enum state state = 0; state < STATES; state++) {
        check_filtered(c->kind, "A eq 'old' and PartitionKey eq 'p'", state, c->holds[state]);
        check_filtered(c->kind, "A eq 'old' and B eq 'other'", state, c->fails[state]);
    }
}
END_TEST

START_TEST(an_etag_and_a_filter_must_both_hold)
{
    struct row_state current = a_state(LIVE), next;
    struct write write = a_write(WRITE_REPLACE, "p", "r", some_texts(&arena, "B", "new", NULL));
    struct write_result result;
    struct error err = { 0 };

    write.condition = a_filter("A eq 'old'");
    write.condition.kind = CONDITION_MATCHES;
    write.condition.etag = (struct etag){ .table_id = TABLE, .version = STORED_VERSION - 1 };
    ck_assert_int_eq(write_plan_one(&current, &write,
                         &(struct write_context){ TABLE, (struct write_clock){ .ticks = 1 }, &arena, false },
                         &next, &result, &err),
        STATUS_STALE);
    ck_assert_str_eq(meta_of(&err, "clause"), "");
    write.condition.etag.version++;
    ck_assert_int_eq(write_plan_one(&current, &write,
                         &(struct write_context){ TABLE, (struct write_clock){ .ticks = 1 }, &arena, false },
                         &next, &result, &err),
        STATUS_OK);
    write.condition.text = STR_LITERAL("A eq 'new'");
    write.condition.filter = a_filter("A eq 'new'").filter;
    ck_assert_int_eq(write_plan_one(&current, &write,
                         &(struct write_context){ TABLE, (struct write_clock){ .ticks = 1 }, &arena, false },
                         &next, &result, &err),
        STATUS_STALE);
    ck_assert_str_eq(meta_of(&err, "clause"), "A eq 'new'");
}
END_TEST

/* ---- groups, and what the rows then need ---- */

static struct plan_row a_row(const char *row, enum state state)
{
    struct row_state stored = a_state(state);

    return (struct plan_row){
        .table = &table, .key = a_key("p", row), .stored = stored, .now = stored, .created = state == ABSENT
    };
}

static void offer(struct plan_row *row, const struct write *first)
{
    row->offered = write_plan_offer(
        first, &(struct write_context){ TABLE, (struct write_clock){ .ticks = 1 }, &arena, false });
}

static void plan(struct operation *operation, struct plan_row **rows)
{
    write_plan_operation(operation, rows, (struct write_clock){ .ticks = 1 });
}

START_TEST(a_group_is_taken_back_and_says_which_operation_failed)
{
    struct plan_row a = a_row("a", ABSENT), b = a_row("b", LIVE), c = a_row("c", LIVE);
    struct plan_row *rows[] = { &a, &b, &c };
    struct property_list new = some_texts(&arena, "A", "new", NULL);
    struct write writes[] = { a_write(WRITE_INSERT, "p", "a", new), a_write(WRITE_REPLACE, "p", "b", new),
        a_write(WRITE_INSERT, "p", "c", new) };
    struct operation *group = a_group(&arena, "Things", writes, 3);

    offer(&a, &writes[0]);
    plan(group, rows);

    ck_assert_reason(group, "ENTITY_ALREADY_EXISTS");
    ck_assert_msg(strncmp(group->error->message, "2:", 2) == 0, "%s", group->error->message);
    ck_assert_str_eq(meta_of(group->error, "operation_index"), "2");
    ck_assert_str_eq(meta_of(group->error, "table"), "Things");
    ck_assert_int_eq(write_plan_action(&a), ROW_REMOVE);
    ck_assert_int_eq(write_plan_action(&b), ROW_KEEP);
    ck_assert_int_eq(write_plan_action(&c), ROW_KEEP);
}
END_TEST

START_TEST(a_single_write_is_not_numbered)
{
    struct plan_row a = a_row("a", LIVE);
    struct plan_row *rows[] = { &a };
    struct operation *single = a_write_operation(
        &arena, "Things", a_write(WRITE_INSERT, "p", "a", some_texts(&arena, "A", "new", NULL)));

    plan(single, rows);

    ck_assert_reason(single, "ENTITY_ALREADY_EXISTS");
    ck_assert_str_eq(meta_of(single->error, "operation_index"), "");
    ck_assert_str_eq(meta_of(single->error, "table"), "Things");
    ck_assert_msg(single->error->message[0] != '0', "%s", single->error->message);
}
END_TEST

START_TEST(writes_that_are_no_group_fail_one_by_one)
{
    struct plan_row a = a_row("a", LIVE), b = a_row("b", LIVE);
    struct plan_row *rows[] = { &a, &b };
    struct property_list new = some_texts(&arena, "A", "new", NULL);
    struct write writes[] = { a_write(WRITE_INSERT, "p", "a", new), a_write(WRITE_REPLACE, "p", "b", new) };
    struct operation *import = a_group(&arena, "Things", writes, 2);

    import->in.write.atomic = false;
    plan(import, rows);

    ck_assert_reason(import, "OK");
    ck_assert_str_eq(import->out.write.errors[0]->reason, "ENTITY_ALREADY_EXISTS");
    ck_assert_ptr_null(import->out.write.errors[1]);
    ck_assert_int_eq(import->out.write.results[1].etag.version, STORED_VERSION + 1);
    ck_assert_int_eq(write_plan_action(&a), ROW_KEEP);
    ck_assert_int_eq(write_plan_action(&b), ROW_UPDATE);
}
END_TEST

START_TEST(an_offered_row_that_is_right_is_kept)
{
    struct plan_row a = a_row("a", ABSENT);
    struct plan_row *rows[] = { &a };
    struct write insert = a_write(WRITE_INSERT, "p", "a", some_texts(&arena, "A", "x", NULL));

    offer(&a, &insert);
    plan(a_write_operation(&arena, "Things", insert), rows);

    ck_assert_int_eq(write_plan_action(&a), ROW_KEEP);
}
END_TEST

START_TEST(the_next_operation_takes_over_a_row_offered_for_one_that_failed)
{
    struct plan_row a = a_row("a", ABSENT), b = a_row("b", LIVE);
    struct plan_row *group_rows[] = { &a, &b }, *single_rows[] = { &a };
    struct property_list one = some_texts(&arena, "A", "1", NULL), two = some_texts(&arena, "A", "2", NULL);
    struct write writes[] = { a_write(WRITE_INSERT, "p", "a", one), a_write(WRITE_INSERT, "p", "b", one) };

    offer(&a, &writes[0]);
    plan(a_group(&arena, "Things", writes, 2), group_rows);
    plan(a_write_operation(&arena, "Things", a_write(WRITE_INSERT, "p", "a", two)), single_rows);

    ck_assert_int_eq(write_plan_action(&a), ROW_UPDATE);
    ck_assert_int_eq(a.now.version, 1);
    ck_assert(str_equal(a.now.properties.bytes, two.bytes));
}
END_TEST

START_TEST(a_row_deleted_in_the_batch_that_made_it_stays_as_a_dead_one)
{
    struct plan_row a = a_row("a", ABSENT);
    struct plan_row *rows[] = { &a };
    struct write insert = a_write(WRITE_INSERT, "p", "a", some_texts(&arena, "A", "x", NULL));

    offer(&a, &insert);
    plan(a_write_operation(&arena, "Things", insert), rows);
    plan(
        a_write_operation(&arena, "Things", a_write(WRITE_DELETE, "p", "a", some_texts(&arena, NULL))), rows);

    ck_assert_int_eq(write_plan_action(&a), ROW_UPDATE);
    ck_assert(!a.now.live);
    ck_assert_int_eq(a.now.version, 2);
}
END_TEST

/* ---- the model: entities as two numbers each, 0 for none ---- */

enum { KEYS = 4, MAX_WRITES = 3, MAX_OPERATIONS = 5, BATCHES = 40 };

struct model_row {
    bool exists, live; /* exists: there is a row */
    int64_t version, ts;
    int a, b;
};

struct model_write {
    enum write_kind kind;
    int key, a, b;
    struct condition condition;
};

static struct property_list numbers(int a, int b)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };
    struct value value_a = { .type = PROPERTY_INT32, .integer = a }, value_b = value_a;

    value_b.integer = b;
    buf_init(&out, &arena);
    if (a)
        property_build(&builder, STR_LITERAL("A"), &value_a);
    if (b)
        property_build(&builder, STR_LITERAL("B"), &value_b);
    return (struct property_list){ buf_str(&out) };
}

/* The effect of the write and its outcome, by the rules of the data model. */
static const char *model_apply(
    struct model_row *row, const struct model_write *write, struct write_clock clock)
{
    bool merge = write->kind == WRITE_MERGE || write->kind == WRITE_INSERT_OR_MERGE;

    if (write->kind == WRITE_INSERT && row->live)
        return "ENTITY_ALREADY_EXISTS";
    if (!row->live && write->condition.kind != CONDITION_NONE)
        return "RESOURCE_NOT_FOUND";
    if (!row->live && write->kind == WRITE_DELETE_IF_EXISTS)
        return "OK";
    if (!row->live &&
        (write->kind == WRITE_REPLACE || write->kind == WRITE_MERGE || write->kind == WRITE_DELETE))
        return "RESOURCE_NOT_FOUND";
    if (row->live && write->condition.kind == CONDITION_MATCHES &&
        write->condition.etag.version != row->version)
        return "UPDATE_CONDITION_NOT_SATISFIED";
    if (deletes(write->kind) || !row->live || !merge)
        row->a = row->b = 0;
    row->live = !deletes(write->kind);
    if (row->live && write->a)
        row->a = write->a;
    if (row->live && write->b)
        row->b = write->b;
    row->version = (row->version > clock.floor ? row->version : clock.floor) + 1;
    row->ts = row->ts + 1 > clock.ticks ? row->ts + 1 : clock.ticks;
    row->exists = true;
    return "OK";
}

static int below(int n)
{
    return rand() % n;
}

static struct model_write random_write(const struct model_row *rows, int key)
{
    struct model_write write = { .kind = (enum write_kind)below(WRITE_DELETE_IF_EXISTS + 1), .key = key };
    bool conditional = write.kind == WRITE_REPLACE || write.kind == WRITE_MERGE || deletes(write.kind);

    if (!deletes(write.kind))
        write.a = below(3), write.b = below(3);
    if (conditional && below(3) == 0)
        write.condition =
            if_match((struct etag){ .table_id = TABLE, .version = rows[key].version + below(2) });
    return write;
}

/* One operation on both; a group is all or nothing. */
static void step(
    struct model_row *model, struct plan_row *planned, struct write_clock clock, const char *names)
{
    struct model_row before[KEYS];
    struct plan_row *rows[MAX_WRITES];
    struct write writes[MAX_WRITES];
    size_t count = 1 + (size_t)below(MAX_WRITES);
    const char *wanted = "OK";
    bool atomic = below(2);
    struct operation *operation;
    int first = below(KEYS);
    const char *each[MAX_WRITES];

    memcpy(before, model, sizeof(before));
    for (size_t i = 0; i < count; i++) {
        struct model_write write = random_write(model, (first + (int)i) % KEYS);
        struct property_list list =
            deletes(write.kind) ? (struct property_list){ STR_EMPTY } : numbers(write.a, write.b);

        writes[i] = (struct write){ .kind = write.kind,
            .key = planned[write.key].key,
            .properties = list,
            .condition = write.condition };
        rows[i] = &planned[write.key];
        if (planned[write.key].created && planned[write.key].offered.version == 0)
            planned[write.key].offered =
                write_plan_offer(&writes[i], &(struct write_context){ TABLE, clock, &arena, false });
        each[i] = strcmp(wanted, "OK") == 0 || !atomic ? model_apply(&model[write.key], &write, clock) : "OK";
        if (strcmp(each[i], "OK") != 0 && atomic && strcmp(wanted, "OK") == 0)
            wanted = each[i];
    }
    if (strcmp(wanted, "OK") != 0)
        memcpy(model, before, sizeof(before));

    operation = a_group(&arena, "Things", writes, count);
    operation->in.write.atomic = atomic;
    write_plan_operation(operation, rows, clock);

    ck_assert_msg(
        strcmp(reason_of(operation), wanted) == 0, "%s: %s, not %s", names, reason_of(operation), wanted);
    for (size_t i = 0; i < count && !atomic; i++) {
        const struct error *err = operation->out.write.errors[i];

        ck_assert_msg(strcmp(err ? err->reason : "OK", each[i]) == 0, "%s: write %zu", names, i);
    }
}

/* After the row's action the database holds what the model holds. */
static void compare(const struct plan_row *row, const struct model_row *model, const char *names)
{
    struct row_state kept = row->created ? row->offered : row->stored;
    enum row_action action = write_plan_action(row);
    struct row_state held = action == ROW_UPDATE ? row->now : kept;

    ck_assert_msg((action != ROW_REMOVE && held.version > 0) == model->exists, "%s: row or no row", names);
    if (!model->exists)
        return;
    ck_assert_msg(held.live == model->live && held.version == model->version && held.ts == model->ts,
        "%s: version %lld, not %lld", names, (long long)held.version, (long long)model->version);
    ck_assert_msg(!held.live || str_equal(held.properties.bytes, numbers(model->a, model->b).bytes),
        "%s: properties", names);
}

START_TEST(random_batches_do_what_the_model_does)
{
    struct model_row model[KEYS] = { 0 };
    struct write_clock clock = { .ticks = 100 };
    char names[64];

    srand((unsigned)_i + 1);
    for (int batch = 0; batch < BATCHES; batch++) {
        struct plan_row planned[KEYS];
        int operations = 1 + below(MAX_OPERATIONS);

        snprintf(names, sizeof(names), "seed %d, batch %d", _i + 1, batch);
        for (int k = 0; k < KEYS; k++) {
            struct row_state stored = {
                .live = model[k].live, .version = model[k].version, .ts = model[k].ts
            };

            if (stored.live)
                stored.properties = numbers(model[k].a, model[k].b);
            planned[k] = (struct plan_row){ .table = &table,
                .key = a_key("p", "r"),
                .stored = stored,
                .now = stored,
                .created = !model[k].exists };
        }
        for (int i = 0; i < operations; i++)
            step(model, planned, clock, names);
        for (int k = 0; k < KEYS; k++)
            if (!planned[k].created || planned[k].offered.version > 0)
                compare(&planned[k], &model[k], names);
        clock.ticks += below(3);
        if (below(8) == 0) { /* the sweeper: raise the floor past the dead rows, then remove them */
            for (int k = 0; k < KEYS; k++)
                if (!model[k].live && model[k].version > clock.floor)
                    clock.floor = model[k].version;
            for (int k = 0; k < KEYS; k++)
                if (!model[k].live)
                    model[k] = (struct model_row){ 0 };
        }
    }
}
END_TEST

/* ---- indexes that refuse ---- */

static struct key_part a_number = { .text = { "Age", 3 }, .width = 3 };
static struct index by_age = { .index_id = 70,
    .source_table_id = TABLE,
    .name = { "ByAge", 5 },
    .shape = INDEX_COPY,
    .place = PLACE_OTHER_PARTITION,
    .consistency = INDEX_EVENTUAL,
    .partition_key = { &a_number, 1 } };
static struct index *refusing[] = { &by_age };
static const struct table counted = {
    .table_id = TABLE, .name = { "Things", 6 }, .indexes = refusing, .index_count = 1
};

static const struct violation_case {
    enum violation_rule rule;
    enum write_kind kind;
    const char *property;
    const char *want;
} violation_cases[] = {
    { VIOLATION_REJECT, WRITE_INSERT_OR_REPLACE, "Age", "INDEX_KEY_VIOLATION" },
    { VIOLATION_REJECT, WRITE_INSERT_OR_MERGE, "Age", "INDEX_KEY_VIOLATION" },
    { VIOLATION_REJECT, WRITE_INSERT_OR_REPLACE, "Name", "OK" },
    { VIOLATION_REJECT, WRITE_DELETE, "Age", "OK" },
    { VIOLATION_SKIP, WRITE_INSERT_OR_REPLACE, "Age", "OK" },
};

START_TEST(an_entity_without_its_entry_is_refused_where_the_index_says_so)
{
    const struct violation_case *c = &violation_cases[_i];
    struct write write = a_write(c->kind, "p", "r", some_texts(&arena, c->property, "secret", NULL));
    struct operation *operation = a_write_operation(&arena, "Things", write);
    struct plan_row row = { .table = &counted,
        .key = write.key,
        .stored = {
            .live = true, .version = 3, .ts = 3, .properties = some_texts(&arena, "Note", "x", NULL) } };
    struct plan_row *rows[] = { &row };

    by_age.on_violation = c->rule;
    row.now = row.stored;
    write_plan_operation(operation, rows, (struct write_clock){ .ticks = 10 });

    ck_assert_str_eq(reason_of(operation), c->want);
    ck_assert_int_eq(row.now.version, strcmp(c->want, "OK") == 0 ? 4 : 3);
    if (!operation->error)
        return;
    ck_assert_str_eq(meta_of(operation->error, "index"), "ByAge");
    ck_assert_str_eq(meta_of(operation->error, "row_key"), "r");
    ck_assert_ptr_nonnull(strstr(operation->error->message, "Age is of type String"));
    ck_assert_ptr_null(strstr(operation->error->message, "secret"));
}
END_TEST

Suite *test_write_plan_suite(void)
{
    Suite *suite = suite_create("write_plan");
    TCase *tc = tcase_create("write_plan");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, every_kind_on_every_state_under_every_condition, 0, ARRAY_LEN(kind_cases));
    tcase_add_test(tc, a_failed_condition_names_the_etag_there_is);
    tcase_add_loop_test(tc, a_filter_is_asked_of_what_is_stored, 0, ARRAY_LEN(filter_cases));
    tcase_add_test(tc, an_etag_and_a_filter_must_both_hold);
    tcase_add_loop_test(tc, what_is_due_is_absent_but_for_its_version, 0, ARRAY_LEN(due_cases));
    tcase_add_test(tc, what_expired_before_it_was_written_is_gone_for_the_next_in_the_batch);
    tcase_add_test(tc, the_sweeper_leaves_alone_what_is_not_due);
    tcase_add_loop_test(tc, a_replace_sets_the_time_and_a_merge_keeps_it, 0, ARRAY_LEN(lifetime_cases));
    tcase_add_test(tc, a_change_leaves_out_what_is_large);
    tcase_add_test(tc, an_insertion_offers_the_row_itself);
    tcase_add_loop_test(tc, what_needs_an_entity_offers_a_dead_row, 0, ARRAY_LEN(refused_kinds));
    tcase_add_test(tc, a_group_is_taken_back_and_says_which_operation_failed);
    tcase_add_test(tc, a_single_write_is_not_numbered);
    tcase_add_test(tc, writes_that_are_no_group_fail_one_by_one);
    tcase_add_test(tc, an_offered_row_that_is_right_is_kept);
    tcase_add_test(tc, the_next_operation_takes_over_a_row_offered_for_one_that_failed);
    tcase_add_test(tc, a_row_deleted_in_the_batch_that_made_it_stays_as_a_dead_one);
    tcase_add_loop_test(tc, random_batches_do_what_the_model_does, 0, 50);
    tcase_add_loop_test(tc, a_row_tells_what_became_of_it, 0, ARRAY_LEN(change_cases));
    tcase_add_loop_test(
        tc, an_entity_without_its_entry_is_refused_where_the_index_says_so, 0, ARRAY_LEN(violation_cases));
    suite_add_tcase(suite, tc);
    return suite;
}
