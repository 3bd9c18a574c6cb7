/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_short_batch.c - look-ups and pages answered by a shared flight, beside the same ones answered each by itself:
 * drawn at random, over entries of every kind, in both directions, page by page.
 */
#include "store/short_reads/short_batch.h"

#include <check.h>

#include "base/clock.h"
#include "domain/limits.h"
#include "domain/operations/operation_times.h"
#include "store/indexes/lookup_read.h"
#include "store/queries/page_read.h"
#include "store/short_reads/short_ranges.h"
#include "tests/support/builders.h"

enum {
    WAIT_US = 10000000,
    SEEDS = 3,
    ENTITIES = 240,
    BATCH = 40,
    BATCHES = 12,
    LARGE_BYTES = 50000,
    CITIES = 6,
    INDEXES = 4
};

static struct scene scene;
static struct session session;
static unsigned seed;

static struct key_part by_city = { .text = { "City", 4 } }, by_number = { .text = { "Number", 6 } },
                       by_name = { .text = { "Name", 4 } }, here = { .text = { "PartitionKey", 12 } };
static struct key_part city_and_number[] = { { .text = { "City", 4 } }, { .text = { "Number", 6 } } };
static struct index indexes[INDEXES];

/* ---- chance ---- */

static int draw(int below)
{
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 8) % (unsigned)below);
}

static bool one_in(int count)
{
    return draw(count) == 0;
}

/* ---- what there is ---- */

static struct value a_number(void)
{
    static const enum property_type types[] = { PROPERTY_INT32, PROPERTY_INT64, PROPERTY_DOUBLE };
    struct value value = { .type = types[draw(ARRAY_LEN(types))] };
    int number = draw(4);

    value.integer = number;
    if (value.type == PROPERTY_DOUBLE)
        value.number = number > 0 ? number : one_in(2) ? 0.0 : -0.0;
    return value;
}

/* Most live in the first city, which has more entries than a short read may have. */
static struct str a_city(void)
{
    return arena_format(&scene.arena, "c%d", one_in(2) ? 0 : draw(CITIES));
}

static struct property_list some_properties(void)
{
    struct value city = { .type = PROPERTY_STRING, .bytes = a_city() }, number = a_number();
    struct value name = { .type = PROPERTY_STRING, .bytes = arena_format(&scene.arena, "n%03d", draw(1000)) };
    struct value note = { .type = PROPERTY_BINARY };
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    note.bytes = str_of_bytes(arena_calloc(&scene.arena, LARGE_BYTES, 1), one_in(20) ? LARGE_BYTES : 10);
    if (one_in(10)) /* a value of another type: a range of strings has to pass it over */
        name = number;
    buf_init(&out, &scene.arena);
    property_build(&builder, STR_LITERAL("City"), &city);
    property_build(&builder, STR_LITERAL("Name"), &name);
    property_build(&builder, STR_LITERAL("Note"), &note);
    property_build(&builder, STR_LITERAL("Number"), &number);
    return (struct property_list){ buf_str(&out) };
}

static struct index an_index(int64_t id, const char *name, struct key_part *part, struct key_part *row)
{
    return (struct index){ .index_id = id,
        .name = str_of(name),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .state = INDEX_READY,
        .partition_key = { part, 1 },
        .row_key = { row, 1 },
        .projection = PROJECT_ALL };
}

static const char *partition_of(int i)
{
    return arena_format(&scene.arena, "p%d", i % 3).data;
}

static const char *row_of(int i)
{
    return arena_format(&scene.arena, "r%03d", i).data;
}

