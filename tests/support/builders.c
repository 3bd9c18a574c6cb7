/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builders.c - see the header.
 */
#include "tests/support/builders.h"

#include <check.h>
#include <errno.h>
#include <semaphore.h>
#include <stdarg.h>
#include <time.h>

#include "base/digits.h"
#include "base/macros.h"
#include "domain/indexes/index_codec.h"
#include "domain/indexes/index_plan.h"
#include "domain/limits.h"

enum { OUTCOME_TIMEOUT_S = 30 };

/* ---- values ---- */

struct property_list some_texts(struct arena *arena, ...)
{
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };
    const char *name;
    va_list args;

    buf_init(&out, arena);
    va_start(args, arena);
    while ((name = va_arg(args, const char *))) {
        struct value value = { .type = PROPERTY_STRING, .bytes = str_of(va_arg(args, const char *)) };

        property_build(&builder, str_of(name), &value);
    }
    va_end(args);
    return (struct property_list){ buf_str(&out) };
}

struct str text_of(struct property_list list, const char *name)
{
    struct property property;

    if (!property_find(list, str_of(name), &property) || property.value.type != PROPERTY_STRING)
        return STR_EMPTY;
    return property.value.bytes;
}

struct entity_key a_key(const char *partition, const char *row)
{
    return (struct entity_key){ str_of(partition), str_of(row) };
}

struct write a_write(
    enum write_kind kind, const char *partition, const char *row, struct property_list properties)
{
    return (struct write){ .kind = kind, .key = a_key(partition, row), .properties = properties };
}

struct condition if_match(struct etag etag)
{
    return (struct condition){ .kind = CONDITION_MATCHES, .etag = etag };
}

/* ---- operations ---- */

struct call {
    struct operation operation;
    sem_t answered;
};

static struct call *call_of(struct operation *operation)
{
    return CONTAINER_OF(operation, struct call, operation);
}

static void answer(struct operation *operation)
{
    sem_post(&call_of(operation)->answered);
}

struct operation *an_operation(struct arena *arena, enum operation_kind kind, const char *table)
{
    struct call *call = ARENA_NEW(arena, struct call);

    sem_init(&call->answered, 0, 0);
    call->operation = (struct operation){ .kind = kind,
        .account = STR_LITERAL("acme"),
        .table = str_of(table),
        .arena = arena,
        .deadline_us = INT64_MAX,
        .done = answer };
    return &call->operation;
}

struct operation *a_group(struct arena *arena, const char *table, const struct write *writes, size_t count)
{
    struct operation *operation = an_operation(arena, OPERATION_WRITE, table);
    struct write *copies = ARENA_ARRAY(arena, struct write, count);

    memcpy(copies, writes, count * sizeof(copies[0]));
    operation->in.write = (struct operation_write){ copies, count, .atomic = true, .is_group = true };
    return operation;
}

struct operation *a_write_operation(struct arena *arena, const char *table, struct write write)
{
    struct operation *operation = a_group(arena, table, &write, 1);

    operation->in.write.is_group = false;
    return operation;
}

struct operation *a_get(struct arena *arena, const char *table, const struct entity_key *keys, size_t count)
{
    struct operation *operation = an_operation(arena, OPERATION_GET, table);

    operation->in.get =
        (struct operation_get){ .keys = ARENA_ARRAY(arena, struct entity_key, count), .count = count };
    memcpy(operation->in.get.keys, keys, count * sizeof(keys[0]));
    return operation;
}

struct operation *a_page(struct arena *arena, const char *table, int32_t limit)
{
    struct operation *operation = an_operation(arena, OPERATION_PAGE, table);

    operation->in.page.limit = limit;
    set_filter(operation, "");
    return operation;
}

void set_filter(struct operation *page, const char *filter)
{
    struct operation_page *in = &page->in.page;
    struct error err = { 0 };

    ck_assert_msg(filter_compile(str_of(filter), page->arena, &in->filter, &err) == STATUS_OK, "'%s': %s",
        filter, err.message);
    filter_key_plan(in->filter, page->arena, &in->plan);
}

void submit(struct store *store, struct operation *operation)
{
    store_submit(store, operation);
}

void await(struct operation *operation)
{
    struct timespec until;
    int result;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += OUTCOME_TIMEOUT_S;
    do
        result = sem_timedwait(&call_of(operation)->answered, &until);
    while (result != 0 && errno == EINTR);
    ck_assert_msg(result == 0, "no outcome after %d s", OUTCOME_TIMEOUT_S);
}

void run(struct store *store, struct operation *operation)
{
    submit(store, operation);
    await(operation);
}

bool is_answered(struct operation *operation)
{
    int value = 0;

    sem_getvalue(&call_of(operation)->answered, &value);
    return value > 0;
}

const char *reason_of(const struct operation *operation)
{
    if (operation->status == STATUS_OK)
        return "OK";
    return operation->error->reason ? operation->error->reason : operation->error->message;
}

