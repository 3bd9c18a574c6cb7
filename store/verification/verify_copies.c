/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_copies.c - see the header.
 */
#include "store/verification/verify_copies.h"

#include <stdlib.h>
#include <string.h>

#include "store/session/row_arrays.h"
#include "store/sql.h"

enum {
    CHUNK_ROWS = 500,
    CHUNK_BYTES = 8 * 1024 * 1024,
    SOURCES_AT_A_TIME = 16, /* each has at most LIMIT_ENTITY_BYTES */
};

struct dependent_row {
    struct entity_key key;
    struct row_state state;
    enum copy_naming naming;
    struct entity_key source;
};

struct looking {
    struct session *session;
    struct copy_look *look;
    struct dependent_row *rows;
    size_t row_count;
};

enum difference_class verify_copies_class(enum copy_fault fault)
{
    static const enum difference_class classes[] = {
        [COPY_MISSING] = DIFFERENCE_COPY_MISSING,
        [COPY_WRONG] = DIFFERENCE_COPY_WRONG,
        [COPY_SUPERFLUOUS] = DIFFERENCE_COPY_SUPERFLUOUS,
    };

    return classes[fault];
}

bool verify_copies_is_class(enum difference_class class)
{
    return class == DIFFERENCE_COPY_MISSING || class == DIFFERENCE_COPY_WRONG ||
           class == DIFFERENCE_COPY_SUPERFLUOUS;
}

/* ---- dependents ---- */

enum chunk_column { CHUNK_PARTITION, CHUNK_ROW, CHUNK_VERSION, CHUNK_TS, CHUNK_EXPIRES, CHUNK_PROPERTIES };

static bool is_beyond(const struct copy_look *look, const struct entity_key *key)
{
    return look->range->has_below && entity_key_compare(key, &look->range->below) >= 0;
}

/* Rows that are too large to be read with those before them are left to the next chunk. */
static void take_chunk(struct looking *work, const PGresult *rows)
{
    struct arena *arena = &work->session->arena;
    struct copy_look *look = work->look;
    int count = PQntuples(rows);

    work->rows = ARENA_ARRAY(arena, struct dependent_row, (size_t)count);
    look->is_last = count < CHUNK_ROWS;
    for (int i = 0; i < count; i++) {
        const struct entity_key key = { arena_copy(arena, pg_bytes(rows, i, CHUNK_PARTITION)),
            arena_copy(arena, pg_bytes(rows, i, CHUNK_ROW)) };

        if (PQgetisnull(rows, i, CHUNK_PROPERTIES) || is_beyond(look, &key)) {
            look->is_last = is_beyond(look, &key);
            break;
        }
        look->last = key;
        work->rows[work->row_count++] = (struct dependent_row){ .key = key,
            .state = { .live = true,
                .version = pg_int8(rows, i, CHUNK_VERSION),
                .ts = pg_int8(rows, i, CHUNK_TS),
                .properties = { arena_copy(arena, pg_bytes(rows, i, CHUNK_PROPERTIES)) },
                .expires = pg_int8(rows, i, CHUNK_EXPIRES) } };
    }
}

static enum status read_chunk(struct looking *work, struct error *err)
{
    struct session *session = work->session;
    const struct copy_look *look = work->look;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, look->index->source_table_id);
    pg_add_bytes(&params, look->key.partition);
    pg_add_bytes(&params, look->key.row);
    pg_add_bool(&params, look->is_behind);
    pg_add_int8(&params, CHUNK_ROWS);
    pg_add_int8(&params, CHUNK_BYTES);
    pg_add_names(&params, NULL, 0, true);
    TRY(pg_query(&session->pg, &sql_walk_rows_bounded, &params, &rows, err));
    take_chunk(work, rows);
    return STATUS_OK;
}

enum source_column { SOURCE_N, SOURCE_VERSION, SOURCE_TS, SOURCE_DEAD, SOURCE_EXPIRES, SOURCE_PROPERTIES };