static void put_indexes(void)
{
    indexes[0] = an_index(900, "ByCityName", &by_city, &by_name);
    indexes[1] = an_index(901, "ByNumberCity", &by_number, &by_city);
    indexes[0].keeps_versions = true;
    indexes[2] = an_index(902, "ListByCity", &by_city, &by_number);
    indexes[2].shape = INDEX_LIST;
    indexes[2].projection = PROJECT_KEYS_ONLY;
    indexes[3] = an_index(903, "Here", &here, NULL);
    indexes[3].row_key = (struct key_parts){ city_and_number, ARRAY_LEN(city_and_number) };
    indexes[3].place = PLACE_SAME_PARTITION;
    indexes[3].consistency = INDEX_STRONG;
    indexes[3].keeps_versions = true;
    for (int i = 0; i < INDEXES; i++)
        scene_index(&scene, &indexes[i]);
}

static void setup(void)
{
    struct error err;

    scene_open(&scene);
    session_init(&session, scene.conninfo, "test");
    ck_assert_int_eq(session_ensure(&session, &err), STATUS_OK);
}

/* Some entries are of a state that is gone, and some of an entity that is; some rows are dead, or due. */
static void fill(unsigned first)
{
    seed = first;
    for (int i = 0; i < ENTITIES; i++)
        scene_write(&scene, a_write(WRITE_INSERT, partition_of(i), row_of(i), some_properties()));
    put_indexes();
    for (int i = 0; i < ENTITIES; i++)
        for (int k = 0; k < INDEXES; k++)
            scene_entry(&scene, &indexes[k], scene_read(&scene, partition_of(i), row_of(i)));
    for (int i = 0; i < ENTITIES / 8; i++) {
        int which = draw(ENTITIES);

        scene_write(&scene, one_in(2) ? a_write(WRITE_DELETE_IF_EXISTS, partition_of(which), row_of(which),
                                            (struct property_list){ STR_EMPTY })
                                      : a_write(WRITE_INSERT_OR_REPLACE, partition_of(which), row_of(which),
                                            some_properties()));
    }
    test_sql(
        scene.sql, "update entities set expires = 1 where hashtext(row_key) %% 17 = 0 and table_id < 900");
    test_sql(scene.sql, "update entities set dead = true, properties = ''"
                        " where hashtext(row_key) %% 13 = 0 and table_id >= 900");
    if (first % 2 == 0) /* otherwise there is open work, so that sources are read */
        test_sql(scene.sql, "delete from intents");
}

static void teardown(void)
{
    session_cleanup(&session);
    scene_close(&scene);
}

/* ---- requests ---- */

static int32_t a_limit(void)
{
    static const int32_t limits[] = { 1, 2, 5, 20, 31, 32, 33, 1000 };

    return limits[draw(ARRAY_LEN(limits))];
}

static void bind_range(struct operation_lookup *in)
{
    in->range.has_at_least = true;
    in->range.has_below = one_in(2);
    in->range.at_least = (struct value){ .type = PROPERTY_STRING, .bytes = STR_LITERAL("n2") };
    in->range.below = (struct value){ .type = PROPERTY_STRING, .bytes = STR_LITERAL("n4") };
}

static struct operation *a_lookup(void)
{
    int which = draw(INDEXES);
    struct operation *lookup = an_operation(&scene.arena, OPERATION_LOOKUP, indexes[which].name.data);
    struct operation_lookup *in = &lookup->in.lookup;
    struct value *equals = ARENA_ARRAY(&scene.arena, struct value, 3);
    struct value city = { .type = PROPERTY_STRING, .bytes = a_city() };

    *in = (struct operation_lookup){ .equals = equals,
        .equal_count = (size_t)(1 + draw(2)),
        .trust_index = one_in(3),
        .read_sources = one_in(4),
        .keys_only = one_in(4),
        .descending = one_in(3),
        .limit = a_limit() };
    in->freshness.latest = one_in(4);
    equals[0] = equals[1] = city;
    if (which == 0 && one_in(2)) {
        in->equal_count = 1;
        bind_range(in);
    }
    if (which == 1)
        equals[0] = a_number();
    if (which == 2)
        equals[1] = a_number();
    if (which == 3)
        equals[0].bytes = str_of(partition_of(draw(3)));
    if (one_in(20))
        equals[0] = (struct value){ .type = PROPERTY_BOOLEAN }; /* where no such entry can be: refused */
    return lookup;
}

