/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_scan.c - see the header.
 *
 * All ranges are half open, [low, high): row_bounds.h. An ascending scan moves `low`, a descending
 * one moves `high`; the statements differ only in the order.
 *
 * A round trip is bounded by the number of rows and by the bytes of each row: the statement leaves
 * out larger properties. At a row without its properties the round trip is given up, and the next
 * one asks for fewer and larger rows, beginning with that row.
 */
#include "store/queries/row_scan.h"

#include <assert.h>

#include "base/clock.h"
#include "domain/indexes/index_plan.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/queries/row_bounds.h"
#include "store/sql.h"

enum {
    /* of one round trip, unless it has at most UNCAPPED_ROWS */
    CHUNK_BYTES = LIMIT_REPLY_BYTES + LIMIT_ENTITY_BYTES,
    MAX_CHUNK = LIMIT_PAGE_ROWS + 1,
    MIN_CHUNK = 64,
    UNCAPPED_ROWS = 4, /* a round trip of so few rows has no bound on their size */
    GROWTH = 4,
    SHRINKAGE = 8,
    /* of a round trip, since the statement may read the requested number of rows of each range */
    MAX_RANGES = 16,
};

/* The columns of all statements entity_page*. */
enum page_column {
    PAGE_PARTITION,
    PAGE_ROW,
    PAGE_VERSION,
    PAGE_TS,
    PAGE_DEAD,
    PAGE_PROPERTIES,
    PAGE_EXPIRES
};

/*
 * If the plan spans several partitions, its interval of row keys does not narrow the rows that are
 * read.
 */
bool row_scan_is_exact(const struct key_plan *plan)
{
    const struct key_filter *range = &plan->range;

    return plan->points || interval_is_point(&range->partition) ||
           !(range->row.has_low || range->row.has_high);
}

/* ---- ranges ---- */

static bool in_one_partition(const struct row_scan *scan)
{
    return interval_is_point(&scan->plan.range.partition);
}

static void partition_params(const struct row_scan *scan, struct pg_params *params)
{
    const struct key_filter *range = &scan->plan.range;
    struct str low = row_bounds_low(&range->row, params->arena),
               high = row_bounds_high(&range->row, params->arena);

    if (scan->has_after && scan->descending)
        high = scan->after.row;
    else if (scan->has_after)
        low = row_bounds_successor(scan->after.row, params->arena);
    pg_add_int8(params, scan->table->table_id);
    pg_add_bytes(params, range->partition.low);
    pg_add_int2(params, index_plan_bucket(scan->table, range->partition.low));
    pg_add_bytes(params, low);
    pg_add_bytes(params, high);
}

/*
 * Cut off the rows of the first and last partition that lie outside of the range; narrow() has cut
 * off the other partitions.
 */
static void cut_to_range(
    const struct key_range *within, struct entity_key *low, struct entity_key *high, struct arena *arena)
{
    if (within->has_low && entity_key_compare(low, &within->low) < 0)
        *low = within->low;
    if (within->has_high && within->high_has_row) {
        struct entity_key behind = { within->high.partition, row_bounds_successor(within->high.row, arena) };

        if (entity_key_compare(&behind, high) < 0)
            *high = behind;
    }
}

static void table_params(const struct row_scan *scan, struct pg_params *params)
{
    const struct interval *partitions = &scan->plan.range.partition;
    struct entity_key low = { row_bounds_low(partitions, params->arena), STR_EMPTY };
    struct entity_key high = { row_bounds_high(partitions, params->arena), STR_EMPTY };

    if (scan->within)
        cut_to_range(scan->within, &low, &high, params->arena);
    if (scan->has_after && scan->descending)
        high = scan->after;
    else if (scan->has_after)
        low = (struct entity_key){ scan->after.partition,
            row_bounds_successor(scan->after.row, params->arena) };
    pg_add_int8(params, scan->table->table_id);
    pg_add_bytes(params, low.partition);
    pg_add_bytes(params, low.row);
    pg_add_bytes(params, high.partition);
    pg_add_bytes(params, high.row);
}

static void range_params(const struct row_scan *scan, struct pg_params *params)
{
    if (in_one_partition(scan))
        partition_params(scan, params);
    else
        table_params(scan, params);
}

/* ---- points ---- */

