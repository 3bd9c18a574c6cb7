/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_read.c - see the header. The pages of a value result from reading its members from the first
 * one on, so a query that begins in the middle of a value returns the same pages.
 */
#include "store/queries/list_read.h"

#include "domain/indexes/index_plan.h"
#include "domain/indexes/list_page.h"
#include "domain/limits.h"
#include "store/queries/list_descent.h"
#include "store/queries/list_query.h"
#include "store/queries/row_scan.h"

/*
 * Read the next entry. Its key is copied into the arena, since the addresses of pages are made from
 * it.
 */
static enum status next_entry(
    struct session *session, struct row_scan *scan, bool *found, struct entity *out, struct error *err)
{
    TRY(row_scan_next(session, scan, found, out, err));
    if (!*found)
        return STATUS_OK;
    row_scan_pass(scan, &out->key);
    out->key.partition = arena_copy(scan->arena, out->key.partition);
    out->key.row = arena_copy(scan->arena, out->key.row);
    return STATUS_OK;
}

/* ---- one page by its address ---- */

static enum status add_members(
    struct session *session, struct row_scan *scan, struct list_page *page, struct error *err)
{
    struct entity entry;
    bool more = true;

    while (more) {
        struct entity_key member;

        TRY(next_entry(session, scan, &more, &entry, err));
        if (more && index_entry_source(entry.properties, &member))
            more = list_page_add(page, entry.key.row, &member, entry.etag.version, entry.timestamp);
    }
    return row_scan_finish(session, scan, err);
}

static enum status read_members(struct session *session, struct row_scan *scan,
    const struct entity_key *address, struct list_page *page, struct error *err)
{
    enum status status;

    list_page_start(page, address, scan->arena);
    status = add_members(session, scan, page, err);
    row_scan_close(scan);
    return status;
}

static void set_range(
    struct row_scan *scan, const struct entity_key *address, const struct list_address *parts)
{
    scan->plan.range.partition = (struct interval){
        .has_low = true, .has_high = true, .low = address->partition, .high = address->partition
    };
    scan->plan.range.row = (struct interval){ .has_low = true,
        .low = parts->prefix,
        .has_high = parts->prefix.len > 0,
        .high = key_part_prefix_end(parts->prefix, scan->arena),
        .high_open = true };
    scan->has_after = parts->has_member;
    scan->after = *address;
}

/*
 * Read the page at the i-th address of the operation. *examined grows by the number of entries that
 * were read.
 */
static enum status read_address(struct session *session, const struct index *index,
    struct operation *operation, size_t i, int64_t *examined, struct error *err)
{
    const struct entity_key *address = &operation->in.get.keys[i];
    struct outcome_get *out = &operation->out.get;
    struct row_scan scan = list_query_scan(session, index, operation->arena);
    struct list_address parts;
    struct list_page page;

    out->found[i] = false;
    if (!list_page_split_row_key(index, address->row, operation->arena, &parts))
        return STATUS_OK;
    set_range(&scan, address, &parts);
    row_scan_open(&scan);
    TRY(read_members(session, &scan, address, &page, err));
    if (scan.needs_more) {
        TRY(session_begin_snapshot(session, err));
        row_scan_restart(&scan);
        TRY(read_members(session, &scan, address, &page, err));
    }
    *examined += scan.rows_examined;
    out->found[i] = list_page_finish(&page, index->index_id, &out->entities[i]);
    return STATUS_OK;
}

/*
 * Reading one page may need thousands of entries, so the number of entries is bounded as in a
 * query.
 */
static bool is_enough(const struct operation *operation, int64_t bytes, int64_t examined)
{
    int64_t enough_bytes = (int64_t)operation->in.get.enough_bytes;

    return enough_bytes > 0 && (bytes > enough_bytes || examined >= LIMIT_PAGE_EXAMINED);
}

enum status list_read_get(
    struct session *session, const struct index *index, struct operation *operation, struct error *err)
{
    const struct operation_get *in = &operation->in.get;
    struct outcome_get *out = &operation->out.get;
    int64_t bytes = 0, examined = 0;

    out->entities = ARENA_ARRAY(operation->arena, struct entity, in->count);
    out->found = ARENA_ARRAY(operation->arena, bool, in->count);
    if (in->count > 1 && !session_in_snapshot(session))
        TRY(session_begin_snapshot(session, err));
    out->count = 0;
    while (out->count < in->count && !is_enough(operation, bytes, examined)) {
        size_t i = out->count++;

        TRY(read_address(session, index, operation, i, &examined, err));
        if (out->found[i])
            bytes += (int64_t)out->entities[i].properties.bytes.len;
    }
    operation->status = STATUS_OK;
    operation->error = NULL;
    return STATUS_OK;
}

/* ---- pages in order ---- */

/* The progress of a query: the page that is being made, and its value. */
struct walk {
    const struct index *index;
    struct operation *operation;
    const struct row_scan *scan;
    struct entity_sink *sink;
    int32_t limit;
    struct list_page page;
    bool open;
    struct entity_key address; /* of the page that is being made */
    struct str prefix;
    struct entity_key last; /* the entry that was added last */
};

/*
 * Pass the page on if the query asks for it. true: the answer is full. If the page had no room, the
 * next query makes it again, so the position stays before it.
 */
