/*
 * row_scan.c - see the header.
 */
#include "store/row_scan.h"

#include "domain/limits.h"
#include "store/sql.h"

enum {
    /* Of properties, in one round trip: what a reply can hold, and one largest entity more. */
    CHUNK_BYTES = LIMIT_REPLY_BYTES + LIMIT_ENTITY_BYTES,
};

/* A text above every key: U+10FFFF, which is two UTF-16 units, once more than it fits into a key. */
#define FOUR_TIMES(text) text text text text
#define LAST_CHARACTER "\xF4\x8F\xBF\xBF"
static const char above_every_key[] =
    FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(FOUR_TIMES(LAST_CHARACTER)))) LAST_CHARACTER;
_Static_assert(sizeof(above_every_key) - 1 == 4 * (LIMIT_KEY_UNITS / 2 + 1), "one character more than a key");

enum access_path access_path_of(const struct key_filter *filter)
{
    if (!interval_is_point(&filter->partition))
        return ACCESS_TABLE_SCAN;
    if (interval_is_point(&filter->row))
        return ACCESS_POINT;
    return filter->row.has_low || filter->row.has_high ? ACCESS_ROW_RANGE : ACCESS_PARTITION_SCAN;
}

static struct str low_of(const struct interval *interval)
{
    return interval->has_low ? interval->low : STR_EMPTY;
}

static struct str high_of(const struct interval *interval)
{
    return interval->has_high ? interval->high : STR_LITERAL(above_every_key);
}

static void partition_params(const struct row_scan *scan, struct pg_params *params)
{
    const struct key_filter *filter = &scan->filter;

    pg_add_int8(params, scan->table->table_id);
    pg_add_bytes(params, filter->partition.low);
    pg_add_int2(params, bucket_of(scan->table->table_id, filter->partition.low));
    pg_add_bytes(params, scan->has_after ? scan->after.row : low_of(&filter->row));
    pg_add_bool(params, scan->has_after);
    pg_add_bytes(params, high_of(&filter->row));
    pg_add_int8(params, scan->chunk);
    pg_add_int8(params, CHUNK_BYTES);
}

static void table_params(const struct row_scan *scan, struct pg_params *params)
{
    const struct key_filter *filter = &scan->filter;

    pg_add_int8(params, scan->table->table_id);
    pg_add_bytes(params, scan->has_after ? scan->after.partition : low_of(&filter->partition));
    pg_add_bytes(params, scan->has_after ? scan->after.row : STR_EMPTY);
    pg_add_bool(params, scan->has_after);
    pg_add_bytes(params, high_of(&filter->partition));
    pg_add_int8(params, scan->chunk);
    pg_add_int8(params, CHUNK_BYTES);
}

/* The rows first, the version after them: an unchanged version says that the table lived while they were read. */
static enum status fetch(struct session *session, struct row_scan *scan, struct error *err)
{
    bool one_partition = interval_is_point(&scan->filter.partition);
    PG_RESULT version = NULL;
    struct pg_params params;

    row_scan_close(scan);
    pg_params_init(&params, &session->arena);
    if (one_partition)
        partition_params(scan, &params);
    else
        table_params(scan, &params);
    TRY(pg_send(&session->pg, one_partition ? &sql_entity_page_partition : &sql_entity_page, &params, err));
    TRY(pg_send(&session->pg, &sql_catalogue_version, NULL, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &scan->result, err));
    TRY(pg_next(&session->pg, &version, err));
    TRY(pg_end(&session->pg, err));
    if (pg_int8(version, 0, 0) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    scan->next = 0;
    return STATUS_OK;
}

static struct entity copy_row(const struct row_scan *scan, const struct entity_key *key, int row)
{
    return (struct entity){
        .key = *key,
        .etag = { scan->table->table_id, pg_int8(scan->result, row, 2) },
        .timestamp = pg_int8(scan->result, row, 3),
        .properties = { arena_copy(scan->arena, pg_bytes(scan->result, row, 5)) },
    };
}

/* Look at one fetched row; true: it is live and matches. */
static bool examine(struct row_scan *scan, int row, struct entity *out)
{
    struct entity_key key = { pg_bytes(scan->result, row, 0), pg_bytes(scan->result, row, 1) };
    bool wanted = !pg_bool(scan->result, row, 4) && key_filter_matches(&scan->filter, &key) &&
                  (!scan->within || key_range_contains(scan->within, &key));

    key.partition = arena_copy(scan->arena, key.partition);
    key.row = arena_copy(scan->arena, key.row);
    scan->after = key;
    scan->has_after = true;
    scan->rows_examined++;
    scan->bytes_examined += (int64_t)(key.partition.len + key.row.len) + PQgetlength(scan->result, row, 5);
    if (wanted)
        *out = copy_row(scan, &key, row);
    return wanted;
}

/* A chunk that is neither full of rows nor of bytes was the last one. */
static bool was_last(const struct row_scan *scan)
{
    int64_t bytes = 0;

    for (int row = 0; row < PQntuples(scan->result); row++)
        bytes += PQgetlength(scan->result, row, 5);
    return PQntuples(scan->result) < scan->chunk && bytes < CHUNK_BYTES;
}

enum status row_scan_next(struct session *session, struct row_scan *scan, int64_t most_examined, bool *found,
    struct entity *out, struct error *err)
{
    *found = false;
    if (scan->filter.nothing)
        scan->exhausted = true;
    while (!*found && !scan->exhausted && scan->rows_examined < most_examined) {
        if (!scan->result || scan->next == PQntuples(scan->result)) {
            if (scan->result && was_last(scan))
                scan->exhausted = true;
            else
                TRY(fetch(session, scan, err));
            continue;
        }
        *found = examine(scan, scan->next++, out);
    }
    return STATUS_OK;
}

void row_scan_close(struct row_scan *scan)
{
    PQclear(scan->result);
    scan->result = NULL;
}
