/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_snapshot.c - one commit changes a group of entities while a reader needs several statements: the reader sees
 * all of the change or nothing of it (guard G21).
 *
 * Half of the group is visible: first the first half, then the other one, and so on with each change.
 */
#include <check.h>
#include <pthread.h>
#include <stdlib.h>

#include "domain/limits.h"
#include "domain/operations/operation_times.h"
#include "store/entities/read_batch.h"
#include "store/indexes/lookup_read.h"
#include "store/queries/page_read.h"
#include "store/session/session.h"
#include "store/short_reads/short_batch.h"
#include "tests/support/builders.h"

enum { STOPS = 6, SMALL = 100, MANY = 1200, LARGE_BYTES = 50 * 1000, INDEX_ID = 900 };

static const char stop_row[] = "r0005x"; /* in Bonn, and never changed */

static struct scene scene;
static PGconn *writer;
static struct key_part by_city = { .text = { "City", 4 } }, by_name = { .text = { "Name", 4 } };
static struct index city_index;
static enum index_consistency city_consistency;

static void setup(void)
{
    scene_open(&scene);
    writer = test_connect(scene.conninfo);
    city_consistency = INDEX_EVENTUAL;
}

static void teardown(void)
{
    PQfinish(writer);
    scene_close(&scene);
}

/* ---- the group ---- */

/* Properties of a visible entity, and of a hidden one. */
static struct property_list in_city(const char *city, int bytes)
{
    struct buf note;

    buf_init(&note, &scene.arena);
    for (int i = 0; i < bytes; i++)
        buf_append_byte(&note, '.');
    return some_texts(&scene.arena, "City", city, "Name", "n", "Note",
        arena_format(&scene.arena, "%.*s", STR_ARG(buf_str(&note))).data, NULL);
}

/*
 * Entities "g"/r0000 and so on of Things, the first half in Bonn, the others in Rome; and the entity at which readers
 * stop.
 */
static void put_group(int count, int bytes)
{
    test_sql(scene.sql, "create table cities (city text primary key, properties bytea)");
    test_sql(scene.sql, "insert into cities values ('Bonn', %s), ('Rome', %s)",
        as_bytea(&scene.arena, in_city("Bonn", bytes).bytes),
        as_bytea(&scene.arena, in_city("Rome", bytes).bytes));
    scene_write(&scene, a_write(WRITE_INSERT, "g", stop_row, in_city("Bonn", 0)));
    test_sql(scene.sql,
        "insert into entities select %d, 1, 'g', 'r' || lpad(n::text, 4, '0'), 1, 1, false, null, "
        "c.properties"
        " from generate_series(0, %d) n join cities c on c.city = case when n < %d then 'Bonn' else 'Rome' "
        "end",
        (int)entity_key_bucket(1, STR_LITERAL("g")), count - 1, count / 2);
}

static void put_entry(const char *row)
{
    const struct entity source = { .key = a_key("g", row),
        .etag = { .table_id = 1, .version = 1 },
        .timestamp = 1,
        .properties = in_city("Bonn", 0) };

    scene_entry(&scene, &city_index, &source);
}

/*
 * An index by City and Name, copy or list, with the entries of Bonn; the entries of the other entities are dead rows.
 */
static void put_index(int count, enum index_shape shape)
{
    city_index = (struct index){ .index_id = INDEX_ID,
        .name = STR_LITERAL("ByCity"),
        .shape = shape,
        .place = PLACE_OTHER_PARTITION,
        .state = INDEX_READY,
        .consistency = city_consistency,
        .partition_key = { &by_city, 1 },
        .row_key = { &by_name, 1 },
        .projection = shape == INDEX_LIST ? PROJECT_KEYS_ONLY : PROJECT_ALL };
    scene_index(&scene, &city_index);
    test_sql(scene.sql, "begin");
    for (int i = 0; i < count; i++)
        put_entry(arena_format(&scene.arena, "r%04d", i).data);
    test_sql(scene.sql,
        "update entities set dead = substring(row_key from 'r[0-9]{4}') >= 'r%04d' where table_id = %d; "
        "commit",
        count / 2, INDEX_ID);
    put_entry(stop_row);
}

/* The change of one commit to the whole group. */
static void change_group(void)
{
    test_sql(writer,
        "begin; "
        "update entities e set version = e.version + 1, properties = c.properties from cities c"
        " where e.table_id = 1 and e.row_key <> '%s' and c.properties <> e.properties;"
        "update entities set version = version + 1, dead = not dead where table_id = %d"
        " and row_key not like '%%%s'; commit",
        stop_row, INDEX_ID, stop_row);
}

/* ---- stops ---- */

