/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_page.c - see the header.
 */
#include "store/short_reads/short_page.h"

#include "store/queries/collect.h"
#include "store/queries/page_read.h"
#include "store/queries/row_bounds.h"
#include "store/queries/shape_reader.h"
#include "store/session/resolve.h"

/* ---- which ---- */

bool short_page_may_be(const struct operation *operation)
{
    const struct operation_page *in = &operation->in.page;
    const struct key_filter *range = &in->plan.range;
    bool is_small = in->limit <= SHORT_RANGES_MAX_ROWS;

    if (!in->plan.exact || range->nothing || !interval_is_point(&range->partition) ||
        operation->wait_for_transaction.len > 0)
        return false;
    if (in->plan.points)
        return in->plan.point_count == 1 && !in->has_after;
    /* A whole partition, or what follows a full page, is seldom short. */
    return is_small || (range->row.has_low && range->row.has_high && !in->has_after);
}

/* ---- planning ---- */

enum status short_page_resolve(
    const struct session *session, struct operation *operation, struct short_page *out, struct error *err)
{
    *out = (struct short_page){ .operation = operation };
    return resolve_table(session, operation, &out->table, err);
}

static struct interval interval_of(struct str key)
{
    return (struct interval){ .has_low = true, .has_high = true, .low = key, .high = key };
}

/*
 * If the caller may not see the position, it comes from a page that was read with other
 * credentials.
 */
static bool is_position_seen(const struct operation *operation)
{
    const struct operation_page *in = &operation->in.page;

    return !operation->within || !in->has_after || key_range_contains(operation->within, &in->after);
}

static struct key_filter keys_of(const struct operation *operation)
{
    const struct key_plan *plan = &operation->in.page.plan;
    struct key_filter keys = plan->range;

    if (plan->points)
        keys = (struct key_filter){ .partition = interval_of(plan->points[0].partition),
            .row = interval_of(plan->points[0].row) };
    if (operation->within)
        key_range_narrow(operation->within, &keys);
    return keys;
}

bool short_page_plan(struct short_page *page, struct short_ranges *ranges)
{
    struct operation *operation = page->operation;
    const struct operation_page *in = &operation->in.page;
    struct key_filter keys = keys_of(operation), rest;
    struct short_range *range;
    struct error ignored;

    if (shape_reader_find(page->table) || page->table->is_wide || !is_position_seen(operation) ||
        keys.nothing || !interval_is_point(&keys.partition) ||
        page_read_check_plan(page->table, operation, &ignored) != STATUS_OK ||
        !row_bounds_rest(&keys, in->has_after ? &in->after : NULL, in->descending, operation->arena, &rest))
        return false;
    range = page->range = short_ranges_add(ranges, NULL, SHORT_ROWS, in->descending);
    range->table = page->table;
    range->keys = rest;
    range->max_rows = (in->limit < SHORT_RANGES_MAX_ROWS ? in->limit : SHORT_RANGES_MAX_ROWS) + 1;
    range->max_bytes = SHORT_RANGES_MAX_BYTES / range->max_rows;
    return true;
}

/* ---- taking the rows ---- */

static bool is_seen(const void *within, const struct entity *entity)
{
    return key_range_contains(within, &entity->key);
}

static bool collect(struct short_page *page, struct entity_sink *sink)
{
    struct operation *operation = page->operation;
    const struct operation_page *in = &operation->in.page;
    struct short_answer answer = { .is_wanted = operation->within ? is_seen : NULL,
        .context = operation->within,
        .sink = sink,
        .limit = in->limit,
        .arena = operation->arena,
        .has_position = in->has_after,
        .position = in->after };

    if (!short_ranges_collect(page->range, 1, &answer))
        return false;
    operation->out.page = (struct outcome_page){ .table_id = page->table->table_id,
        .count = (size_t)answer.count,
        .more = answer.more,
        .has_position = answer.has_position,
        .position = answer.position,
        .stats = { .access_path = access_path_of(&in->plan),
            .rows_examined = answer.rows_examined,
            .bytes_examined = answer.bytes_examined,
            .rows_returned = answer.count } };
    return true;
}

bool short_page_take(struct short_page *page)
{
    struct operation *operation = page->operation;
    const struct operation_page *in = &operation->in.page;
    struct outcome_page *out = &operation->out.page;
    struct entity_list list;

    if (in->sink)
        return collect(page, in->sink);
    collect_list_init(&list, (size_t)page->range->max_rows, operation->arena);
    list.borrows = true;
    if (!collect(page, &list.sink))
        return false;
    out->entities = list.entities;
    out->stats.bytes_returned = list.property_bytes;
    return true;
}
