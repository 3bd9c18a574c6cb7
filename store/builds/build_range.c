/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range.c - see the header.
 */
#include "store/builds/build_range.h"

#include "domain/indexes/index_names.h"
#include "store/sql.h"

enum {
    CHUNK_ROWS = 2000,
    /* of properties, divided by the number of indexes that may copy them */
    CHUNK_BYTES = 8 * 1024 * 1024,
    /*
     * of one entity, divided by the same number; in most chunks all entities are smaller, so their
     * sizes are not summed up
     */
    SMALL_BYTES = 16 * 1024,
};

size_t build_range_list_candidates(const struct table *table, struct pg_array *out)
{
    size_t count = 0;

    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = table->indexes[i];

        if (index->state != INDEX_BUILDING || !index_has_manifest(index))
            continue;
        pg_array_int8(out, index->index_id);
        count++;
    }
    return count;
}

static struct entity_key key_at(const PGresult *rows, int row)
{
    return (struct entity_key){ pg_bytes(rows, row, ROW_PARTITION), pg_bytes(rows, row, ROW_ROW) };
}

static void take_row(struct walk_key *key, const struct table *table, const PGresult *rows, int row)
{
    *key = (struct walk_key){ .source = { .table_id = table->table_id,
                                  .table = table,
                                  .key = key_at(rows, row),
                                  .source = { .live = true,
                                      .version = pg_int8(rows, row, ROW_VERSION),
                                      .ts = pg_int8(rows, row, ROW_TS),
                                      .properties = { pg_bytes(rows, row, ROW_PROPERTIES) },
                                      .expires = pg_int8(rows, row, ROW_EXPIRES) } } };
    key->source.bucket = entity_key_bucket(table->table_id, key->source.key.partition);
}

/*
 * The number of rows before the first one whose properties were left out. *is_cut: the chunk ends
 * before rows that exist.
 */
static size_t count_rows(const struct build_range *range, const PGresult *rows, bool *is_cut)
{
    int count = PQntuples(rows);

    *is_cut = count == CHUNK_ROWS;
    for (int i = 0; i < count; i++) {
        struct entity_key key = key_at(rows, i);

        if (range->has_bound && entity_key_compare(&key, &range->bound) > 0) {
            *is_cut = false;
            return (size_t)i;
        }
        if (i > 0 && PQgetisnull(rows, i, ROW_PROPERTIES)) {
            range->walk->has_large = true;
            *is_cut = true;
            return (size_t)i;
        }
    }
    return (size_t)count;
}

/* Make the keys of the chunk from the rows. The keys borrow from the rows. */
static void take_rows(struct build_range *range, const PGresult *rows, struct arena *arena)
{
    struct build_walk *walk = range->walk;
    bool is_cut;

    range->count = count_rows(range, rows, &is_cut);
    range->keys = ARENA_ARRAY(arena, struct walk_key, range->count);
    for (size_t i = 0; i < range->count; i++)
        take_row(&range->keys[i], range->table, rows, (int)i);
    walk->rows = (int64_t)range->count;
    walk->is_last = !is_cut && !range->has_bound;
    walk->has_end = range->count > 0 || range->has_bound;
    if (!is_cut && range->has_bound)
        walk->end = range->bound;
    else if (range->count > 0)
        walk->end = range->keys[range->count - 1].source.key;
    walk->end = (struct entity_key){ arena_copy(walk->arena, walk->end.partition),
        arena_copy(walk->arena, walk->end.row) };
}

/*
 * Report the end of the chunk to the turn, once. A repeated attempt reads up to the same key,
 * because the next chunk has begun behind that key.
 */
static void report_end(struct build_walk *walk)
{
    const struct build_walk_start *start = walk->start;

    if (!walk->turn)
        return;
    if (walk->is_last || (start->has_bound && entity_key_compare(&walk->end, &start->bound) >= 0))
        turn_stop(walk->turn);
    else
        turn_pass(walk->turn, &walk->end);
    walk->turn = NULL;
    walk->is_end_reported = !walk->is_last;
    walk->reported_end = walk->end;
}

/* The statement with the sum of sizes cannot lock rows. */
static const struct embedded *statement_of(const struct build_range *range, bool has_large)
{
    if (range->locks_entities)
        return &sql_walk_rows_locked;
    return has_large ? &sql_walk_rows_bounded : &sql_walk_rows;
}