/* Read rows by their keys, dead ones too. */
static enum status read_keys(struct session *session, int64_t table_id, const struct entity_key *keys,
    size_t count, PGresult **rows, struct error *err)
{
    struct key_arrays arrays;
    struct name_arrays no_names;
    struct pg_params params;

    key_arrays_init(&arrays, &session->arena);
    for (size_t i = 0; i < count; i++)
        key_arrays_put(&arrays, table_id, &keys[i], entity_key_bucket(table_id, keys[i].partition));
    pg_params_init(&params, &session->arena);
    key_arrays_add(&arrays, &params);
    pg_add_int4(&params, INT32_MAX);
    name_arrays_init(&no_names, &session->arena);
    name_arrays_add(&no_names, &params);
    return pg_query(&session->pg, &sql_source_get, &params, rows, err);
}

/* The properties are those of the result. */
static struct row_state state_at(const PGresult *rows, int i)
{
    return (struct row_state){ .live = !pg_bool(rows, i, SOURCE_DEAD),
        .version = pg_int8(rows, i, SOURCE_VERSION),
        .ts = pg_int8(rows, i, SOURCE_TS),
        .properties = { pg_bytes(rows, i, SOURCE_PROPERTIES) },
        .expires = pg_int8(rows, i, SOURCE_EXPIRES) };
}

static enum status read_named(struct looking *work, struct error *err)
{
    struct arena *arena = &work->session->arena;
    const struct copy_look *look = work->look;
    PG_RESULT rows = NULL;

    work->rows = ARENA_ARRAY(arena, struct dependent_row, look->key_count);
    TRY(read_keys(work->session, look->index->source_table_id, look->keys, look->key_count, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++) {
        struct row_state state = state_at(rows, i);

        if (!state.live)
            continue;
        state.properties.bytes = arena_copy(arena, state.properties.bytes);
        work->rows[work->row_count++] =
            (struct dependent_row){ .key = look->keys[pg_int8(rows, i, SOURCE_N) - 1], .state = state };
    }
    return STATUS_OK;
}

/* ---- judging ---- */

static int by_key(const void *a, const void *b)
{
    return entity_key_compare(a, b);
}

static bool names_key(const struct dependent_row *row)
{
    return row->naming == COPY_NAMES_KEY;
}

/* Dependents that name no key come first. */
static int by_source(const void *a, const void *b)
{
    const struct dependent_row *x = a, *y = b;

    return names_key(x) && names_key(y) ? entity_key_compare(&x->source, &y->source)
                                        : names_key(x) - names_key(y);
}

static void sort_by_source(struct looking *work)
{
    for (size_t i = 0; i < work->row_count; i++) {
        struct dependent_row *row = &work->rows[i];

        row->naming = copy_plan_source(work->look->index->copies, &row->key, &row->state, &row->source);
    }
    if (work->row_count > 1)
        qsort(work->rows, work->row_count, sizeof(*work->rows), by_source);
}

/* The sources of some dependents. Those that do not exist are not live. */
struct some_sources {
    struct entity_key keys[SOURCES_AT_A_TIME]; /* sorted */
    struct row_state states[SOURCES_AT_A_TIME];
    size_t count;
};

/* Take the sources of the dependents from `begin` on, as many as there is room for. Returns where others begin. */
static size_t take_sources(const struct looking *work, size_t begin, struct some_sources *out)
{
    for (; begin < work->row_count; begin++) {
        const struct dependent_row *row = &work->rows[begin];

        if (!names_key(row) ||
            (out->count > 0 && entity_key_compare(&out->keys[out->count - 1], &row->source) == 0))
            continue;
        if (out->count == SOURCES_AT_A_TIME)
            break;
        out->keys[out->count++] = row->source;
    }
    return begin;
}

static const struct row_state *find_source(
    const struct some_sources *sources, const struct dependent_row *row)
{
    const struct entity_key *found = names_key(row) ? bsearch(&row->source, sources->keys, sources->count,
                                                          sizeof(sources->keys[0]), by_key)
                                                    : NULL;
    const struct row_state *state = found ? &sources->states[found - sources->keys] : NULL;

    return state && state->live ? state : NULL;
}

/* A plan may have as many bytes as the dependent and its source together, so each is released at once. */
static void compare(struct looking *work, const struct dependent_row *row, const struct row_state *source)
{
    struct copy_look *look = work->look;
    struct arena *arena = &work->session->arena;
    const struct copy_case facts = { .key = &row->key,
        .dependent = &row->state,
        .naming = row->naming,
        .source = &row->source,
        .state = source };
    struct copy_plan plan;
    struct copy_difference *differences;
    ARENA_SCOPE scratch;

    arena_init(&scratch);
    copy_plan(look->index->copies, &facts, &scratch, &plan);
    if (plan.count == 0)
        return;
    differences = ARENA_ARRAY(arena, struct copy_difference, plan.count);
    memcpy(differences, plan.differences, plan.count * sizeof(*differences));
    look->suspects[look->count++] = (struct copy_suspect){ .key = row->key,
        .version = row->state.version,
        .naming = row->naming,
        .source = row->source,
        .differences = differences,
        .count = plan.count };
}

/* Read the sources of the dependents from *begin on, as many as may be in memory at once, and compare these. */
static enum status compare_some(struct looking *work, size_t *begin, struct error *err)
{
    int64_t table_id = work->look->index->copies->source_table_id;
    struct some_sources sources = { .count = 0 };
    size_t end = take_sources(work, *begin, &sources);
    PG_RESULT rows = NULL;

