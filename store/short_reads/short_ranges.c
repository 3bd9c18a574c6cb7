/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_ranges.c - see the header.
 */
#include "store/short_reads/short_ranges.h"

#include "domain/indexes/index_plan.h"
#include "store/sql.h"

void short_ranges_init(struct short_ranges *ranges, size_t reads, struct arena *arena)
{
    *ranges = (struct short_ranges){ .arena = arena };
    ranges->items = ARENA_ARRAY(arena, struct short_range, reads * SHORT_RANGES_MAX_OF_READ);
}

void short_ranges_close(struct short_ranges *ranges)
{
    PQclear(ranges->up);
    PQclear(ranges->down);
    ranges->up = ranges->down = NULL;
}

struct short_range *short_ranges_add(struct short_ranges *ranges)
{
    return &ranges->items[ranges->count++];
}

/* ---- the statements ---- */

struct range_arrays {
    struct pg_array tables, partitions, buckets, lows, highs, rows, bytes;
};

static void put_range(struct range_arrays *arrays, const struct short_range *range)
{
    struct str partition = range->keys.partition.low;

    pg_array_int8(&arrays->tables, range->table->table_id);
    pg_array_bytes(&arrays->partitions, partition);
    pg_array_int2(&arrays->buckets, index_plan_bucket(range->table, partition));
    pg_array_bytes(&arrays->lows, range->keys.row.low);
    pg_array_bytes(&arrays->highs, range->keys.row.high);
    pg_array_int8(&arrays->rows, range->max_rows);
    pg_array_int8(&arrays->bytes, range->max_bytes);
}

static size_t count_of(const struct short_ranges *ranges, bool descending)
{
    size_t count = 0;

    for (size_t i = 0; i < ranges->count; i++)
        count += ranges->items[i].descending == descending;
    return count;
}

static enum status send_direction(
    struct session *session, const struct short_ranges *ranges, bool descending, struct error *err)
{
    struct range_arrays arrays;
    struct pg_params params;

    if (count_of(ranges, descending) == 0)
        return STATUS_OK;
    pg_array_init(&arrays.tables, ranges->arena, PG_INT8);
    pg_array_init(&arrays.partitions, ranges->arena, PG_TEXT);
    pg_array_init(&arrays.buckets, ranges->arena, PG_INT2);
    pg_array_init(&arrays.lows, ranges->arena, PG_TEXT);
    pg_array_init(&arrays.highs, ranges->arena, PG_TEXT);
    pg_array_init(&arrays.rows, ranges->arena, PG_INT8);
    pg_array_init(&arrays.bytes, ranges->arena, PG_INT8);
    for (size_t i = 0; i < ranges->count; i++)
        if (ranges->items[i].descending == descending)
            put_range(&arrays, &ranges->items[i]);
    pg_params_init(&params, ranges->arena);
    pg_add_array(&params, &arrays.tables);
    pg_add_array(&params, &arrays.partitions);
    pg_add_array(&params, &arrays.buckets);
    pg_add_array(&params, &arrays.lows);
    pg_add_array(&params, &arrays.highs);
    pg_add_array(&params, &arrays.rows);
    pg_add_array(&params, &arrays.bytes);
    return pg_send(&session->pg, descending ? &sql_short_ranges_down : &sql_short_ranges, &params, err);
}

enum status short_ranges_send(struct session *session, const struct short_ranges *ranges, struct error *err)
{
    TRY(send_direction(session, ranges, false, err));
    return send_direction(session, ranges, true, err);
}

enum column {
    COLUMN_N,
    COLUMN_CATALOGUE,
    COLUMN_ROW,
    COLUMN_VERSION,
    COLUMN_TS,
    COLUMN_DEAD,
    COLUMN_SIZE,
    COLUMN_PROPERTIES,
    COLUMN_EXPIRES
};

