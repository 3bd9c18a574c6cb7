/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_calls.c - see the header.
 */
#include "tests/support/index_calls.h"

#include <check.h>

#include "store/indexes/index_calls.h"
#include "store/indexes/lookup_read.h"
#include "store/job_work.h"
#include "store/jobs/job_calls.h"
#include "tests/support/builders.h"
#include "tests/support/calls.h"

enum { MAX_CHUNKS = 1000 };

struct operation *call_run(struct session *session,
    void (*request)(struct session *session, struct operation *operation), struct operation *operation)
{
    request(session, operation);
    arena_cleanup(&session->arena);
    return operation;
}

struct operation *index_created(struct world *world, const char *name, const char *source, int width)
{
    struct operation *operation = call_make(&world->arena, OPERATION_INDEX_CREATE, name);
    struct key_part *part = ARENA_NEW(&world->arena, struct key_part);

    *part = (struct key_part){ .text = STR_LITERAL("City"), .width = width };
    operation->in.index.definition = (struct index){ .name = str_of(name),
        .source_name = str_of(source),
        .shape = INDEX_COPY,
        .place = PLACE_OTHER_PARTITION,
        .partition_key = { part, 1 },
        .projection = PROJECT_ALL };
    return call_run(&world->writer, index_calls_create, operation);
}

struct operation *index_dropped(struct world *world, const char *name)
{
    return call_run(&world->writer, index_calls_drop, call_make(&world->arena, OPERATION_INDEX_DROP, name));
}

struct index_view index_seen(struct world *world, const char *name)
{
    struct operation *operation =
        call_run(&world->writer, index_calls_get, call_make(&world->arena, OPERATION_INDEX_GET, name));

    call_succeeded(operation);
    ck_assert_uint_eq(operation->out.index.count, 1);
    return operation->out.index.indexes[0];
}

struct job_view run_seen(struct world *world, const char *operation_id)
{
    struct operation *operation = call_make(&world->arena, OPERATION_JOB_GET, "");

    operation->in.jobs.operation_id = str_of(operation_id);
    call_succeeded(call_run(&world->writer, job_calls_get, operation));
    return operation->out.jobs.jobs[0];
}

size_t index_finds(struct world *world, const char *name, const char *value, bool latest)
{
    struct operation *lookup = an_operation(&world->arena, OPERATION_LOOKUP, name);
    struct value *values = ARENA_ARRAY(&world->arena, struct value, 1);

    values[0] = (struct value){ .type = PROPERTY_STRING, .bytes = str_of(value) };
    lookup->in.lookup = (struct operation_lookup){
        .equals = values, .equal_count = 1, .limit = 100, .freshness.latest = latest
    };
    lookup_read_run(&world->writer, lookup);
    arena_cleanup(&world->writer.arena);
    ck_assert_reason(lookup, "OK");
    return lookup->out.lookup.count;
}

bool run_chunk(struct worker *worker)
{
    struct error err = { 0 };
    bool worked = false;

    ck_assert_msg(job_work_run(worker, &worked, &err) == STATUS_OK, "work: %s", err.message);
    return worked;
}

int run_chunks(struct worker *worker)
{
    int chunks = 0;

    while (run_chunk(worker))
        ck_assert_int_lt(++chunks, MAX_CHUNKS);
    return chunks;
}

void people_put(struct world *world, int count)
{
    static const char *const cities[] = { "Rome", "Oslo", "Bern", NULL };

    for (int i = 0; i < count; i++)
        world_put(world, arena_format(&world->arena, "r%05d", i).data, cities[i % 4], "x");
}

void people_copy(struct world *world, int count)
{
    world_put(world, "model", "Rome", "x");
    test_sql(world->sql,
        "insert into entities (bucket, table_id, partition_key, row_key, version, ts, properties) "
        "select bucket, table_id, partition_key, 'r' || lpad(n::text, 6, '0'), 1, ts, properties "
        "from entities, generate_series(1, %d) n where row_key = 'model'",
        count - 1);
}