/* The n-th point in the direction of the scan. */
static const struct entity_key *point_at(const struct row_scan *scan, size_t n)
{
    return &scan->plan.points[scan->descending ? scan->plan.point_count - 1 - n : n];
}

/* Move on to the first point behind the position. */
static void skip_points(struct row_scan *scan)
{
    while (scan->has_after && scan->point < scan->plan.point_count) {
        int order = entity_key_compare(point_at(scan, scan->point), &scan->after);

        if (scan->descending ? order < 0 : order > 0)
            break;
        scan->point++;
    }
}

static void point_params(struct row_scan *scan, struct pg_params *params)
{
    struct pg_array partitions, rows, buckets;

    pg_array_init(&partitions, params->arena, PG_TEXT);
    pg_array_init(&rows, params->arena, PG_TEXT);
    pg_array_init(&buckets, params->arena, PG_INT2);
    for (scan->point_to = scan->point;
         scan->point_to < scan->plan.point_count && (int64_t)(scan->point_to - scan->point) < scan->asked;
         scan->point_to++) {
        const struct entity_key *key = point_at(scan, scan->point_to);

        pg_array_bytes(&partitions, key->partition);
        pg_array_bytes(&rows, key->row);
        pg_array_int2(&buckets, index_plan_bucket(scan->table, key->partition));
    }
    pg_add_int8(params, scan->table->table_id);
    pg_add_array(params, &partitions);
    pg_add_array(params, &rows);
    pg_add_array(params, &buckets);
}

/* ---- several ranges ---- */

/* The n-th range in the direction of the scan. */
static const struct key_filter *range_at(const struct row_scan *scan, size_t n)
{
    return &scan->ranges[scan->descending ? scan->range_count - 1 - n : n];
}

static void ranges_params(struct row_scan *scan, struct pg_params *params)
{
    struct pg_array partitions, buckets, lows, highs;

    pg_array_init(&partitions, params->arena, PG_TEXT);
    pg_array_init(&buckets, params->arena, PG_INT2);
    pg_array_init(&lows, params->arena, PG_TEXT);
    pg_array_init(&highs, params->arena, PG_TEXT);
    for (scan->range_to = scan->range; scan->range_to < scan->range_count && partitions.count < MAX_RANGES;
         scan->range_to++) {
        struct key_filter rest;

        if (!row_bounds_rest(range_at(scan, scan->range_to), scan->has_after ? &scan->after : NULL,
                scan->descending, params->arena, &rest))
            continue;
        pg_array_bytes(&partitions, rest.partition.low);
        pg_array_int2(&buckets, index_plan_bucket(scan->table, rest.partition.low));
        pg_array_bytes(&lows, rest.row.low);
        pg_array_bytes(&highs, rest.row.high);
    }
    pg_add_int8(params, scan->table->table_id);
    pg_add_array(params, &partitions);
    pg_add_array(params, &buckets);
    pg_add_array(params, &lows);
    pg_add_array(params, &highs);
}

/* ---- round trips ---- */

/*
 * A wide entity that is not returned by so few rows is too large for a reply. If the caller takes it nevertheless, it
 * is read alone.
 */
static int64_t cap_of(const struct row_scan *scan, int64_t rows)
{
    if (rows > UNCAPPED_ROWS)
        return CHUNK_BYTES / rows;
    if (!scan->table->is_wide || (scan->takes_large && rows == 1))
        return INT32_MAX;
    return scan->has_names && !scan->takes_large ? INT32_MAX : LIMIT_REPLY_BYTES;
}

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t rows_to_ask(const struct row_scan *scan)
{
    int64_t rows = scan->chunk;

    if (scan->enough > 0)
        rows = min(rows, scan->enough);
    if (scan->max_rows > 0)
        rows = min(rows, scan->max_rows - scan->rows_examined);
    return rows > 0 ? rows : 1;
}

static const struct embedded *statement_of(const struct row_scan *scan)
{
    if (scan->ranges)
        return scan->descending ? &sql_entity_page_ranges_down : &sql_entity_page_ranges;
    if (scan->plan.points)
        return &sql_entity_page_points;
    if (in_one_partition(scan))
        return scan->descending ? &sql_entity_page_partition_down : &sql_entity_page_partition;
    return scan->descending ? &sql_entity_page_down : &sql_entity_page;
}

static enum status send_version(struct session *session, struct error *err)
{
    session_asks_version(session);
    return pg_send(&session->pg, &sql_catalogue_version, NULL, err);
}