/* Let the n-th statement of a session that reads the stop in this table wait for lock n. */
static void put_stops(int64_t table_id)
{
    test_sql(scene.sql,
        "create or replace function is_due(expires bigint) returns boolean language plpgsql as $$ begin"
        " if expires = 1 then"
        "  perform set_config('test.stop', '1' || coalesce(current_setting('test.stop', true), ''), false);"
        "  perform pg_advisory_xact_lock_shared(length(current_setting('test.stop')));"
        " end if; return false; end $$");
    test_sql(scene.sql, "update entities set expires = 1 where table_id = %lld and row_key like '%%%s'",
        (long long)table_id, stop_row);
    test_sql(scene.sql, "select pg_advisory_lock(n) from generate_series(1, %d) n", STOPS);
}

typedef void operation_run(struct session *session, struct operation *operation);

struct reader {
    struct session session;
    struct operation *operation;
    operation_run *run;
};

static void *read_and_close(void *argument)
{
    struct reader *reader = argument;

    reader->run(&reader->session, reader->operation);
    session_cleanup(&reader->session);
    return NULL;
}

static void get_run(struct session *session, struct operation *operation)
{
    read_batch_run(session, operation, NULL);
}

/* Read, and change the group at every stop. */
static void read_beside_changes(operation_run *read, struct operation *operation)
{
    struct reader reader = { .operation = operation, .run = read };
    struct error err = { 0 };
    pthread_t thread;

    session_init(&reader.session, scene.conninfo, "test reader");
    ck_assert_msg(session_ensure(&reader.session, &err) == STATUS_OK, "%s", err.message);
    ck_assert_int_eq(pthread_create(&thread, NULL, read_and_close, &reader), 0);
    for (int stop = 1; stop <= STOPS; stop++) {
        test_await(scene.sql,
            "select (select count(*) from pg_locks where locktype = 'advisory' and not granted and objid = "
            "%d)"
            " + (select count(*) = 0 from pg_stat_activity where application_name = 'test reader'"
            " and datname = current_database())::int",
            stop);
        change_group();
        test_sql(scene.sql, "select pg_advisory_unlock(%d)", stop);
    }
    pthread_join(thread, NULL);
    ck_assert_reason(operation, "OK");
}

/* ---- tables ---- */

static struct operation *a_query(const char *table, const char *filter)
{
    struct operation *page = a_page(&scene.arena, table, 1000);

    set_filter(page, filter);
    return page;
}

/* The group's table; the stop has a table of its own. */
static void check_one_version(const struct entity *entities, size_t count)
{
    int64_t version = 0;

    for (size_t i = 0; i < count; i++) {
        if (str_equal(entities[i].key.row, STR_LITERAL(stop_row)))
            continue;
        if (version == 0)
            version = entities[i].etag.version;
        ck_assert_int_eq(entities[i].etag.version, version);
    }
}

/* Guard G21. */
START_TEST(a_page_with_a_filter_is_one_snapshot)
{
    struct operation *page = a_query("Things", "PartitionKey eq 'g' and City eq 'Bonn'");

    put_group(SMALL, 0);
    put_stops(1);
    read_beside_changes(page_read_run, page);

    ck_assert_uint_eq(page->out.page.count, SMALL / 2 + 1);
    ck_assert(!page->out.page.more);
    ck_assert_int_eq(page->out.page.stats.rows_examined, SMALL + 1);
    check_one_version(page->out.page.entities, page->out.page.count);
}
END_TEST

/* Guard G21. */
START_TEST(a_page_of_large_entities_is_one_snapshot)
{
    enum { COUNT = 40 };
    struct operation *page = a_query("Things", "PartitionKey eq 'g'");

    put_group(COUNT, LARGE_BYTES);
    put_stops(1);
    read_beside_changes(page_read_run, page);

    ck_assert_uint_eq(page->out.page.count, COUNT + 1);
    check_one_version(page->out.page.entities, page->out.page.count);
}
END_TEST

/* Guard G21. */
START_TEST(a_count_is_one_snapshot)
{
    struct operation *count = a_query("Things", "PartitionKey eq 'g' and City eq 'Bonn'");

    count->kind = OPERATION_COUNT;
    put_group(SMALL, 0);
    put_stops(1);
    read_beside_changes(page_read_count, count);

    ck_assert_uint_eq(count->out.page.count, SMALL / 2 + 1);
}
END_TEST

/* ---- look-ups ---- */

