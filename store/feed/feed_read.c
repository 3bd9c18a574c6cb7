/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_read.c - see the header. One statement reads the page together with the feed's floor and
 * epoch, in one snapshot. So if a change of the page was purged, the floor shows it. Before it, in the same
 * flight, the bound is read: what the page has above it is left out (guard G47).
 */
#include "store/feed/feed_read.h"

#include "domain/limits.h"
#include "domain/reason.h"
#include "store/feed/feed_bound.h"
#include "store/session/attempt.h"
#include "store/session/resolve.h"
#include "store/sql.h"

enum column {
    CATALOGUE_VERSION,
    CATALOGUE_EPOCH,
    FLOOR,
    NEWEST,
    NUMBER,
    KIND,
    PARTITION_KEY,
    ROW_KEY,
    VERSION,
    TS,
    EXPIRES,
    PROPERTIES,
};

static enum status find_feed(
    struct session *session, const struct operation *operation, const struct table **out, struct error *err)
{
    TRY(resolve_table(session, operation, out, err));
    if ((*out)->feed_id)
        return STATUS_OK;
    reason_set(err, REASON_CHANGE_FEED_OFF, "table %.*s keeps no change feed", STR_ARG(operation->table));
    error_add_meta(err, "table", operation->table);
    return err->status;
}

/*
 * Send the statement. If the range has one partition, the database returns the properties of that
 * partition's changes only.
 */
static enum status send(
    struct session *session, const struct operation *operation, const struct table *table, struct error *err)
{
    const struct operation_changes *in = &operation->in.changes;
    bool one_partition = interval_is_point(&in->range.partition);
    struct pg_params params;

    TRY(feed_bound_send(session, table->feed_id, err));
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, table->feed_id);
    pg_add_int8(&params, in->has_position ? in->position.number : INT64_MAX);
    pg_add_int8(&params, one_partition ? LIMIT_PAGE_EXAMINED : LIMIT_PAGE_ROWS);
    pg_add_int8(&params, LIMIT_REPLY_BYTES);
    pg_add_bool(&params, !one_partition);
    pg_add_bytes(&params, one_partition ? in->range.partition.low : STR_EMPTY);
    TRY(pg_send(&session->pg, &sql_change_page, &params, err));
    return pg_sync(&session->pg, err);
}

static bool is_wanted(const struct operation *operation, const struct entity *entity)
{
    return key_filter_matches(&operation->in.changes.range, &entity->key) &&
           (!operation->within || key_range_contains(operation->within, &entity->key)) &&
           filter_matches(operation->in.changes.filter, entity);
}

/* false: the page has changes above the bound, which were left out. */
static bool take_changes(
    struct operation *operation, const struct table *table, const PGresult *result, int64_t bound)
{
    struct outcome_changes *out = &operation->out.changes;
    struct arena *arena = operation->arena;

    out->changes = ARENA_ARRAY(arena, struct change, (size_t)PQntuples(result));
    for (int row = 0; row < PQntuples(result); row++) {
        struct change *change = &out->changes[out->count];

        if (PQgetisnull(result, row, NUMBER))
            return true;
        if (pg_int8(result, row, NUMBER) > bound)
            return false;
        out->position.number = pg_int8(result, row, NUMBER);
        *change = (struct change){ .number = out->position.number,
            .kind = (enum feed_change_kind)(pg_int2(result, row, KIND) % CHANGE_LEFT_OUT),
            .is_left_out = pg_int2(result, row, KIND) >= CHANGE_LEFT_OUT,
            .entity = { .key = { pg_bytes(result, row, PARTITION_KEY), pg_bytes(result, row, ROW_KEY) },
                .etag = { .table_id = table->table_id, .version = pg_int8(result, row, VERSION) },
                .timestamp = pg_int8(result, row, TS),
                .properties = { pg_bytes(result, row, PROPERTIES) },
                .expires = pg_int8(result, row, EXPIRES) } };
        if (!is_wanted(operation, &change->entity))
            continue;
        change->entity.key.partition = arena_copy(arena, change->entity.key.partition);
        change->entity.key.row = arena_copy(arena, change->entity.key.row);
        change->entity.properties.bytes = arena_copy(arena, change->entity.properties.bytes);
        out->count++;
    }
    return true;
}

/* A position behind which nothing is left out: the end of the feed, or the bound if that is before. */
static int64_t end_of_feed(int64_t floor, int64_t newest, int64_t bound)
{
    if (newest <= bound)
        return newest;
    return bound > floor ? bound : floor;
}

static enum status read_page(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_changes *in = &operation->in.changes;
    struct outcome_changes *out = &operation->out.changes;
    const struct table *table;
    struct feed_position begin;
    PG_RESULT result = NULL;
    int64_t newest, bound;
    bool is_whole;

    TRY(find_feed(session, operation, &table, err));
    TRY(send(session, operation, table, err));
    TRY(feed_bound_take(session, &bound, err));
    TRY(pg_next(&session->pg, &result, err));
    TRY(pg_end(&session->pg, err));
    begin = (struct feed_position){ .table_id = table->table_id,
        .feed_id = table->feed_id,
        .epoch = pg_int8(result, 0, CATALOGUE_EPOCH),
        .number = pg_int8(result, 0, FLOOR) };
    newest = pg_int8(result, 0, NEWEST);
    if (pg_int8(result, 0, CATALOGUE_VERSION) != session->catalogue->version || begin.number < 0)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    *out = (struct outcome_changes){ .position = begin };
    out->position.number = end_of_feed(begin.number, newest, bound);
    if (!in->has_position)
        return STATUS_OK;
    TRY(feed_position_check(&in->position, &begin, newest, err));
    out->position.number = in->position.number;
    is_whole = take_changes(operation, table, result, bound);
    out->more = is_whole && out->position.number < newest;
    return STATUS_OK;
}

void feed_read_run(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, read_page);
}
