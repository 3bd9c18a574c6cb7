/*
 * page_read.c - see the header.
 */
#include "store/page_read.h"

#include "domain/limits.h"
#include "store/failure.h"
#include "store/list_read.h"
#include "store/resolve.h"
#include "store/row_scan.h"

enum { MOST_ATTEMPTS = 4 };

/*
 * Walk only what the caller may see. A position outside that comes from a page read with other credentials.
 */
static void narrow(struct row_scan *scan)
{
    const struct key_range *range = scan->within;

    if (!range)
        return;
    key_range_narrow(range, &scan->filter);
    if (!scan->has_after || key_range_contains(range, &scan->after))
        return;
    if (range->has_low && entity_key_compare(&scan->after, &range->low) < 0)
        scan->has_after = false;
    else
        scan->filter.nothing = true;
}

static enum status read_rows(
    struct session *session, const struct table *table, struct operation *operation, struct error *err)
{
    const struct operation_page *in = &operation->in.page;
    struct outcome_page *out = &operation->out.page;
    struct row_scan scan = {
        .table = table,
        .filter = in->filter,
        .has_after = in->has_after,
        .after = in->after,
        .within = operation->within,
        .chunk = in->limit,
        .arena = operation->arena,
    };
    enum status status = STATUS_OK;
    bool found = true;

    narrow(&scan);
    *out = (struct outcome_page){ .table_id = table->table_id };
    out->entities = ARENA_ARRAY(operation->arena, struct entity, (size_t)in->limit);
    while (found && out->count < (size_t)in->limit && out->stats.bytes_returned < LIMIT_REPLY_BYTES) {
        status = row_scan_next(session, &scan, LIMIT_PAGE_EXAMINED, &found, &out->entities[out->count], err);
        if (status != STATUS_OK)
            break;
        if (found)
            out->stats.bytes_returned += (int64_t)out->entities[out->count++].properties.bytes.len;
    }
    row_scan_close(&scan);
    out->more = !scan.exhausted;
    out->position = scan.after;
    out->stats.access_path = access_path_of(&in->filter);
    out->stats.rows_examined = scan.rows_examined;
    out->stats.bytes_examined = scan.bytes_examined;
    out->stats.rows_returned = (int64_t)out->count;
    return status;
}

static enum status read_page(struct session *session, struct operation *operation, struct error *err)
{
    const struct table *table;

    TRY(resolve_refresh(session, operation, err));
    TRY(resolve_table(session, operation, &table, err));
    if (table->entries_of && table->entries_of->shape == INDEX_LIST)
        return list_read_page(session, table->entries_of, operation, err);
    return read_rows(session, table, operation, err);
}

void page_read_run(struct session *session, struct operation *operation)
{
    run_until_decided(session, operation, read_page, MOST_ATTEMPTS);
}