/* Guard G21: the entries and the entities with which they are compared are of one snapshot. */
START_TEST(a_page_of_a_look_up_is_one_snapshot)
{
    struct operation *lookup = an_operation(&scene.arena, OPERATION_LOOKUP, "ByCity");
    struct value bonn = { .type = PROPERTY_STRING, .bytes = STR_LITERAL("Bonn") };
    struct value_range names = { .has_at_least = true,
        .at_least = { .type = PROPERTY_STRING, .bytes = STR_LITERAL("a") } };

    lookup->in.lookup = (struct operation_lookup){
        .equals = &bonn, .equal_count = 1, .range = names, .trust_index = _i & 1, .limit = 1000
    };
    lookup->in.lookup.freshness.latest = _i & 2;
    put_group(SMALL, 0);
    put_index(SMALL, INDEX_COPY);
    put_stops(INDEX_ID);
    read_beside_changes(lookup_read_run, lookup);

    ck_assert_uint_eq(lookup->out.lookup.count, SMALL / 2 + 1);
    check_one_version(lookup->out.lookup.entities, lookup->out.lookup.count);
}
END_TEST

static void short_run(struct session *session, struct operation *operation)
{
    struct operation *batch = operation, *decided = NULL;
    void *begun = short_batch_begin(session, operation);

    ck_assert(begun && "a session that is ready, and no tokens");
    while (short_batch_finish(session, begun, &batch, &decided))
        ck_assert(batch == operation && !decided);
    ck_assert(!batch && decided == operation);
    ck_assert_int_eq(operation_times_detour(operation), DETOUR_NONE);
}

/* Guard G21: in a flight that look-ups share, and of an index whose entries change with their entities. */
START_TEST(a_short_or_strong_look_up_is_one_snapshot)
{
    enum { FEW = 20 };
    struct operation *lookup = an_operation(&scene.arena, OPERATION_LOOKUP, "ByCity");
    struct value bonn = { .type = PROPERTY_STRING, .bytes = STR_LITERAL("Bonn") };

    lookup->in.lookup =
        (struct operation_lookup){ .equals = &bonn, .equal_count = 1, .trust_index = _i == 1, .limit = 1000 };
    lookup->in.lookup.freshness.latest = _i == 2;
    put_group(FEW, 0);
    city_consistency = _i >= 3 ? INDEX_STRONG : INDEX_EVENTUAL;
    put_index(FEW, INDEX_COPY);
    put_stops(INDEX_ID);
    read_beside_changes(_i < 4 ? short_run : lookup_read_run, lookup);

    ck_assert_uint_eq(lookup->out.lookup.count, FEW / 2 + 1);
    check_one_version(lookup->out.lookup.entities, lookup->out.lookup.count);
}
END_TEST

/* ---- lists ---- */

static size_t members_of(const struct entity *page)
{
    struct str members = text_of(page->properties, "Members");
    size_t count = 0;

    for (size_t i = 0; i + 1 < members.len; i++)
        count += members.data[i] == '[' && members.data[i + 1] == '"';
    return count;
}

/* Guard G21. */
START_TEST(a_list_read_by_a_query_is_one_snapshot)
{
    struct operation *page = a_query("ByCity", "PartitionKey eq 'Bonn'");

    page->in.page.descending = _i;
    put_group(MANY, 0);
    put_index(MANY, INDEX_LIST);
    put_stops(INDEX_ID);
    read_beside_changes(page_read_run, page);

    ck_assert_uint_eq(page->out.page.count, 1);
    ck_assert_uint_eq(members_of(&page->out.page.entities[0]), MANY / 2 + 1);
}
END_TEST

/* Guard G21. */
START_TEST(a_list_read_by_its_address_is_one_snapshot)
{
    struct entity_key address = { STR_LITERAL("Bonn"), STR_LITERAL("n") };
    struct operation *get = a_get(&scene.arena, "ByCity", &address, 1);

    put_group(MANY, 0);
    put_index(MANY, INDEX_LIST);
    put_stops(INDEX_ID);
    read_beside_changes(get_run, get);

    ck_assert(get->out.get.found[0]);
    ck_assert_uint_eq(members_of(&get->out.get.entities[0]), MANY / 2 + 1);
}
END_TEST

/* Guard G21. */
START_TEST(several_pages_of_lists_are_one_snapshot)
{
    struct entity_key address = { STR_LITERAL("Bonn"), STR_LITERAL("n") }, both[] = { address, address };
    struct operation *get = a_get(&scene.arena, "ByCity", both, 2);

    put_group(SMALL, 0);
    put_index(SMALL, INDEX_LIST);
    put_stops(INDEX_ID);
    read_beside_changes(get_run, get);

    ck_assert(get->out.get.found[0] && get->out.get.found[1]);
    ck_assert(etag_equal(get->out.get.entities[0].etag, get->out.get.entities[1].etag));
}
END_TEST

enum { ADDRESSES = 40 };

/* On a session of its own; context as of read_batch_run. */
static void get_with(struct operation *operation, void *context)
{
    struct session session;
    struct error err = { 0 };

    session_init(&session, scene.conninfo, "test reader");
    ck_assert_msg(session_ensure(&session, &err) == STATUS_OK, "%s", err.message);
    read_batch_run(&session, operation, context);
    session_cleanup(&session);
}

