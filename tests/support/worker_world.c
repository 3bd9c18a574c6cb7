/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_world.c - see the header. Tables and indexes are made with SQL, because these tests are not about their
 * creation.
 */
#include "tests/support/worker_world.h"

#include <check.h>
#include <endian.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/digits.h"
#include "domain/entities/row_state.h"
#include "domain/indexes/index_codec.h"
#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/operations/operation.h"
#include "store/entities/write_batch.h"
#include "store/indexes/reconcile.h"
#include "store/intents/lease_work.h"
#include "store/intents/scan_reach.h"

void world_open(struct world *world)
{
    *world = (struct world){ .conninfo = test_database() };
    arena_init(&world->arena);
    world->sql = test_connect(world->conninfo);
    session_init(&world->writer, world->conninfo, "test writer");
    world->worker = world_worker(world, "worker-1");
    world_change(world,
        "insert into tables (table_id, account, name, folded, created, live) "
        "values (%d, 'acme', 'People', 'people', 1, true)",
        TABLE_ID);
}

void world_close(struct world *world)
{
    worker_close(world->worker);
    session_cleanup(&world->writer);
    PQfinish(world->sql);
    arena_cleanup(&world->arena);
    test_database_end(world->conninfo);
}

void world_crash(struct world *world)
{
    test_postgres_crash(&world->sql, world->conninfo);
    session_cleanup(&world->writer);
    session_init(&world->writer, world->conninfo, "test writer");
}

struct worker *world_worker(const struct world *world, const char *name)
{
    struct worker *worker = NULL;
    struct error err = { 0 };

    ck_assert_msg(worker_open(world->conninfo, name, &worker, &err) == STATUS_OK, "worker: %s", err.message);
    return worker;
}

/* ---- catalogue ---- */

void world_change(struct world *world, const char *format, ...)
{
    char *sql = NULL;
    va_list args;

    va_start(args, format);
    ck_assert_int_ge(vasprintf(&sql, format, args), 0);
    va_end(args);
    test_sql(world->sql, "begin; lock table write_fence in exclusive mode");
    test_sql(world->sql, "%s", sql);
    test_sql(world->sql, "update catalogue set version = version + 1; commit");
    free(sql);
}

static const char *hex_of(struct world *world, struct str bytes)
{
    struct buf out;

    buf_init(&out, &world->arena);
    digits_encode_hex(bytes, buf_extend(&out, 2 * bytes.len));
    buf_append_byte(&out, 0);
    return out.data;
}

void world_add_index(struct world *world, int64_t index_id, struct index index)
{
    const char *definition;

    index.name = arena_format(&world->arena, "PeopleBy%lld", (long long)index_id);
    index.source_name = STR_LITERAL("People");
    definition = hex_of(world, index_codec_encode(&index, &world->arena));
    world_change(world,
        "insert into tables (table_id, account, name, folded, created, live, index_id) "
        "values (%lld, 'acme', '%s', lower('%s'), 1, true, %lld);"
        "insert into indexes (index_id, source_table_id, account, name, folded, state, definition, "
        "operation_id) "
        "values (%lld, %d, 'acme', '%s', lower('%s'), %d, decode('%s', 'hex'), '')",
        (long long)index_id, index.name.data, index.name.data, (long long)index_id, (long long)index_id,
        TABLE_ID, index.name.data, index.name.data, INDEX_READY, definition);
}

void world_index(struct world *world, int64_t index_id, const char *property, int width)
{
    struct key_part part = { .text = str_of(property), .width = width };

    world_add_index(world, index_id,
        (struct index){ .shape = INDEX_COPY,
            .place = PLACE_OTHER_PARTITION,
            .partition_key = { &part, 1 },
            .projection = index_id == BY_CITY ? PROJECT_ALL : PROJECT_KEYS_ONLY });
}

/* ---- writing ---- */

static void announce(void *context, const struct intent *intents, size_t count)
{
    struct world *world = context;
    struct entity_key *key = &world->announced.key;

    world->announced = intents[count - 1];
    *key =
        (struct entity_key){ arena_copy(&world->arena, key->partition), arena_copy(&world->arena, key->row) };
}

static int64_t run_write(struct world *world, struct write write)
{
    struct commit_observer observer = { announce, world };
    struct operation operation = { .kind = OPERATION_WRITE,
        .account = STR_LITERAL("acme"),
        .table = STR_LITERAL("People"),
        .arena = &world->arena,
        .deadline_us = INT64_MAX,
        .in.write = { .writes = &write, .count = 1, .atomic = true } };

    write_batch_run(&world->writer, &operation, &observer);
    arena_cleanup(&world->writer.arena);
    ck_assert_msg(
        operation.status == STATUS_OK, "write: %s", operation.error ? operation.error->message : "");
    return operation.out.write.results[0].etag.version;
}

static void add(struct property_builder *builder, const char *name, const char *text)
{
    struct value value = { .type = PROPERTY_STRING, .bytes = str_of(text) };

    if (text)
        property_build(builder, str_of(name), &value);
}