/* Give each range its rows. A range without any has one row, of nulls. */
static void share_rows(struct short_ranges *ranges, const PGresult *rows, bool descending)
{
    int row = 0, n = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        struct short_range *range = &ranges->items[i];

        if (range->descending != descending)
            continue;
        range->rows = rows;
        range->first = row;
        for (n++; row < PQntuples(rows) && pg_int8(rows, row, COLUMN_N) == n; row++)
            range->count += !PQgetisnull(rows, row, COLUMN_VERSION);
    }
}

static enum status take_direction(
    struct session *session, struct short_ranges *ranges, bool descending, PGresult **out, struct error *err)
{
    size_t count = count_of(ranges, descending);
    int rows;

    if (count == 0)
        return STATUS_OK;
    TRY(pg_next(&session->pg, out, err));
    rows = PQntuples(*out);
    if (rows > 0 && pg_int8(*out, 0, COLUMN_CATALOGUE) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    if (rows == 0 || pg_int8(*out, rows - 1, COLUMN_N) != (int64_t)count)
        return error_set(err, STATUS_INTERNAL, "a read of %zu ranges brought %d rows", count, rows);
    share_rows(ranges, *out, descending);
    return STATUS_OK;
}

enum status short_ranges_take(struct session *session, struct short_ranges *ranges, struct error *err)
{
    TRY(take_direction(session, ranges, false, &ranges->up, err));
    return take_direction(session, ranges, true, &ranges->down, err);
}

/* ---- answers ---- */

/* What a row is, its bytes counted; *is_cut: its properties are not all there. false: it is dead. */
static bool read_row(
    const struct short_range *range, int row, struct short_answer *answer, struct entity *out, bool *is_cut)
{
    const PGresult *rows = range->rows;
    int64_t size = pg_int4(rows, row, COLUMN_SIZE);

    *out = (struct entity){
        .key = { range->keys.partition.low, pg_bytes(rows, row, COLUMN_ROW) },
        .etag = { .table_id = range->table->table_id, .version = pg_int8(rows, row, COLUMN_VERSION) },
        .timestamp = pg_int8(rows, row, COLUMN_TS),
        .properties.bytes = pg_bytes(rows, row, COLUMN_PROPERTIES),
        .expires = PQgetisnull(rows, row, COLUMN_EXPIRES) ? 0 : pg_int8(rows, row, COLUMN_EXPIRES),
    };
    answer->rows_examined++;
    answer->bytes_examined += (int64_t)(out->key.partition.len + out->key.row.len) + size;
    *is_cut = size > (int64_t)out->properties.bytes.len;
    return !pg_bool(rows, row, COLUMN_DEAD);
}

static bool is_wanted(const struct short_answer *answer, const struct entity *entity)
{
    return !answer->is_wanted || answer->is_wanted(answer->context, entity);
}

/* The rows of one range. *full: the answer is, and there are more of them. false: they are not enough to tell. */
static bool collect_range(const struct short_range *range, struct short_answer *answer, bool *full)
{
    for (int i = 0; i < range->count; i++) {
        struct entity entity;
        bool is_cut;

        *full = answer->count == answer->limit;
        if (*full)
            return true;
        if (read_row(range, range->first + i, answer, &entity, &is_cut) && is_wanted(answer, &entity)) {
            if (is_cut && !answer->is_cut_right)
                return false;
            *full = !answer->sink->add(answer->sink, &entity);
            if (*full)
                return true;
            answer->count++;
        }
        answer->has_position = true;
        answer->position = entity.key;
    }
    if (range->count < range->max_rows)
        return true;
    *full = answer->count == answer->limit;
    return *full;
}

bool short_ranges_collect(const struct short_range *ranges, size_t count, struct short_answer *answer)
{
    answer->sink->reset(answer->sink);
    for (size_t i = 0; i < count && !answer->more; i++)
        if (!collect_range(&ranges[i], answer, &answer->more))
            return false;
    /* The rows go with their results. */
    answer->position.partition = arena_copy(answer->arena, answer->position.partition);
    answer->position.row = arena_copy(answer->arena, answer->position.row);
    return true;
}