static struct operation *a_get_of_one_address_again_and_again(void)
{
    static struct entity_key addresses[ADDRESSES];

    for (size_t i = 0; i < ADDRESSES; i++)
        addresses[i] = (struct entity_key){ STR_LITERAL("Bonn"), STR_LITERAL("n") };
    return a_get(&scene.arena, "ByCity", addresses, ADDRESSES);
}

START_TEST(pages_of_lists_are_not_read_behind_as_many_entries_as_a_query_reads)
{
    struct operation *all = a_get_of_one_address_again_and_again();
    struct operation *some = a_get_of_one_address_again_and_again();

    put_group(MANY, 0);
    put_index(MANY, INDEX_LIST);
    some->in.get.enough_bytes = 3 << 20;
    get_with(all, NULL);
    get_with(some, NULL);

    ck_assert_uint_eq(all->out.get.count, ADDRESSES);
    ck_assert_uint_ge(some->out.get.count, LIMIT_PAGE_EXAMINED / MANY);
    ck_assert_uint_le(some->out.get.count, LIMIT_PAGE_EXAMINED / (MANY / 2) + 1);
}
END_TEST

START_TEST(a_lane_of_short_reads_leaves_lists_to_another)
{
    struct operation *get = a_get_of_one_address_again_and_again();
    struct entity_key key = { STR_LITERAL("g"), STR_LITERAL("r0001") };
    struct operation *other = a_get(&scene.arena, "Things", &key, 1);

    put_group(SMALL, 0);
    put_index(SMALL, INDEX_LIST);
    get->next = other;
    get_with(get, &scene);

    ck_assert_int_eq(operation_times_detour(get), DETOUR_ALONE);
    ck_assert_ptr_null(get->out.get.found);
    ck_assert_int_eq(operation_times_detour(other), DETOUR_NONE);
    ck_assert(other->out.get.found[0]);
}
END_TEST

/* ---- cost ---- */

/* The statements that the session executes for the operation, from libpq's trace. */
static int statements_of(operation_run *read, struct operation *operation)
{
    FILE *record = tmpfile();
    struct session session;
    struct error err = { 0 };
    char *line = NULL;
    size_t room = 0;
    int statements = 0;

    session_init(&session, scene.conninfo, "test reader");
    ck_assert_msg(session_ensure(&session, &err) == STATUS_OK, "%s", err.message);
    PQtrace(session.pg.conn, record);
    read(&session, operation);
    PQuntrace(session.pg.conn);
    session_cleanup(&session);
    ck_assert_reason(operation, "OK");
    rewind(record);
    while (getline(&line, &room, record) > 0)
        statements += strstr(line, "\tExecute\t") != NULL;
    free(line);
    fclose(record);
    return statements;
}

/* Each statement returns the catalogue's version as well. */
START_TEST(a_page_of_one_statement_costs_no_snapshot)
{
    struct operation *full = a_query("Things", "PartitionKey eq 'g'"),
                     *filtered =
                         a_query("Things", "PartitionKey eq 'g' and RowKey lt 'r0030' and City eq 'Bonn'"),
                     *both = a_query("Things", "PartitionKey eq 'g' and City eq 'Bonn'");

    put_group(SMALL, 0);

    ck_assert_int_eq(statements_of(page_read_run, full), 2);
    ck_assert_int_eq(statements_of(page_read_run, filtered), 2);
    ck_assert_int_eq(statements_of(page_read_run, both), 2 + 4); /* begin, all of it, rollback */
}
END_TEST

Suite *test_snapshot_suite(void)
{
    Suite *suite = suite_create("snapshot");
    TCase *tc = tcase_create("snapshot");

    test_postgres_start();
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_page_with_a_filter_is_one_snapshot);
    tcase_add_test(tc, a_page_of_large_entities_is_one_snapshot);
    tcase_add_test(tc, a_count_is_one_snapshot);
    tcase_add_loop_test(tc, a_page_of_a_look_up_is_one_snapshot, 0, 4);
    tcase_add_loop_test(tc, a_short_or_strong_look_up_is_one_snapshot, 0, 5);
    tcase_add_loop_test(tc, a_list_read_by_a_query_is_one_snapshot, 0, 2);
    tcase_add_test(tc, a_list_read_by_its_address_is_one_snapshot);
    tcase_add_test(tc, several_pages_of_lists_are_one_snapshot);
    tcase_add_test(tc, pages_of_lists_are_not_read_behind_as_many_entries_as_a_query_reads);
    tcase_add_test(tc, a_lane_of_short_reads_leaves_lists_to_another);
    tcase_add_test(tc, a_page_of_one_statement_costs_no_snapshot);
    suite_add_tcase(suite, tc);
    return suite;
}