static struct operation *a_page_of_rows(void)
{
    struct operation *page = a_page(&scene.arena, one_in(10) ? "ListByCity" : "Things", a_limit());
    int first = draw(ENTITIES), last = first + draw(60);

    set_filter(page, arena_format(&scene.arena, "PartitionKey eq '%s'%s", partition_of(draw(3)),
                         one_in(4)   ? ""
                         : one_in(4) ? arena_format(&scene.arena, " and RowKey eq '%s'", row_of(first)).data
                                     : arena_format(&scene.arena, " and RowKey ge '%s' and RowKey lt '%s'",
                                           row_of(first), row_of(last))
                                           .data)
                         .data);
    page->in.page.descending = one_in(3);
    if (one_in(4)) {
        struct key_range *within = ARENA_NEW(&scene.arena, struct key_range);

        within->has_low = within->has_high = within->high_has_row = true;
        within->low = a_key("p0", row_of(draw(ENTITIES)));
        within->high = a_key("p1", row_of(draw(ENTITIES)));
        page->within = within;
    }
    return page;
}

static struct operation *like(const struct operation *operation)
{
    struct operation *copy = ARENA_NEW(&scene.arena, struct operation);

    *copy = *operation;
    copy->times = NULL;
    copy->next = NULL;
    return copy;
}

/* ---- answers ---- */

static void run_alone(struct operation *operation)
{
    if (operation->kind == OPERATION_LOOKUP)
        lookup_read_run(&session, operation);
    else
        page_read_run(&session, operation);
    arena_cleanup(&session.arena);
}

static void same_entities(const struct entity *a, const struct entity *b, size_t count, bool keys_only)
{
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(entity_key_compare(&a[i].key, &b[i].key), 0);
        ck_assert(etag_equal(a[i].etag, b[i].etag));
        ck_assert_int_eq(a[i].timestamp, b[i].timestamp);
        ck_assert_int_eq(a[i].expires, b[i].expires);
        if (!keys_only)
            ck_assert(str_equal(a[i].properties.bytes, b[i].properties.bytes));
    }
}

static void same_stats(const struct query_stats *a, const struct query_stats *b)
{
    ck_assert_int_eq(a->access_path, b->access_path);
    ck_assert_int_eq(a->rows_examined, b->rows_examined);
    ck_assert_int_eq(a->bytes_examined, b->bytes_examined);
    ck_assert_int_eq(a->rows_returned, b->rows_returned);
    ck_assert_int_eq(a->bytes_returned, b->bytes_returned);
}

/* The next page of one that has been answered; NULL: there is none. */
static struct operation *next_page(const struct operation *answered)
{
    struct operation *next;

    if (answered->status != STATUS_OK ||
        !(answered->kind == OPERATION_LOOKUP ? answered->out.lookup.more : answered->out.page.more))
        return NULL;
    next = like(answered);
    if (next->kind == OPERATION_LOOKUP) {
        next->in.lookup.has_after = true;
        next->in.lookup.after = answered->out.lookup.position;
    } else {
        next->in.page.has_after = true;
        next->in.page.after = answered->out.page.position;
    }
    return next;
}

/* A page that ends with the last row that was read cannot tell whether there is more: then the next one is empty. */
static void same_end(const struct operation *batched, const struct operation *alone)
{
    struct operation *one = next_page(batched), *other = next_page(alone), *next = one ? one : other;

    if ((one != NULL) == (other != NULL))
        return;
    run_alone(next);
    ck_assert_reason(next, "OK");
    ck_assert(next_page(next) == NULL);
    ck_assert_uint_eq(next->kind == OPERATION_LOOKUP ? next->out.lookup.count : next->out.page.count, 0);
}

