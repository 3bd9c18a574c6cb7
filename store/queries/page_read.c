/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_read.c - see the header.
 */
#include "store/queries/page_read.h"

#include "domain/indexes/query_advice.h"
#include "domain/limits.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "store/queries/collect.h"
#include "store/queries/shape_reader.h"
#include "store/session/attempt.h"
#include "store/session/resolve.h"

/* ---- what all queries share ---- */

enum status page_read_check_plan(
    const struct table *table, const struct operation *operation, struct error *err)
{
    const struct operation_page *in = &operation->in.page;
    enum access_path path = access_path_of(&in->plan), max = in->max_plan;

    if (!max)
        max = table->default_max_plan;
    if (!max || path <= max)
        return STATUS_OK;
    reason_set(err, REASON_PLAN_TOO_EXPENSIVE,
        "the query would take the path %s, %s allows %s at most: ExplainQuery says what would help",
        access_path_name(path), in->max_plan ? "its max_plan" : "the table's default_max_plan",
        access_path_name(max));
    error_add_meta(err, "table", operation->table);
    error_add_meta(err, "actual", str_of(access_path_name(path)));
    error_add_meta(err, "allowed", str_of(access_path_name(max)));
    return err->status;
}

/* Find the table, and begin the outcome with its id. */
static enum status find_table(
    struct session *session, struct operation *operation, const struct table **out, struct error *err)
{
    TRY(resolve_table(session, operation, out, err));
    operation->out.page = (struct outcome_page){ .table_id = (*out)->table_id };
    return STATUS_OK;
}

struct page_filter {
    const struct operation_page *in;
    const struct filter *filter;
    struct row_scan *scan;
};

static bool matches(const void *context, const struct entity *entity)
{
    const struct page_filter *page = context;

    page->scan->bytes_searched += filter_searched_bytes(page->filter, entity);
    return filter_matches(page->filter, entity);
}

/* Of a wide entity no more is returned by select than of any other: a client could not receive it. */
static enum status check_selected(const void *context, const struct entity *entity, struct error *err)
{
    const struct page_filter *page = context;
    struct arena before = *page->scan->arena;
    struct property_list selected;

    if (entity->properties.bytes.len <= LIMIT_REPLY_BYTES)
        return STATUS_OK;
    selected =
        property_list_select(entity->properties, page->in->select, page->in->select_count, page->scan->arena);
    arena_rewind(page->scan->arena, &before);
    return selected.bytes.len <= LIMIT_REPLY_BYTES ? STATUS_OK : row_scan_refuse(page->scan, err);
}

static struct row_scan scan_of(const struct table *table, const struct operation *operation)
{
    const struct operation_page *in = &operation->in.page;

    return (struct row_scan){
        .table = table,
        .plan = in->plan,
        .descending = in->descending,
        .has_after = in->has_after,
        .after = in->after,
        .within = operation->within,
        .takes_large = in->takes_large,
        .max_rows = LIMIT_PAGE_EXAMINED,
        .max_bytes = LIMIT_PAGE_EXAMINED_BYTES,
        .max_searched = LIMIT_PAGE_SEARCHED_BYTES,
        .arena = operation->arena,
    };
}

/* What a page returns, and what its filter tests: of a spread entity no other property is read. */
static void set_names(struct row_scan *scan, const struct operation_page *in)
{
    const struct str *tested;
    size_t tested_count = filter_names(in->filter, scan->arena, &tested);
    struct str *names = ARENA_ARRAY(scan->arena, struct str, in->select_count + tested_count);

    for (size_t i = 0; i < in->select_count; i++)
        names[scan->name_count++] = in->select[i];
    for (size_t i = 0; i < tested_count; i++)
        names[scan->name_count++] = tested[i];
    scan->names = names;
    scan->has_names = true;
}

static void set_outcome(
    struct outcome_page *out, const struct operation_page *in, const struct row_scan *scan, int64_t count)
{
    out->table_id = scan->table->table_id;
    out->count = (size_t)count;
    out->more = !scan->exhausted;
    out->has_position = scan->has_after;
    out->position = scan->after;
    out->stats.access_path = access_path_of(&in->plan);
    out->stats.rows_examined = scan->rows_examined;
    out->stats.bytes_examined = scan->bytes_examined;
    out->stats.rows_returned = count;
}