static bool close_page(struct walk *walk)
{
    struct outcome_page *out = &walk->operation->out.page;
    struct entity entity;

    walk->open = false;
    if (list_page_finish(&walk->page, walk->index->index_id, &entity) &&
        list_query_asks_for(&walk->operation->in.page, &entity)) {
        if (!walk->sink->add(walk->sink, &entity))
            return true;
        out->count++;
    }
    out->position = walk->last;
    out->has_position = true;
    return out->count == (size_t)walk->limit || walk->scan->rows_examined >= LIMIT_PAGE_EXAMINED;
}

static bool same_value(const struct walk *walk, const struct entity_key *entry)
{
    return str_equal(walk->address.partition, entry->partition) && str_starts_with(entry->row, walk->prefix);
}

/*
 * Begin a page with this entry. Its address is that of the value or, if `behind` is a member of the
 * same value, that of the page behind this member.
 */
static bool open_page(struct walk *walk, const struct entity_key *entry, const struct entity_key *behind)
{
    struct list_address parts;

    if (!list_page_split_row_key(walk->index, entry->row, walk->operation->arena, &parts))
        return false;
    walk->prefix = parts.prefix;
    walk->address = (struct entity_key){ entry->partition, parts.value };
    if (behind && same_value(walk, behind))
        walk->address.row = behind->row;
    list_page_start(&walk->page, &walk->address, walk->operation->arena);
    walk->open = true;
    return true;
}

/* true: the answer is full, and the entry belongs to the next one. */
static bool take_entry(struct walk *walk, const struct entity *entry, const struct entity_key *behind)
{
    struct entity_key member;

    if (!index_entry_source(entry->properties, &member))
        return false;
    if (walk->open && !same_value(walk, &entry->key) && close_page(walk))
        return true;
    if (!walk->open && !open_page(walk, &entry->key, behind))
        return false;
    if (!list_page_add(&walk->page, entry->key.row, &member, entry->etag.version, entry->timestamp)) {
        if (close_page(walk))
            return true;
        return take_entry(walk, entry, &walk->last);
    }
    walk->last = entry->key;
    return false;
}

/* The range from the first entry of the value in which the query's range begins. */
static struct key_filter entries_of_range(const struct walk *walk)
{
    const struct key_filter *asked = &walk->operation->in.page.plan.range;
    struct key_filter filter = { .nothing = asked->nothing, .partition = asked->partition };
    struct list_address parts;

    if (asked->row.has_low && interval_is_point(&asked->partition) &&
        list_page_split_row_key(walk->index, asked->row.low, walk->operation->arena, &parts))
        filter.row = (struct interval){ .has_low = true, .low = parts.value };
    return filter;
}

/* Whether the entry lies behind the range's end, so that no later page can match. */
static bool is_past(const struct walk *walk, const struct entity_key *entry)
{
    const struct key_filter *asked = &walk->operation->in.page.plan.range;

    return !walk->open && interval_is_point(&asked->partition) && asked->row.has_high &&
           str_compare(entry->row, asked->row.high) > 0 && !str_starts_with(entry->row, asked->row.high);
}

static enum status walk_entries(struct session *session, struct row_scan *scan, struct walk *walk,
    const struct entity_key *behind, bool *full, struct error *err)
{
    struct entity entry;
    bool more = true;

    *full = false;
    while (!*full) {
        TRY(next_entry(session, scan, &more, &entry, err));
        if (!more || is_past(walk, &entry.key))
            break;
        *full = take_entry(walk, &entry, behind);
    }
    TRY(row_scan_finish(session, scan, err));
    if (!*full && walk->open && !scan->needs_more)
        *full = close_page(walk) && !scan->exhausted;
    return STATUS_OK;
}

static enum status walk_from_start(
    struct session *session, struct row_scan *scan, struct walk *walk, bool *full, struct error *err)
{
    const struct operation_page *in = &walk->operation->in.page;
    enum status status;

    walk->open = false;
    walk->operation->out.page = (struct outcome_page){
        .table_id = walk->index->index_id, .has_position = in->has_after, .position = in->after
    };
    walk->sink->reset(walk->sink);
    status = walk_entries(session, scan, walk, in->has_after ? &in->after : NULL, full, err);
    row_scan_close(scan);
    return status;
}

static enum status walk_in_one_snapshot(
    struct session *session, struct row_scan *scan, struct walk *walk, bool *full, struct error *err)
{
    TRY(walk_from_start(session, scan, walk, full, err));
    if (!scan->needs_more)
        return STATUS_OK;
    TRY(session_begin_snapshot(session, err));
    row_scan_restart(scan);
    return walk_from_start(session, scan, walk, full, err);
}

static enum status ascend(struct session *session, const struct index *index, struct operation *operation,
    struct entity_sink *sink, int32_t limit, struct error *err)
{
    const struct operation_page *in = &operation->in.page;
    struct row_scan scan = list_query_scan(session, index, operation->arena);
    struct walk walk = {
        .index = index, .operation = operation, .scan = &scan, .sink = sink, .limit = limit
    };
    enum status status;
    bool full = false;

    scan.plan.range = entries_of_range(&walk);
    scan.has_after = in->has_after;
    scan.after = in->after;
    row_scan_open(&scan);
    status = walk_in_one_snapshot(session, &scan, &walk, &full, err);
    list_query_end(&scan, full, operation);
    return status;
}

enum status list_read_page(struct session *session, const struct index *index, struct operation *operation,
    struct entity_sink *sink, int32_t limit, struct error *err)
{
    return operation->in.page.descending ? list_descent_page(session, index, operation, sink, limit, err)
                                         : ascend(session, index, operation, sink, limit, err);
}