static void same_lookup(const struct operation *a, const struct operation *b)
{
    const struct outcome_lookup *x = &a->out.lookup, *y = &b->out.lookup;

    ck_assert_uint_eq(x->count, y->count);
    same_entities(x->entities, y->entities, x->count, a->in.lookup.keys_only);
    for (size_t i = 0; i < x->count; i++)
        ck_assert_int_eq(entity_key_compare(&x->entries[i], &y->entries[i]), 0);
    same_end(a, b);
    if (x->more)
        ck_assert_int_eq(entity_key_compare(&x->position, &y->position), 0);
    ck_assert_int_eq(x->table_id, y->table_id);
    same_stats(&x->stats, &y->stats);
}

static void same_page(const struct operation *a, const struct operation *b)
{
    const struct outcome_page *x = &a->out.page, *y = &b->out.page;

    ck_assert_uint_eq(x->count, y->count);
    same_entities(x->entities, y->entities, x->count, false);
    same_end(a, b);
    ck_assert_int_eq(x->has_position, y->has_position);
    if (x->has_position)
        ck_assert_int_eq(entity_key_compare(&x->position, &y->position), 0);
    ck_assert_int_eq(x->table_id, y->table_id);
    same_stats(&x->stats, &y->stats);
}

/* false: the batch has left it to the way alone. */
static bool is_as_alone(struct operation *batched, struct operation *alone)
{
    run_alone(alone);
    if (operation_times_detour(batched) != DETOUR_NONE) {
        ck_assert_int_eq(operation_times_detour(batched), DETOUR_ALONE);
        return false;
    }
    ck_assert_reason(batched, "OK");
    ck_assert_reason(alone, "OK");
    if (batched->kind == OPERATION_LOOKUP)
        same_lookup(batched, alone);
    else
        same_page(batched, alone);
    return true;
}

/* In steps, as a thread that submits has it run, or not. */
static void run_together(struct operation *batch, bool in_steps)
{
    struct operation *left = batch, *decided;
    void *begun = in_steps ? short_batch_begin(&session, batch) : NULL;

    while (begun && pg_wait(&session.pg, WAIT_US, -1) && short_batch_finish(&session, begun, &left, &decided))
        continue;
    if (left)
        short_batch_run(&session, left, NULL);
    ck_assert_int_eq(PQtransactionStatus(session.pg.conn), PQTRANS_IDLE); /* no snapshot is left open */
    arena_cleanup(&session.arena);
}

/*
 * Answer all of `asked` by one batch and each alone; the next pages take their places. How many the batch has answered.
 */
static int compare_batch(struct operation **asked, int count)
{
    struct operation *batch = NULL, *batched[BATCH];
    int answered = 0;

    for (int i = 0; i < count; i++) {
        batched[i] = NULL;
        if (!asked[i] || !short_batch_may_have(asked[i]))
            continue;
        batched[i] = like(asked[i]);
        batched[i]->next = batch;
        batch = batched[i];
    }
    if (batch)
        run_together(batch, one_in(2));
    for (int i = 0; i < count; i++) {
        if (asked[i] && batched[i])
            answered += is_as_alone(batched[i], asked[i]);
        else if (asked[i])
            run_alone(asked[i]);
        asked[i] = asked[i] ? next_page(asked[i]) : NULL;
    }
    return answered;
}

START_TEST(a_batch_answers_as_each_alone)
{
    int answered = 0;

    fill((unsigned)_i + 1);
    for (int n = 0; n < BATCHES; n++) {
        struct operation *asked[BATCH];

        for (int i = 0; i < BATCH; i++)
            asked[i] = one_in(3) ? a_page_of_rows() : a_lookup();
        for (int page = 0; page < 4; page++)
            answered += compare_batch(asked, BATCH);
    }
    ck_assert_int_gt(answered, BATCH * BATCHES / 2);
}
END_TEST

/* ---- operations that cannot share a batch ---- */

static struct operation *look_up_city_in(struct arena *arena, const char *city)
{
    struct operation *lookup = an_operation(arena, OPERATION_LOOKUP, "ByCityName");
    struct value *equals = ARENA_NEW(arena, struct value);

