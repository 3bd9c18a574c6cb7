/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_ranges.c - see the header.
 */
#include "store/short_reads/short_ranges.h"

#include "domain/indexes/index_plan.h"
#include "store/queries/row_bounds.h"
#include "store/sql.h"

static const struct embedded *const statement_texts[SHORT_FORM_END][2] = {
    [SHORT_ROWS] = { &sql_short_ranges, &sql_short_ranges_down },
    [SHORT_HITS] = { &sql_short_hits, &sql_short_hits_down },
};

void short_ranges_init(struct short_ranges *ranges, size_t reads, struct arena *arena)
{
    *ranges = (struct short_ranges){ .arena = arena,
        .items = ARENA_ARRAY(arena, struct short_range, reads * SHORT_RANGES_MAX_OF_READ),
        .statements = ARENA_ARRAY(arena, struct short_statement, reads) };
}

void short_ranges_clear(struct short_statement *statement)
{
    PQclear(statement->rows);
    statement->rows = NULL;
}

void short_ranges_close(struct short_ranges *ranges)
{
    for (size_t i = 0; i < ranges->statement_count; i++)
        short_ranges_clear(&ranges->statements[i]);
}

/* Find a statement that has room for one more read. */
static struct short_statement *find_statement(
    struct short_ranges *ranges, enum short_form form, bool descending)
{
    struct short_statement *statement;

    for (size_t i = ranges->statement_count; i > 0; i--) {
        statement = &ranges->statements[i - 1];
        if (statement->form == form && statement->descending == descending &&
            statement->reads < SHORT_RANGES_MAX_READS)
            return statement;
    }
    statement = &ranges->statements[ranges->statement_count++];
    *statement = (struct short_statement){ .form = form, .descending = descending };
    statement->last = &statement->first;
    return statement;
}

struct short_range *short_ranges_add(
    struct short_ranges *ranges, const struct short_range *beside, enum short_form form, bool descending)
{
    struct short_range *range = &ranges->items[ranges->count++];
    struct short_statement *statement = beside ? beside->statement : find_statement(ranges, form, descending);

    *range = (struct short_range){ .statement = statement };
    statement->reads += !beside;
    statement->count++;
    *statement->last = range;
    statement->last = &range->next;
    return range;
}

/* ---- the statements ---- */

struct range_arrays {
    struct pg_array tables, partitions, buckets, lows, highs, rows, bytes, sources, behind;
};

static void init_arrays(struct range_arrays *arrays, struct arena *arena)
{
    pg_array_init(&arrays->tables, arena, PG_INT8);
    pg_array_init(&arrays->partitions, arena, PG_TEXT);
    pg_array_init(&arrays->buckets, arena, PG_INT2);
    pg_array_init(&arrays->lows, arena, PG_TEXT);
    pg_array_init(&arrays->highs, arena, PG_TEXT);
    pg_array_init(&arrays->rows, arena, PG_INT8);
    pg_array_init(&arrays->bytes, arena, PG_INT8);
    pg_array_init(&arrays->sources, arena, PG_INT8);
    pg_array_init(&arrays->behind, arena, PG_INT8);
}

/*
 * A text above every key. A range that ends with it has the empty text as its end, which no other
 * range can have.
 */
static struct str end_of_keys(void)
{
    return row_bounds_high(&(struct interval){ .has_high = false }, NULL);
}

static void put_range(struct range_arrays *arrays, const struct short_range *range)
{
    struct str partition = range->keys.partition.low, high = range->keys.row.high;

    pg_array_int8(&arrays->tables, range->table->table_id);
    pg_array_bytes(&arrays->partitions, partition);
    pg_array_int2(&arrays->buckets, index_plan_bucket(range->table, partition));
    pg_array_bytes(&arrays->lows, range->keys.row.low);
    pg_array_bytes(&arrays->highs, str_equal(high, end_of_keys()) ? STR_EMPTY : high);
    pg_array_int8(&arrays->rows, range->max_rows);
    pg_array_int8(&arrays->bytes, range->max_bytes);
    pg_array_int8(&arrays->sources, range->source_table_id);
}

size_t short_ranges_sent_bytes(const struct short_ranges *ranges)
{
    size_t bytes = ranges->statement_count * end_of_keys().len;

    for (size_t i = 0; i < ranges->count; i++) {
        const struct key_filter *keys = &ranges->items[i].keys;
        bool is_bounded = !str_equal(keys->row.high, end_of_keys());

        bytes += sizeof(struct short_range) + keys->partition.low.len + keys->row.low.len +
                 (is_bounded ? keys->row.high.len : 0);
    }
    return bytes;
}