static enum status collect(struct session *session, struct operation *operation, struct row_scan *scan,
    struct entity_sink *sink, int64_t limit, struct error *err)
{
    const struct operation_page *in = &operation->in.page;
    const struct page_filter filter = { in, in->filter, scan };
    const struct collection collection = {
        .scan = scan,
        .is_wanted = in->plan.exact ? NULL : matches,
        .check = scan->has_names && in->select_count > 0 && !in->takes_large ? check_selected : NULL,
        .context = &filter,
        .sink = sink,
        .limit = limit,
    };
    int64_t count;

    TRY(collect_entities(session, &collection, &count, err));
    set_outcome(&operation->out.page, in, scan, count);
    return STATUS_OK;
}

/* ---- pages ---- */

static enum status read_into(
    struct session *session, struct operation *operation, struct entity_sink *sink, struct error *err)
{
    const struct operation_page *in = &operation->in.page;
    const struct shape_reader *reader;
    const struct table *table;
    struct row_scan scan;

    TRY(find_table(session, operation, &table, err));
    TRY(page_read_check_plan(table, operation, err));
    reader = shape_reader_find(table);
    if (reader)
        return reader->page(session, table->entries_of, operation, sink, in->limit, err);
    scan = scan_of(table, operation);
    if (table->is_wide && in->select_count > 0)
        set_names(&scan, in);
    return collect(session, operation, &scan, sink, in->limit, err);
}

static enum status read_page(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_page *in = &operation->in.page;
    struct entity_list list;

    if (in->sink)
        return read_into(session, operation, in->sink, err);
    collect_list_init(&list, (size_t)in->limit, operation->arena);
    TRY(read_into(session, operation, &list.sink, err));
    operation->out.page.entities = list.entities;
    operation->out.page.stats.bytes_returned = list.property_bytes;
    return STATUS_OK;
}

void page_read_run(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, read_page);
}

enum status page_read_in_snapshot(struct session *session, struct operation *operation, struct error *err)
{
    return read_page(session, operation, err);
}

/* ---- counts ---- */

static void reset_count(struct entity_sink *sink)
{
    (void)sink;
}

static bool accept_entity(struct entity_sink *sink, const struct entity *entity)
{
    (void)sink;
    (void)entity;
    return true;
}

/* Count inside the database. */
static enum status count_range(
    struct session *session, struct row_scan *scan, struct operation *operation, struct error *err)
{
    int64_t count;

    scan->max_rows = LIMIT_COUNT_EXAMINED;
    row_scan_open(scan);
    TRY(row_scan_count(session, scan, &count, err));
    set_outcome(&operation->out.page, &operation->in.page, scan, count);
    return STATUS_OK;
}

/* The direction does not matter for a count, so it is always ascending. */
static enum status count_page(struct session *session, struct operation *operation, struct error *err)
{
    const struct key_plan *plan = &operation->in.page.plan;
    struct entity_sink sink = { reset_count, accept_entity };
    const struct table *table;
    struct row_scan scan;

    operation->in.page.descending = false;
    TRY(find_table(session, operation, &table, err));
    TRY(page_read_check_plan(table, operation, err));
    if (shape_reader_find(table))
        return shape_reader_find(table)->page(
            session, table->entries_of, operation, &sink, LIMIT_PAGE_ROWS, err);
    scan = scan_of(table, operation);
    scan.keys_only = plan->exact;
    if (table->is_wide)
        set_names(&scan, &operation->in.page);
    if (plan->exact && !plan->points && row_scan_is_exact(plan))
        return count_range(session, &scan, operation, err);
    return collect(session, operation, &scan, &sink, INT64_MAX, err);
}

void page_read_count(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, count_page);
}

/* ---- explaining ---- */

static enum status explain(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_page *in = &operation->in.page;
    struct outcome_page *out = &operation->out.page;
    const struct table *table;

    TRY(find_table(session, operation, &table, err));
    TRY(session_confirm(
        session, operation_times_arrived_us(operation), err)); /* nothing else asks the database */
    out->stats.access_path = access_path_of(&in->plan);
    out->stats.rows_examined = (int64_t)in->plan.point_count;
    /*
     * The suggestions name the table's indexes, whose keys a caller with a limited key range may
     * not see.
     */
    if (!operation->within)
        query_advice_make(
            in->filter, &in->plan, table, operation->arena, &out->suggestions, &out->suggestion_count);
    return STATUS_OK;
}

void page_read_explain(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, explain);
}