    *equals = (struct value){ .type = PROPERTY_STRING, .bytes = str_of(city) };
    lookup->in.lookup =
        (struct operation_lookup){ .equals = equals, .equal_count = 1, .limit = LIMIT_PAGE_ROWS };
    return lookup;
}

static struct operation *look_up_city(const char *city)
{
    return look_up_city_in(&scene.arena, city);
}

static void put_person(const char *row, const char *city)
{
    scene_write(&scene, a_write(WRITE_INSERT_OR_REPLACE, "p0", row,
                            some_texts(&scene.arena, "City", city, "Name", row, NULL)));
}

static void put_index_of_people(int64_t id, int people)
{
    indexes[0] = an_index(id, "ByCityName", &by_city, &by_name);
    scene_index(&scene, &indexes[0]);
    for (int i = 0; i < people; i++)
        scene_entry(&scene, &indexes[0], scene_read(&scene, "p0", row_of(i)));
}

/* Store `count` people in Bonn, and r000 in Cork. */
static void put_people(int count)
{
    put_person(row_of(0), "Cork");
    for (int i = 1; i <= count; i++)
        put_person(row_of(i), "Bonn");
    put_index_of_people(900, count + 1);
    test_sql(scene.sql, "delete from intents");
}

static void run_batch(struct operation *first, struct operation *second)
{
    first->next = second;
    short_batch_run(&session, first, NULL);
    arena_cleanup(&session.arena);
}

static void found(const struct operation *lookup, size_t count)
{
    ck_assert_int_eq(operation_times_detour(lookup), DETOUR_NONE);
    ck_assert_reason(lookup, "OK");
    ck_assert_uint_eq(lookup->out.lookup.count, count);
}

START_TEST(what_is_large_leaves_the_others_alone)
{
    struct operation *small = look_up_city("Cork"), *large = look_up_city("Bonn");

    put_people(SHORT_RANGES_MAX_ROWS + _i);
    run_batch(large, small);
    found(small, 1);
    if (_i > 0)
        ck_assert_int_eq(operation_times_detour(large), DETOUR_ALONE);
    else
        found(large, SHORT_RANGES_MAX_ROWS);
}
END_TEST

/* A text of so many characters, of one, two or four bytes each, and with what keys of entries have to escape. */
static const char *long_key(size_t characters)
{
    static const char *const kinds[] = { "k", "\u00e4", "\U0001f600", "~", "  x", "!" };
    struct buf out;

    buf_init(&out, &scene.arena);
    for (size_t i = 0; i < characters; i++)
        buf_format(&out, "%s", i % 7 == 0 ? kinds[(characters + i) % ARRAY_LEN(kinds)] : "k");
    return arena_format(&scene.arena, "%.*s", STR_ARG(buf_str(&out))).data;
}

/* The statement finds the sources of entries whose keys are short; of the others it does not tell. */
START_TEST(sources_with_long_keys_are_read_alone)
{
    enum { LONGEST = 140, SHORT = 30, LONG = 128 };
    struct operation *batched[LONGEST], *alone;
    int together = 0;

    put_people(0);
    for (int n = 1; n < LONGEST; n++) {
        const char *key = long_key((size_t)n), *partition = _i == 0 ? "p0" : key, *row = _i == 0 ? key : "r";

        scene_write(&scene, a_write(WRITE_INSERT, partition, row,
                                some_texts(&scene.arena, "City", arena_format(&scene.arena, "c%d", n).data,
                                    "Name", "n", NULL)));
        scene_entry(&scene, &indexes[0], scene_read(&scene, partition, row));
        batched[n] = look_up_city(arena_format(&scene.arena, "c%d", n).data);
    }
    for (int n = 1; n < LONGEST; n++) {
        alone = like(batched[n]);
        run_batch(batched[n], look_up_city("Cork"));
        together += is_as_alone(batched[n], alone);
        ck_assert_uint_eq(alone->out.lookup.count, 1);
        ck_assert(n > SHORT || operation_times_detour(batched[n]) == DETOUR_NONE);
        ck_assert(n < LONG || operation_times_detour(batched[n]) == DETOUR_ALONE);
    }
    ck_assert_int_gt(together, SHORT);
}
END_TEST