static struct entity_key key_of(const char *row)
{
    return (struct entity_key){ STR_LITERAL("p"), str_of(row) };
}

int64_t world_put(struct world *world, const char *row, const char *city, const char *note)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, &world->arena);
    add(&builder, "City", city);
    add(&builder, "Note", note);
    return run_write(
        world, (struct write){
                   .kind = WRITE_INSERT_OR_REPLACE, .key = key_of(row), .properties = { buf_str(&out) } });
}

void world_delete(struct world *world, const char *row)
{
    run_write(
        world, (struct write){
                   .kind = WRITE_DELETE, .key = key_of(row), .condition = { .kind = CONDITION_EXISTS } });
}

/* ---- reconciling ---- */

struct intent world_message(const char *row)
{
    struct entity_key key = key_of(row);

    return (struct intent){ .bucket = entity_key_bucket(TABLE_ID, key.partition),
        .kind = INTENT_RECONCILE,
        .table_id = TABLE_ID,
        .key = key };
}

struct reconcile_counts world_reconcile(struct world *world, const char *row)
{
    struct intent message = world_message(row);
    struct reconcile_counts counts = { 0 };
    struct error err = { 0 };

    ck_assert_msg(reconcile_keys(world->worker, &message, 1, false, &counts, &err) == STATUS_OK,
        "reconcile: %s", err.message);
    return counts;
}

struct intents_found world_scan(struct world *world, const struct intent_scan *what)
{
    struct scan_reach reach = { 0 };
    struct intents_found found = { 0 };
    struct error err = { 0 };

    ck_assert_msg(lease_work_scan(world->worker, what, &reach, &world->arena, &found, &err) == STATUS_OK,
        "scan: %s", err.message);
    return found;
}

struct reconcile_counts world_reconcile_all(struct world *world)
{
    enum { MOST = 1000 };
    int range = entity_key_bucket(TABLE_ID, STR_LITERAL("p")) / (BUCKETS / LEASE_RANGES);
    struct reconcile_counts counts = { 0 };
    struct intents_found found = world_scan(world, &(struct intent_scan){ .range = range, .max = MOST });
    struct error err = { 0 };

    ck_assert_msg(
        reconcile_keys(world->worker, found.intents, found.count, false, &counts, &err) == STATUS_OK,
        "reconcile: %s", err.message);
    return counts;
}

/* ---- inspecting ---- */

long long world_intents(const struct world *world)
{
    return test_number(world->sql, "select count(*) from intents");
}

long long world_entries(const struct world *world, int64_t index_id)
{
    return test_number(
        world->sql, "select count(*) from entities where table_id = %lld and not dead", (long long)index_id);
}

/* ---- entries and manifests of an index, compared with what its sources ask for ---- */

struct expected_entry {
    struct index_entry entry;
    int64_t version, ts; /* of the source */
    const char *source_row;
};

/* What an index should have. */
struct expectation {
    const struct index *index;
    struct expected_entry *entries; /* as many as there are sources */
    int count;
};

static struct entity_key row_key_of(const PGresult *rows, int row)
{
    return (struct entity_key){ str_of(PQgetvalue(rows, row, 0)), str_of(PQgetvalue(rows, row, 1)) };
}

static int64_t number_of(const PGresult *rows, int row, int column)
{
    uint64_t number;

    memcpy(&number, PQgetvalue(rows, row, column), sizeof(number));
    return (int64_t)be64toh(number);
}

static struct str bytes_of(const PGresult *rows, int row, int column)
{
    return str_of_bytes(PQgetvalue(rows, row, column), (size_t)PQgetlength(rows, row, column));
}

/* All values in their binary form; one parameter. */
static PGresult *binary_rows(struct world *world, const char *sql, int64_t parameter)
{
    const char *value = arena_format(&world->arena, "%lld", (long long)parameter).data;
    PGresult *rows = PQexecParams(world->sql, sql, 1, NULL, &value, NULL, NULL, 1);

    ck_assert_msg(PQresultStatus(rows) == PGRES_TUPLES_OK, "%s: %s", sql, PQresultErrorMessage(rows));
    return rows;
}

static struct expectation expectation_of(
    struct world *world, const struct index *index, const PGresult *sources)
{
    struct expectation out = { index,
        ARENA_ARRAY(&world->arena, struct expected_entry, (size_t)PQntuples(sources) + 1), 0 };

    for (int i = 0; i < PQntuples(sources); i++) {
        const struct entity_key key = row_key_of(sources, i);
        const struct row_state source = { .live = true,
            .ts = number_of(sources, i, 2),
            .properties = { bytes_of(sources, i, 3) },
            .version = number_of(sources, i, 4) };
        struct expected_entry *wanted = &out.entries[out.count];

        if (index_plan_project_state(index, &key, &source, &world->arena, &wanted->entry) != PROJECTED)
            continue;
        wanted->source_row = key.row.data;
        wanted->version = source.version;
        wanted->ts = source.ts;
        out.count++;
    }
    return out;
}