/*
 * Without has_large, the statement returns the properties of small rows only. With has_large, it
 * returns the properties of consecutive rows until their sum exceeds the bound.
 */
static enum status query_rows(
    struct session *session, const struct build_range *range, PGresult **rows, struct error *err)
{
    bool has_large = range->walk->has_large && !range->locks_entities;
    int64_t copies = range->table->index_count > 0 ? (int64_t)range->table->index_count : 1;
    const struct str *names;
    size_t name_count = index_names_of_table(range->table, &session->arena, &names);
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, range->table->table_id);
    pg_add_bytes(&params, range->from.partition);
    pg_add_bytes(&params, range->from.row);
    pg_add_bool(&params, range->walk->position.has_from);
    pg_add_int8(&params, CHUNK_ROWS);
    pg_add_int8(&params, (has_large ? CHUNK_BYTES : SMALL_BYTES) / copies);
    if (!range->locks_entities)
        pg_add_names(&params, names, name_count, true);
    return pg_query(&session->pg, statement_of(range, has_large), &params, rows, err);
}

enum status build_range_read_rows(
    struct session *session, struct build_range *range, PGresult **rows, struct error *err)
{
    TRY(query_rows(session, range, rows, err));
    if (PQntuples(*rows) > 0 && PQgetisnull(*rows, 0, ROW_PROPERTIES)) {
        PQclear(*rows);
        *rows = NULL;
        range->walk->has_large = true;
        range->walk->is_unfit = range->locks_entities;
        if (range->walk->is_unfit)
            return STATUS_OK;
        TRY(query_rows(session, range, rows, err));
    }
    take_rows(range, *rows, &session->arena);
    report_end(range->walk);
    return STATUS_OK;
}

void build_range_params(const struct build_range *range, struct arena *arena, struct pg_params *params)
{
    const struct entity_key *first = &range->keys[0].source.key;
    const struct entity_key *last = &range->keys[range->count - 1].source.key;

    pg_params_init(params, arena);
    pg_add_int8(params, range->table->table_id);
    pg_add_bytes(params, first->partition);
    pg_add_bytes(params, first->row);
    pg_add_bytes(params, last->partition);
    pg_add_bytes(params, last->row);
}

struct walk_key *build_range_find_key(struct build_range *range, size_t *next, const PGresult *rows, int row)
{
    struct entity_key wanted = key_at(rows, row);

    for (; *next < range->count; ++*next) {
        int order = entity_key_compare(&range->keys[*next].source.key, &wanted);

        if (order == 0)
            return &range->keys[(*next)++];
        if (order > 0)
            break;
    }
    return NULL;
}

enum state_column { STATE_APPLIED = ROW_VERSION, STATE_MANIFEST, STATE_CTID };

/* Set the state rows of the chunk's keys. The keys borrow from the rows. */
static void take_states(struct build_range *range, const PGresult *rows, struct arena *arena)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(rows); i++) {
        struct walk_key *key = build_range_find_key(range, &next, rows, i);

        if (!key)
            continue;
        key->was = pg_bytes(rows, i, STATE_MANIFEST);
        key->source.applied = pg_int8(rows, i, STATE_APPLIED);
        key->source.ctid = pg_bytes(rows, i, STATE_CTID);
        key->source.is_undecodable = !manifest_decode(key->was, arena, &key->source.stored);
    }
}

enum status build_range_send_letters(
    struct session *session, const struct build_range *range, struct error *err)
{
    struct pg_array candidates;
    struct pg_params params;

    build_range_params(range, &session->arena, &params);
    pg_array_init(&candidates, &session->arena, PG_INT8);
    build_range_list_candidates(range->table, &candidates);
    pg_add_array(&params, &candidates);
    return pg_send(&session->pg, &sql_walk_letters, &params, err);
}

enum status build_range_read_states(
    struct session *session, struct build_range *range, PGresult **states, struct error *err)
{
    struct pg_params params;
    PG_RESULT letters = NULL;
    size_t next = 0;

    build_range_params(range, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_walk_states, &params, err));
    TRY(build_range_send_letters(session, range, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, states, err));
    TRY(pg_next(&session->pg, &letters, err));
    TRY(pg_end(&session->pg, err));
    take_states(range, *states, &session->arena);
    for (int i = 0; i < PQntuples(letters); i++) {
        struct walk_key *key = build_range_find_key(range, &next, letters, i);

        if (key)
            key->disposition = KEY_OTHER;
    }
    return STATUS_OK;
}