/*
 * Send the statement for the rows first and the one for the version after it: if the version is
 * unchanged, the table existed while the rows were read.
 */
static enum status begin_chunk(struct session *session, struct row_scan *scan, struct error *err)
{
    struct pg_params params;

    scan->asked = rows_to_ask(scan);
    scan->got = 0;
    scan->cap = scan->keys_only ? -1 : cap_of(scan, scan->asked);
    pg_params_init(&params, &session->arena);
    if (scan->ranges)
        ranges_params(scan, &params);
    else if (scan->plan.points)
        point_params(scan, &params);
    else
        range_params(scan, &params);
    if (!scan->plan.points)
        pg_add_int8(&params, scan->asked);
    pg_add_int4(&params, (int32_t)scan->cap);
    pg_add_names(&params, scan->names, scan->name_count, scan->has_names);
    TRY(pg_send_singly(&session->pg, statement_of(scan), &params, err));
    TRY(send_version(session, err));
    TRY(pg_sync(&session->pg, err));
    scan->is_open = true;
    return STATUS_OK;
}

static enum status check_version(struct session *session, const PGresult *version, struct error *err)
{
    if (pg_int8(version, 0, PG_ONLY_COLUMN) != session->catalogue->version)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    session_note_confirmed(session);
    return STATUS_OK;
}

/* All rows of the round trip were taken or dropped: take the version. */
static enum status end_chunk(struct session *session, struct row_scan *scan, struct error *err)
{
    PG_RESULT version = NULL;

    TRY(pg_next(&session->pg, &version, err));
    TRY(pg_end(&session->pg, err));
    scan->is_open = false;
    scan->is_checked = true;
    return check_version(session, version, err);
}

/*
 * Check the catalogue after a scan that had nothing to read: "no rows" may be answered only if the
 * table exists.
 */
static enum status check_unread(struct session *session, struct row_scan *scan, struct error *err)
{
    if (scan->is_checked)
        return STATUS_OK;
    scan->is_checked = true;
    return session_confirm(session, 0, err);
}

static enum status throw_away_rest(
    struct session *session, struct row_scan *scan, int64_t *rows, struct error *err)
{
    *rows = 0;
    while (scan->row) {
        TRY(pg_row(&session->pg, &scan->row, err));
        *rows += scan->row != NULL;
    }
    return end_chunk(session, scan, err);
}

/* End this round trip, and begin the next one if anything is left. */
static enum status next_chunk(struct session *session, struct row_scan *scan, struct error *err)
{
    TRY(end_chunk(session, scan, err));
    if (scan->plan.points) {
        scan->point = scan->point_to;
        scan->exhausted = scan->point == scan->plan.point_count;
    } else if (scan->got < scan->asked) {
        scan->range = scan->range_to;
        scan->exhausted = scan->range == scan->range_count;
    }
    if (cap_of(scan, min(scan->chunk * GROWTH, MAX_CHUNK)) >= scan->largest)
        scan->chunk = min(scan->chunk * GROWTH, MAX_CHUNK);
    return STATUS_OK;
}

enum status row_scan_refuse(const struct row_scan *scan, struct error *err)
{
    reason_set(err, REASON_ENTITY_TOO_LARGE,
        scan->has_names ? "the selected properties of an entity have more than %d bytes, the most that a "
                          "read returns: select fewer, or scan with in_parts"
                        : "the properties of an entity have more than %d bytes, the most that a read "
                          "returns: name those that are needed in select, or scan with in_parts",
        LIMIT_REPLY_BYTES);
    error_add_meta(err, "partition_key", pg_bytes(scan->row, 0, PAGE_PARTITION));
    error_add_meta(err, "row_key", pg_bytes(scan->row, 0, PAGE_ROW));
    error_add_meta_int(err, "limit", LIMIT_REPLY_BYTES);
    return err->status;
}

/* A row came without its properties: begin a new round trip with that row. */
static enum status shrink(struct session *session, struct row_scan *scan, struct error *err)
{
    int64_t ignored;

    if (scan->asked <= UNCAPPED_ROWS && !scan->takes_large)
        return row_scan_refuse(scan, err);
    TRY(throw_away_rest(session, scan, &ignored, err));
    scan->largest = scan->cap + 1;
    if (scan->asked <= UNCAPPED_ROWS)
        scan->chunk = 1;
    else
        scan->chunk = scan->asked / SHRINKAGE > UNCAPPED_ROWS ? scan->asked / SHRINKAGE : UNCAPPED_ROWS;
    skip_points(scan);
    return STATUS_OK;
}