/* The cost that an account is charged for a read grows with its rows, up to a bound. */
START_TEST(what_reads_more_costs_more)
{
    struct operation *few = look_up_city("Cork"), *many = look_up_city("Bonn"),
                     *trusted = look_up_city("Bonn");

    put_people(SHORT_RANGES_MAX_ROWS);
    trusted->in.lookup.trust_index = true;
    many->next = trusted;
    run_batch(few, many);
    found(many, SHORT_RANGES_MAX_ROWS);
    ck_assert_int_eq(short_batch_cost(few), 0);
    ck_assert_int_ge(short_batch_cost(trusted), 2);
    ck_assert_int_gt(short_batch_cost(many), short_batch_cost(trusted));
    many->out.lookup.stats.bytes_examined = INT64_MAX;
    ck_assert_int_eq(short_batch_cost(many), SHORT_BATCH_MAX_COST);
    operation_times_set_detour(many, DETOUR_ALONE);
    ck_assert_int_eq(short_batch_cost(many), 0);
}
END_TEST

START_TEST(what_is_refused_is_refused_alone)
{
    struct operation *good = look_up_city("Cork"), *bad = look_up_city("Cork");

    put_people(1);
    if (_i == 0)
        bad->in.lookup.equals[0] = (struct value){ .type = PROPERTY_NULL };
    else
        bad->table = STR_LITERAL("Nowhere");
    run_batch(bad, good);
    found(good, 1);
    ck_assert_int_eq(operation_times_detour(bad), DETOUR_ALONE);
    run(scene.store, bad);
    ck_assert_reason(bad, _i == 0 ? "INVALID_INPUT" : "INDEX_NOT_FOUND");
}
END_TEST

/* The session still knows the index that is gone, or none. */
START_TEST(an_index_that_is_made_anew_is_found_with_its_own_entries)
{
    struct operation *lookup = look_up_city("Bonn");

    put_people(2);
    if (_i == 0)
        ck_assert_int_eq(session_reload(&session, &(struct error){ 0 }), STATUS_OK);
    scene_change(
        &scene, "update indexes set state = 4; update tables set live = false where index_id is not null");
    put_index_of_people(910, 2);
    run_batch(lookup, look_up_city("Cork"));
    found(lookup, 1);
    ck_assert_int_eq(lookup->out.lookup.table_id, 910);
}
END_TEST

/* Guard G21: whether anything is open is of the entries' snapshot. */
START_TEST(the_latest_of_what_is_behind_is_read_alone)
{
    struct operation *latest = look_up_city("Cork"), *any = look_up_city("Cork");

    latest->in.lookup.freshness.latest = true;
    put_people(1);
    run_batch(latest, any);
    found(latest, 1);
    found(any, 1);
    put_person("r009", "Cork");
    run_batch(latest, any);
    ck_assert_int_eq(operation_times_detour(latest), DETOUR_ALONE);
    found(any, 1);
}
END_TEST

static struct operation *look_up_both(struct operation *cork, struct operation *bonn, bool in_steps)
{
    cork->next = bonn;
    bonn->next = NULL;
    run_together(cork, in_steps);
    found(bonn, 1);
    ck_assert_int_eq(operation_times_detour(cork), DETOUR_NONE);
    ck_assert_reason(cork, "OK");
    return cork;
}

/*
 * Guard G58: an entry that was read alone does not count while something of its table is open. The session asks again
 * at once, asks for entities as long as that lasts, and then for entries alone.
 */