    if (sources.count > 0 && catalogue_find_id(work->session->catalogue, table_id)) {
        TRY(read_keys(work->session, table_id, sources.keys, sources.count, &rows, err));
        for (int i = 0; i < PQntuples(rows); i++)
            sources.states[pg_int8(rows, i, SOURCE_N) - 1] = state_at(rows, i);
    }
    for (; *begin < end; (*begin)++)
        compare(work, &work->rows[*begin], find_source(&sources, &work->rows[*begin]));
    return STATUS_OK;
}

/* The suspects are in the order of their keys, as a report lists them. */
static enum status compare_all(struct looking *work, struct error *err)
{
    struct copy_look *look = work->look;

    sort_by_source(work);
    look->suspects = ARENA_ARRAY(&work->session->arena, struct copy_suspect, work->row_count);
    for (size_t begin = 0; begin < work->row_count;)
        TRY(compare_some(work, &begin, err));
    if (look->count > 1)
        qsort(look->suspects, look->count, sizeof(*look->suspects), by_key);
    return STATUS_OK;
}

static void put_key(struct pg_array *arrays, int64_t table_id, const struct entity_key *key)
{
    pg_array_bytes(&arrays[0], key->partition.len > 0 ? key->partition : STR_EMPTY);
    pg_array_bytes(&arrays[1], key->row.len > 0 ? key->row : STR_EMPTY);
    pg_array_int2(&arrays[2], entity_key_bucket(table_id, key->partition));
}

static enum status ask_open(struct looking *work, struct error *err)
{
    static const enum pg_oid types[] = { PG_TEXT, PG_TEXT, PG_INT2, PG_TEXT, PG_TEXT, PG_INT2 };
    struct copy_look *look = work->look;
    struct session *session = work->session;
    const struct index *index = look->index;
    struct pg_array arrays[ARRAY_LEN(types)];
    struct pg_params params;
    PG_RESULT open = NULL;

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        pg_array_init(&arrays[i], &session->arena, types[i]);
    for (size_t i = 0; i < look->count; i++) {
        const struct copy_suspect *suspect = &look->suspects[i];
        const struct entity_key none = { STR_EMPTY, STR_EMPTY };

        put_key(arrays, index->source_table_id, &suspect->key);
        put_key(arrays + 3, index->copies->source_table_id,
            suspect->naming == COPY_NAMES_KEY ? &suspect->source : &none);
    }
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        pg_add_array(&params, &arrays[i]);
    TRY(pg_query(&session->pg, &sql_copies_open, &params, &open, err));
    for (int i = 0; i < PQntuples(open); i++)
        look->suspects[pg_int8(open, i, PG_ONLY_COLUMN) - 1].in_flight = true;
    return STATUS_OK;
}

enum status verify_copies_look(struct session *session, struct copy_look *look, struct error *err)
{
    struct looking work = { .session = session, .look = look };

    look->is_last = true;
    if (!look->index->copies)
        return STATUS_OK;
    if (look->keys)
        TRY(read_named(&work, err));
    else
        TRY(read_chunk(&work, err));
    look->rows = (int64_t)work.row_count;
    TRY(compare_all(&work, err));
    return look->count > 0 ? ask_open(&work, err) : STATUS_OK;
}