/* ---- rows ---- */

/*
 * Restrict the points to the range; they are in order, so those in the range are next to each
 * other.
 */
static void narrow_points(const struct key_range *within, struct key_plan *plan)
{
    while (plan->point_count > 0 && !key_range_contains(within, &plan->points[plan->point_count - 1]))
        plan->point_count--;
    while (plan->point_count > 0 && !key_range_contains(within, &plan->points[0])) {
        plan->points++;
        plan->point_count--;
    }
}

/*
 * Restrict the scan to what the caller may see, so that neither the time nor the counts depend on
 * other rows. If the position lies outside, it comes from a page that was read with other
 * credentials.
 */
static void narrow(struct row_scan *scan)
{
    const struct key_range *within = scan->within;
    bool is_below;

    if (!within)
        return;
    assert(!scan->ranges && "signatures with a range do not look up in indexes");
    key_range_narrow(within, &scan->plan.range);
    if (scan->plan.points)
        narrow_points(within, &scan->plan);
    if (!scan->has_after || key_range_contains(within, &scan->after))
        return;
    is_below = within->has_low && entity_key_compare(&scan->after, &within->low) < 0;
    if (is_below != scan->descending)
        scan->has_after = false;
    else
        scan->plan.range.nothing = true;
}

static void go_to_start(struct row_scan *scan)
{
    buf_init(&scan->after_bytes, scan->arena);
    scan->has_after = scan->has_start;
    scan->after = scan->start;
    scan->rows_examined = scan->bytes_examined = scan->bytes_searched = 0;
    scan->exhausted = scan->plan.range.nothing;
    scan->point = scan->range = 0;
    if (scan->plan.points)
        skip_points(scan);
    if (scan->plan.points && scan->point == scan->plan.point_count)
        scan->exhausted = true;
}

void row_scan_open(struct row_scan *scan)
{
    narrow(scan);
    scan->has_start = scan->has_after;
    scan->start = scan->after;
    scan->chunk = scan->enough > 0 ? MAX_CHUNK : MIN_CHUNK;
    scan->is_narrow = row_scan_is_exact(&scan->plan);
    go_to_start(scan);
}

void row_scan_restart(struct row_scan *scan)
{
    assert(scan->needs_more && !scan->is_open);
    scan->one_statement = scan->needs_more = scan->is_checked = false;
    go_to_start(scan);
}

/* Read a row. false: it is dead or has expired. */
static bool read_row(struct row_scan *scan, struct entity *out)
{
    struct str properties =
        PQgetisnull(scan->row, 0, PAGE_PROPERTIES) ? STR_EMPTY : pg_bytes(scan->row, 0, PAGE_PROPERTIES);

    *out = (struct entity){
        .key = { pg_bytes(scan->row, 0, PAGE_PARTITION), pg_bytes(scan->row, 0, PAGE_ROW) },
        .etag = { .table_id = scan->table->table_id, .version = pg_int8(scan->row, 0, PAGE_VERSION) },
        .timestamp = pg_int8(scan->row, 0, PAGE_TS),
        .properties = { properties },
        .expires = PQgetisnull(scan->row, 0, PAGE_EXPIRES) ? 0 : pg_int8(scan->row, 0, PAGE_EXPIRES),
    };
    scan->rows_examined++;
    scan->bytes_examined += (int64_t)(out->key.partition.len + out->key.row.len + properties.len);
    if ((int64_t)properties.len > scan->largest)
        scan->largest = (int64_t)properties.len;
    return !pg_bool(scan->row, 0, PAGE_DEAD);
}

static bool is_paused(const struct row_scan *scan)
{
    return (scan->max_rows > 0 && scan->rows_examined >= scan->max_rows) ||
           (scan->max_bytes > 0 && scan->bytes_examined >= scan->max_bytes);
}

static bool is_cut(const struct row_scan *scan)
{
    return !scan->keys_only && PQgetisnull(scan->row, 0, PAGE_PROPERTIES);
}

static bool is_in_plan(const struct row_scan *scan, const struct entity_key *key)
{
    return (scan->plan.points || key_filter_matches(&scan->plan.range, key)) &&
           (!scan->within || key_range_contains(scan->within, key));
}