START_TEST(what_has_become_open_is_asked_again)
{
    struct operation *cork = look_up_city("Cork"), *bonn = look_up_city("Bonn");
    bool in_steps = _i == 1;

    put_people(1);
    test_sql(scene.sql, "delete from indexes; delete from tables where index_id is not null");
    indexes[0].keeps_versions = true;
    scene_index(&scene, &indexes[0]);
    ck_assert_int_eq(session_reload(&session, &(struct error){ 0 }), STATUS_OK);
    ck_assert_uint_eq(look_up_both(cork, bonn, in_steps)->out.lookup.count, 1);

    put_person(row_of(0), "Oslo");
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(look_up_both(cork, bonn, in_steps)->out.lookup.count, 0);

    test_sql(
        scene.sql, "delete from intents"); /* without its work: the entry is wrong, and shows what is read */
    ck_assert_uint_eq(look_up_both(cork, bonn, in_steps)->out.lookup.count, 0);
    ck_assert_uint_eq(look_up_both(cork, bonn, in_steps)->out.lookup.count, 1);
}
END_TEST

/* The batch checks the required freshness; an operation that has to wait is answered so, and waits once. */
START_TEST(a_waiting_lookup_does_not_delay_the_batch)
{
    struct operation *waiting = look_up_city("Cork"), *any = look_up_city("Cork");

    put_people(1);
    waiting->in.lookup.freshness.has_max_staleness = true;
    waiting->in.lookup.freshness.max_staleness_us = 1000000;
    test_sql(scene.sql, "update watermarks set as_of = 1");
    run_batch(waiting, any);
    ck_assert_int_eq(operation_times_detour(waiting), DETOUR_WAIT);
    found(any, 1);
    operation_times_set_fresh(waiting, clock_monotonic_us());
    run_batch(waiting, any);
    ck_assert_int_eq(operation_times_detour(waiting), DETOUR_ALONE);
}
END_TEST

/* Through the store, where other threads answer what is passed on: an arena is of one thread, so each has its own. */
START_TEST(all_are_answered_once)
{
    struct operation *lookups[BATCH * 2];
    struct arena arenas[BATCH * 2] = { 0 };

    put_people(SHORT_RANGES_MAX_ROWS + 5);
    for (int i = 0; i < BATCH * 2; i++) {
        lookups[i] = look_up_city_in(&arenas[i], i % 4 == 0 ? "Bonn" : i % 4 == 1 ? "Oslo" : "Cork");
        if (i % 8 == 3)
            lookups[i]->in.lookup.equals[0].type = PROPERTY_NULL;
        submit(scene.store, lookups[i]);
    }
    for (int i = 0; i < BATCH * 2; i++) {
        await(lookups[i]);
        if (i % 8 == 3) {
            ck_assert_reason(lookups[i], "INVALID_INPUT");
            continue;
        }
        ck_assert_reason(lookups[i], "OK");
        ck_assert_uint_eq(lookups[i]->out.lookup.count, i % 4 == 0   ? SHORT_RANGES_MAX_ROWS + 5
                                                        : i % 4 == 1 ? 0
                                                                     : 1);
    }
    for (int i = 0; i < BATCH * 2; i++)
        arena_cleanup(&arenas[i]);
}
END_TEST

Suite *test_short_batch_suite(void)
{
    Suite *suite = suite_create("short");
    TCase *tc = tcase_create("short");

    test_postgres_start();
    tcase_set_timeout(tc, 120);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_batch_answers_as_each_alone, 0, SEEDS);
    tcase_add_loop_test(tc, what_is_large_leaves_the_others_alone, 0, 2);
    tcase_add_loop_test(tc, sources_with_long_keys_are_read_alone, 0, 2);
    tcase_add_test(tc, what_reads_more_costs_more);
    tcase_add_loop_test(tc, what_is_refused_is_refused_alone, 0, 2);
    tcase_add_loop_test(tc, an_index_that_is_made_anew_is_found_with_its_own_entries, 0, 2);
    tcase_add_test(tc, the_latest_of_what_is_behind_is_read_alone);
    tcase_add_loop_test(tc, what_has_become_open_is_asked_again, 0, 2);
    tcase_add_test(tc, a_waiting_lookup_does_not_delay_the_batch);
    tcase_add_test(tc, all_are_answered_once);
    suite_add_tcase(suite, tc);
    return suite;
}