static int by_entry_key(const void *a, const void *b)
{
    return entity_key_compare(
        &((const struct expected_entry *)a)->entry.key, &((const struct expected_entry *)b)->entry.key);
}

/*
 * The index has an entry with this key, bucket and bytes, and with the source's version and time if it keeps versions;
 * rows are its entries, in the order of their keys.
 */
static void check_entry(
    const struct index *index, const PGresult *rows, int row, const struct expected_entry *wanted)
{
    const struct entity_key key = row < PQntuples(rows) ? row_key_of(rows, row) : (struct entity_key){ 0 };
    uint16_t bucket = 0;

    if (row < PQntuples(rows))
        memcpy(&bucket, PQgetvalue(rows, row, 2), sizeof(bucket));
    if (row >= PQntuples(rows) || entity_key_compare(&key, &wanted->entry.key) != 0 ||
        be16toh(bucket) != wanted->entry.bucket ||
        !str_equal(bytes_of(rows, row, 3), wanted->entry.properties.bytes) ||
        (index->keeps_versions &&
            (number_of(rows, row, 4) != wanted->version || number_of(rows, row, 5) != wanted->ts)))
        ck_abort_msg(
            "index %lld has not the entry of %s", (long long)wanted->entry.index_id, wanted->source_row);
}

/* The index has the expected entries and no others. */
static void check_entries(struct world *world, const struct expectation *expected)
{
    PGresult *rows = binary_rows(world,
        "select partition_key, row_key, bucket, properties, version, ts from entities where table_id = $1 "
        "and not dead "
        "order by partition_key collate \"C\", row_key collate \"C\"",
        expected->index->index_id);

    qsort(expected->entries, (size_t)expected->count, sizeof(expected->entries[0]), by_entry_key);
    for (int i = 0; i < expected->count; i++)
        check_entry(expected->index, rows, i, &expected->entries[i]);
    ck_assert_int_eq(PQntuples(rows), expected->count);
    PQclear(rows);
}

static int by_row_key(const void *a, const void *b)
{
    return strcmp(
        ((const struct expected_entry *)a)->source_row, ((const struct expected_entry *)b)->source_row);
}

static bool manifest_names(const struct manifest *manifest, const struct index_entry *entry)
{
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->items[i].index_id == entry->index_id && manifest->items[i].digest == entry->digest &&
            entity_key_compare(&manifest->items[i].key, &entry->key) == 0)
            return true;
    return false;
}

/* The manifest of each source names the source's entry. */
static void check_manifests(struct world *world, const struct expectation *expected)
{
    PGresult *rows = binary_rows(world,
        "select row_key, manifest from index_state where table_id = $1 order by row_key collate \"C\"",
        TABLE_ID);
    int row = 0;

    qsort(expected->entries, (size_t)expected->count, sizeof(expected->entries[0]), by_row_key);
    for (int i = 0; i < expected->count; i++) {
        const struct expected_entry *wanted = &expected->entries[i];
        struct manifest manifest;

        while (row < PQntuples(rows) && strcmp(PQgetvalue(rows, row, 0), wanted->source_row) < 0)
            row++;
        if (row == PQntuples(rows) || strcmp(PQgetvalue(rows, row, 0), wanted->source_row) != 0 ||
            !manifest_decode(bytes_of(rows, row, 1), &world->arena, &manifest) ||
            !manifest_names(&manifest, &wanted->entry))
            ck_abort_msg("the manifest of %s does not name its entry", wanted->source_row);
    }
    PQclear(rows);
}

void world_check(struct world *world)
{
    PGresult *sources = binary_rows(world,
        "select partition_key, row_key, ts, properties, version from entities where table_id = $1 and not "
        "dead",
        TABLE_ID);
    struct error err = { 0 };
    const struct table *table;
    long long total = 0;

    ck_assert_int_eq(world_intents(world), 0);
    ck_assert_msg(session_ensure(&world->writer, &err) == STATUS_OK, "%s", err.message);
    ck_assert_msg(session_refresh(&world->writer, NULL, &err) == STATUS_OK, "%s", err.message);
    table = catalogue_find_id(world->writer.catalogue, TABLE_ID);
    for (size_t i = 0; table && i < table->index_count; i++) {
        const struct index *index = table->indexes[i];
        struct expectation expected = expectation_of(world, index, sources);

        check_entries(world, &expected);
        if (index->place != PLACE_SAME_PARTITION)
            check_manifests(world, &expected);
        ck_assert_int_eq(test_number(world->sql, "select count(*) from unique_owners where index_id = %lld",
                             (long long)index->index_id),
            index->is_unique ? expected.count : 0);
        total += index->place == PLACE_SAME_PARTITION ? 0 : expected.count;
    }
    ck_assert_msg((test_number(world->sql, "select count(*) from index_state") > 0) == (total > 0),
        "state rows without entries, or entries without state rows");
    PQclear(sources);
}