static void add_arrays(struct range_arrays *arrays, struct pg_params *params)
{
    pg_add_array(params, &arrays->tables);
    pg_add_array(params, &arrays->partitions);
    pg_add_array(params, &arrays->buckets);
    pg_add_array(params, &arrays->lows);
    pg_add_array(params, &arrays->highs);
    pg_add_array(params, &arrays->rows);
    pg_add_array(params, &arrays->bytes);
    pg_add_array(params, &arrays->sources);
    pg_add_array(params, &arrays->behind);
}

/*
 * Whether the statement must ask if the indexes of the range's table are behind: not if a range
 * before has the same table.
 */
static bool must_ask(const struct short_statement *statement, const struct short_range *range)
{
    if (!range->asks_behind)
        return false;
    for (const struct short_range *other = statement->first; other != range; other = other->next)
        if (other->asks_behind && other->source_table_id == range->source_table_id)
            return false;
    return true;
}

enum status short_ranges_send(struct session *session, const struct short_ranges *ranges,
    const struct short_statement *statement, struct error *err)
{
    struct range_arrays arrays;
    struct pg_params params;

    init_arrays(&arrays, ranges->arena);
    for (const struct short_range *range = statement->first; range; range = range->next) {
        put_range(&arrays, range);
        if (must_ask(statement, range))
            pg_array_int8(&arrays.behind, range->source_table_id);
    }
    pg_params_init(&params, ranges->arena);
    add_arrays(&arrays, &params);
    pg_add_bytes(&params, end_of_keys());
    return pg_send(&session->pg, statement_texts[statement->form][statement->descending], &params, err);
}

/* The columns of both forms, and those of one of them. */
enum column {
    COLUMN_N,
    COLUMN_CATALOGUE,
    COLUMN_BEHIND,
    ROWS_HEADS,
    ROWS_BODIES,
    /* of a hit's entity, except for the size, which is that of the entry */
    HIT_KEY = COLUMN_BEHIND + 1,
    HIT_VERSION,
    HIT_TS,
    HIT_EXPIRES,
    HIT_SIZE,
    HIT_PROPERTIES,
    HIT_NAMED,
};

/* Give a range its rows, which begin at this row of the result. Returns the row behind them. */
static int take_rows(struct short_range *range, int row)
{
    const PGresult *rows = range->statement->rows;
    int64_t n = pg_int8(rows, row, COLUMN_N);

    range->is_behind =
        range->asks_behind && !PQgetisnull(rows, row, COLUMN_BEHIND) && pg_bool(rows, row, COLUMN_BEHIND);
    if (range->statement->form == SHORT_ROWS) {
        range->rows = (struct packed_rows){ pg_bytes(rows, row, ROWS_HEADS), pg_bytes(rows, row, ROWS_BODIES),
            range->max_bytes };
        return row + 1;
    }
    /* A range without hits is a row of nulls. */
    range->first_hit = row;
    range->hits = 0;
    for (; row < PQntuples(rows) && pg_int8(rows, row, COLUMN_N) == n; row++)
        range->hits += !PQgetisnull(rows, row, HIT_KEY);
    return row;
}

static void share_rows(struct short_statement *statement)
{
    int row = 0;

    for (struct short_range *range = statement->first; range; range = range->next)
        row = take_rows(range, row);
}

enum status short_ranges_take(struct session *session, struct short_statement *statement, struct error *err)
{
    int rows;