const char *meta_of(const struct error *err, const char *key)
{
    for (size_t i = 0; i < err->meta_count; i++)
        if (strcmp(err->meta[i].key, key) == 0)
            return err->meta[i].value;
    return "";
}

/* ---- the scene ---- */

struct store_options plain_options(const char *conninfo)
{
    return (struct store_options){ .postgres = conninfo,
        .read_threads = 1,
        .write_threads = 2,
        .page_threads = 1,
        .max_waiting = 1000,
        .snapshot_seconds = 60,
        .max_snapshots = 2,
        .batch_operations = 64,
        .batch_bytes = 1024 * 1024,
        .connect_late = true };
}

void scene_open(struct scene *scene)
{
    struct store_options options;

    *scene = (struct scene){ .conninfo = test_database() };
    arena_init(&scene->arena);
    scene->sql = test_connect(scene->conninfo);
    options = plain_options(scene->conninfo);
    scene->store = store_open(&options);
    scene_table(scene, "Things");
}

void scene_close(struct scene *scene)
{
    store_close(scene->store);
    PQfinish(scene->sql);
    arena_cleanup(&scene->arena);
    test_database_end(scene->conninfo);
}

long long scene_table(struct scene *scene, const char *name)
{
    struct operation *operation = an_operation(&scene->arena, OPERATION_TABLE_CREATE, name);

    run(scene->store, operation);
    ck_assert_reason(operation, "OK");
    return test_number(
        scene->sql, "select table_id from tables where live and account = 'acme' and name = '%s'", name);
}

struct write_result scene_write(struct scene *scene, struct write write)
{
    struct operation *operation = a_write_operation(&scene->arena, "Things", write);

    run(scene->store, operation);
    ck_assert_reason(operation, "OK");
    return operation->out.write.results[0];
}

void scene_refused(struct scene *scene, struct write write, const char *reason)
{
    struct operation *operation = a_write_operation(&scene->arena, "Things", write);

    run(scene->store, operation);
    ck_assert_reason(operation, reason);
}

const struct entity *scene_read(struct scene *scene, const char *partition, const char *row)
{
    struct entity_key key = a_key(partition, row);
    struct operation *operation = a_get(&scene->arena, "Things", &key, 1);

    run(scene->store, operation);
    ck_assert_reason(operation, "OK");
    return operation->out.get.found[0] ? &operation->out.get.entities[0] : NULL;
}

void scene_change(struct scene *scene, const char *statements)
{
    test_sql(scene->sql,
        "begin; lock table write_fence in exclusive mode; %s;"
        "update catalogue set version = version + 1; commit",
        statements);
}

void scene_index(struct scene *scene, struct index *index)
{
    struct buf sql;
    long long id = index->index_id;

    index->account = STR_LITERAL("acme");
    index->source_name = STR_LITERAL("Things");
    index->source_table_id =
        test_number(scene->sql, "select table_id from tables where live and name = 'Things'");
    buf_init(&sql, &scene->arena);
    buf_format(&sql,
        "insert into tables (table_id, account, name, folded, created, live, index_id) "
        "values (%lld, 'acme', '%.*s', lower('%.*s'), 1, true, %lld);",
        id, STR_ARG(index->name), STR_ARG(index->name), id);
    buf_format(&sql,
        "insert into indexes (index_id, source_table_id, account, name, folded, state, definition, "
        "operation_id) "
        "values (%lld, %lld, 'acme', '%.*s', lower('%.*s'), %d, %s, '')",
        id, (long long)index->source_table_id, STR_ARG(index->name), STR_ARG(index->name), index->state,
        as_bytea(&scene->arena, index_codec_encode(index, &scene->arena)));
    buf_append_byte(&sql, 0);
    scene_change(scene, sql.data);
}

struct entity_key scene_entry(struct scene *scene, const struct index *index, const struct entity *source)
{
    struct index_entry entry = { 0 };
    const char *why = "no entry";

    ck_assert_msg(index_plan_project(index, source, &scene->arena, &entry, &why) == PROJECTED, "%s", why);
    test_sql(scene->sql,
        "insert into entities values (%d, %lld, convert_from(%s, 'UTF8'), convert_from(%s, 'UTF8'), %lld, "
        "%lld, "
        "false, null, %s)",
        entry.bucket, (long long)entry.index_id, as_bytea(&scene->arena, entry.key.partition),
        as_bytea(&scene->arena, entry.key.row), (long long)source->etag.version, (long long)source->timestamp,
        as_bytea(&scene->arena, entry.properties.bytes));
    return entry.key;
}

const char *as_bytea(struct arena *arena, struct str bytes)
{
    struct buf out;

    buf_init(&out, arena);
    buf_append(&out, STR_LITERAL("'\\x"));
    digits_encode_hex(bytes, buf_extend(&out, 2 * bytes.len));
    buf_append(&out, STR_LITERAL("'::bytea"));
    buf_append_byte(&out, 0);
    return out.data;
}