/* A wide entity that is too large for a reply is in the way only if it is passed on. */
static bool is_needed(const struct row_scan *scan)
{
    struct entity_key key = { pg_bytes(scan->row, 0, PAGE_PARTITION), pg_bytes(scan->row, 0, PAGE_ROW) };

    return !pg_bool(scan->row, 0, PAGE_DEAD) && (scan->is_narrow || is_in_plan(scan, &key));
}

enum status row_scan_next(
    struct session *session, struct row_scan *scan, bool *found, struct entity *out, struct error *err)
{
    *found = false;
    for (;;) {
        if (!scan->is_open && (scan->exhausted || is_paused(scan)))
            return STATUS_OK;
        scan->needs_more = scan->one_statement && !scan->is_open && scan->is_checked;
        if (scan->needs_more)
            return STATUS_OK;
        if (!scan->is_open)
            TRY(begin_chunk(session, scan, err));
        TRY(pg_row(&session->pg, &scan->row, err));
        if (!scan->row) {
            TRY(next_chunk(session, scan, err));
            continue;
        }
        if (is_cut(scan) && (scan->asked > UNCAPPED_ROWS || is_needed(scan))) {
            TRY(shrink(session, scan, err));
            continue;
        }
        scan->got++;
        if (read_row(scan, out) && (scan->is_narrow || is_in_plan(scan, &out->key))) {
            scan->is_pending = true;
            *found = true;
            return STATUS_OK;
        }
        row_scan_pass(scan, &out->key);
    }
}

void row_scan_pass(struct row_scan *scan, const struct entity_key *key)
{
    struct buf *bytes = &scan->after_bytes;

    bytes->len = 0;
    buf_reserve(bytes, key->partition.len + key->row.len);
    buf_append(bytes, key->partition);
    buf_append(bytes, key->row);
    scan->after.partition = str_of_bytes(bytes->data, key->partition.len);
    scan->after.row = str_of_bytes(bytes->data + key->partition.len, key->row.len);
    scan->has_after = true;
    scan->is_pending = false;
}

enum status row_scan_finish(struct session *session, struct row_scan *scan, struct error *err)
{
    bool is_pending = scan->is_pending;
    int64_t rest;

    if (!scan->is_open)
        return check_unread(session, scan, err);
    if (scan->plan.points)
        scan->exhausted = scan->point_to == scan->plan.point_count;
    TRY(throw_away_rest(session, scan, &rest, err));
    if (!scan->plan.points)
        scan->exhausted = scan->got + rest < scan->asked && scan->range_to == scan->range_count;
    scan->exhausted = scan->exhausted && !is_pending && rest == 0;
    return STATUS_OK;
}

void row_scan_close(struct row_scan *scan)
{
    PQclear(scan->row);
    scan->row = NULL;
}

/* ---- counting ---- */

enum count_column { COUNT_LIVE, COUNT_EXAMINED, COUNT_LAST_PARTITION, COUNT_LAST_ROW };

enum status row_scan_count(struct session *session, struct row_scan *scan, int64_t *count, struct error *err)
{
    bool one_partition = in_one_partition(scan);
    PG_RESULT counts = NULL;
    PG_RESULT version = NULL;
    struct pg_params params;

    *count = 0;
    if (scan->exhausted)
        return check_unread(session, scan, err);
    assert(row_scan_is_exact(&scan->plan) && !scan->plan.points && !scan->descending);
    pg_params_init(&params, &session->arena);
    range_params(scan, &params);
    pg_add_int8(&params, scan->max_rows);
    TRY(pg_send(&session->pg, one_partition ? &sql_entity_count_partition : &sql_entity_count, &params, err));
    TRY(send_version(session, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &counts, err));
    TRY(pg_next(&session->pg, &version, err));
    TRY(pg_end(&session->pg, err));
    TRY(check_version(session, version, err));
    *count = pg_int8(counts, 0, COUNT_LIVE);
    scan->rows_examined = pg_int8(counts, 0, COUNT_EXAMINED);
    scan->exhausted = scan->rows_examined < scan->max_rows;
    if (scan->rows_examined > 0) {
        struct entity_key last = { pg_bytes(counts, 0, COUNT_LAST_PARTITION),
            pg_bytes(counts, 0, COUNT_LAST_ROW) };

        row_scan_pass(scan, &last);
    }
    return STATUS_OK;
}