    TRY(pg_next(&session->pg, &statement->rows, err));
    rows = PQntuples(statement->rows);
    if (rows == 0 || pg_int8(statement->rows, rows - 1, COLUMN_N) != (int64_t)statement->count)
        return error_set(
            err, STATUS_INTERNAL, "a read of %zu ranges returned %d rows", statement->count, rows);
    if (pg_int8(statement->rows, 0, COLUMN_CATALOGUE) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    share_rows(statement);
    return STATUS_OK;
}

/* ---- answers ---- */

static int64_t int8_or(const PGresult *rows, int row, int column, int64_t otherwise)
{
    return PQgetisnull(rows, row, column) ? otherwise : pg_int8(rows, row, column);
}

/* *size: of the entry's properties. false: the entry is dead, or has expired. */
static bool read_hit(const struct short_range *range, int row, struct short_hit *out, int64_t *size)
{
    const PGresult *rows = range->statement->rows;
    int64_t told = pg_int4(rows, row, HIT_SIZE);
    bool is_live = told >= 0;

    *size = is_live ? told : -1 - told;
    *out = (struct short_hit){
        .entry = { range->keys.partition.low, pg_bytes(rows, row, HIT_KEY) },
        .named.bytes = pg_bytes(rows, row, HIT_NAMED),
        .found = !PQgetisnull(rows, row, HIT_VERSION),
    };
    if (!out->found)
        return is_live;
    out->is_cut = PQgetisnull(rows, row, HIT_PROPERTIES);
    out->entity = (struct entity){
        .etag.version = pg_int8(rows, row, HIT_VERSION),
        .timestamp = pg_int8(rows, row, HIT_TS),
        .properties.bytes = pg_bytes(rows, row, HIT_PROPERTIES),
        .expires = int8_or(rows, row, HIT_EXPIRES, 0),
    };
    return is_live;
}

static bool is_wanted(const struct short_answer *answer, const struct entity_key *key)
{
    const struct entity entity = { .key = *key };

    return !answer->is_wanted || answer->is_wanted(answer->context, &entity);
}

enum taken {
    TAKEN,  /* added to the answer, or left out on purpose */
    FULL,   /* the answer is full without it */
    UNTOLD, /* the rows that were read are not enough to decide */
};

/* The rows of a range, or its hits, one after the other. */
struct reading {
    const struct short_range *range;
    struct str partition;
    struct packed_rows rows;
    int hit; /* the next one */
    int64_t count;
};

/* The rows are copied as a whole, since the result is released before the answer is sent. */
static struct reading reading_of(const struct short_range *range, struct arena *arena)
{
    return (struct reading){ .range = range,
        .partition = arena_copy(arena, range->keys.partition.low),
        .rows = { arena_copy(arena, range->rows.heads), arena_copy(arena, range->rows.bodies),
            range->max_bytes },
        .hit = range->first_hit };
}

static enum taken take_row(
    const struct reading *reading, const struct packed_row *row, struct short_answer *answer)
{
    const struct entity entity = {
        .key = { reading->partition, row->row_key },
        .etag = { .table_id = reading->range->table->table_id, .version = row->version },
        .timestamp = row->ts,
        .properties.bytes = row->properties,
        .expires = row->expires,
    };

    if (row->ts < 0 || !is_wanted(answer, &entity.key))
        return TAKEN;
    if (row->is_cut)
        return UNTOLD;
    if (!answer->sink->add(answer->sink, &entity))
        return FULL;
    answer->count++;
    return TAKEN;
}

static enum taken take_hit(const struct short_hit *hit, bool is_live, struct short_answer *answer)
{
    if (!is_live || !is_wanted(answer, &hit->entry))
        return TAKEN;
    if (!answer->take_hit(answer->taker, hit))
        return UNTOLD;
    answer->count++;
    return TAKEN;
}

static bool is_at_end(const struct reading *reading)
{
    if (reading->range->statement->form == SHORT_ROWS)
        return reading->rows.heads.len == 0;
    return reading->hit == reading->range->first_hit + reading->range->hits;
}

/* Take the next row or hit, of which there is one, into the answer. */
static enum taken take_next(
    struct reading *reading, struct short_answer *answer, struct entity_key *key, int64_t *size)
{
    struct packed_row row;
    struct short_hit hit;
    bool is_live;

    reading->count++;
    if (reading->range->statement->form == SHORT_ROWS) {
        row = packed_rows_next(&reading->rows);
        *key = (struct entity_key){ reading->partition, row.row_key };
        *size = row.size;
        return take_row(reading, &row, answer);
    }
    is_live = read_hit(reading->range, reading->hit++, &hit, size);
    *key = hit.entry;
    return take_hit(&hit, is_live, answer);
}

/*
 * Add the rows of one range. *full: the answer is full, and more rows exist. false: the rows that
 * were read are not enough to decide.
 */
static bool collect_range(const struct short_range *range, struct short_answer *answer, bool *full)
{
    struct reading reading = reading_of(range, answer->arena);

    while (answer->count < answer->limit && !is_at_end(&reading)) {
        struct entity_key key;
        int64_t size;
        enum taken taken = take_next(&reading, answer, &key, &size);

        if (taken == UNTOLD)
            return false;
        answer->rows_examined++;
        answer->bytes_examined += (int64_t)(key.partition.len + key.row.len) + size;
        *full = taken == FULL;
        if (*full)
            return true;
        answer->has_position = true;
        answer->position = key;
    }
    if (reading.count < range->max_rows && is_at_end(&reading))
        return true;
    *full = answer->count == answer->limit;
    return *full;
}

bool short_ranges_collect(const struct short_range *ranges, size_t count, struct short_answer *answer)
{
    if (answer->sink)
        answer->sink->reset(answer->sink);
    for (size_t i = 0; i < count && !answer->more; i++)
        if (!collect_range(&ranges[i], answer, &answer->more))
            return false;
    /* The rows are released with their result, so the position is copied. */
    answer->position.partition = arena_copy(answer->arena, answer->position.partition);
    answer->position.row = arena_copy(answer->arena, answer->position.row);
    return true;
}
