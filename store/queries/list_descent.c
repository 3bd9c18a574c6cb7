/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_descent.c - see the header. One scan reads the entries in descending order. The entries of
 * one value are kept until the value ends; then they are cut into pages from the first member on,
 * and the pages are passed on from the last one on.
 */
#include "store/queries/list_descent.h"

#include "domain/indexes/index_plan.h"
#include "domain/indexes/list_page.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/queries/list_query.h"
#include "store/queries/row_scan.h"

/* An entry of the value that is being read. */
struct member {
    struct str row_key;
    struct entity_key source;
    int64_t version, timestamp;
};

struct descent {
    const struct index *index;
    struct operation *operation;
    struct row_scan *scan;
    struct entity_sink *sink;
    int32_t limit;

    /* The members of the current value; they lie in this arena. */
    struct arena arena;
    bool open;
    struct entity_key address; /* of the first page of the value */
    struct str prefix;
    /* an earlier query has returned a page of this value, behind which this one begins */
    bool goes_on;
    struct member *members; /* in descending order */
    size_t count, room, bytes;

    bool is_low; /* no page below the last value can match the query */
};

/* ---- the range ---- */

static bool split(const struct descent *descent, struct str row_key, struct list_address *out)
{
    return list_page_split_row_key(descent->index, row_key, descent->operation->arena, out);
}

/* The range that covers all entries of the values in which the query's range begins and ends. */
static struct key_filter entries_of_range(const struct descent *descent)
{
    const struct key_filter *asked = &descent->operation->in.page.plan.range;
    struct key_filter filter = { .nothing = asked->nothing, .partition = asked->partition };
    struct list_address parts;

    if (!interval_is_point(&asked->partition))
        return filter;
    if (asked->row.has_low && split(descent, asked->row.low, &parts)) {
        filter.row.has_low = true;
        filter.row.low = parts.value;
    }
    if (asked->row.has_high && split(descent, asked->row.high, &parts) && parts.prefix.len > 0) {
        filter.row.has_high = filter.row.high_open = true;
        filter.row.high = key_part_prefix_end(parts.prefix, descent->operation->arena);
    }
    return filter;
}

/*
 * If the position is the first page of a value, earlier values come next; otherwise the members
 * before its address.
 */
static void start_behind(const struct descent *descent, const struct entity_key *position)
{
    struct row_scan *scan = descent->scan;
    struct list_address parts;

    scan->has_after = true;
    scan->after = *position;
    if (!split(descent, position->row, &parts))
        return;
    scan->after.row = parts.prefix;
    if (parts.has_member)
        scan->after.row = arena_format(descent->operation->arena, "%.*s\x01", STR_ARG(position->row));
}

/* ---- one value ---- */

static void forget_value(struct descent *descent)
{
    arena_cleanup(&descent->arena);
    arena_init(&descent->arena);
    descent->open = false;
    descent->members = NULL;
    descent->count = descent->room = descent->bytes = 0;
}

static bool same_value(const struct descent *descent, const struct entity_key *entry)
{
    return str_equal(descent->address.partition, entry->partition) &&
           str_starts_with(entry->row, descent->prefix);
}

/* Begin a value with this entry. false: the row key is not one of this index. */
static bool open_value(struct descent *descent, const struct entity_key *entry)
{
    const struct operation_page *in = &descent->operation->in.page;
    struct list_address parts;

    if (!list_page_split_row_key(
            descent->index, arena_copy(&descent->arena, entry->row), &descent->arena, &parts))
        return false;
    descent->address = (struct entity_key){ arena_copy(&descent->arena, entry->partition), parts.value };
    descent->prefix = parts.prefix;
    descent->goes_on = in->has_after && same_value(descent, &in->after);
    descent->open = true;
    return true;
}

static enum status add_member(
    struct descent *descent, const struct entity *entry, const struct entity_key *source, struct error *err)
{
    struct arena *arena = &descent->arena;

    descent->bytes += sizeof(struct member) + entry->key.row.len + source->partition.len + source->row.len;
    if (descent->bytes > LIMIT_LIST_DESCENT_BYTES)
        return reason_set(err, REASON_PLAN_TOO_EXPENSIVE,
            "a value of the list has too many members to be read in descending order: their entries exceed "
            "%d bytes; read it in ascending order",
            LIMIT_LIST_DESCENT_BYTES);
    if (descent->count == descent->room) {
        size_t room = descent->room > 0 ? 2 * descent->room : 64;
        struct member *members = ARENA_ARRAY(arena, struct member, room);

        if (descent->count > 0)
            memcpy(members, descent->members, descent->count * sizeof(*members));
        descent->members = members;
        descent->room = room;
    }
    descent->members[descent->count++] = (struct member){ .row_key = arena_copy(arena, entry->key.row),
        .source = { arena_copy(arena, source->partition), arena_copy(arena, source->row) },
        .version = entry->etag.version,
        .timestamp = entry->timestamp };
    return STATUS_OK;
}

/* The n-th member in ascending order. */
static const struct member *member_at(const struct descent *descent, size_t n)
{
    return &descent->members[descent->count - 1 - n];
}

/*
 * Cut the value into pages: the number of the first member of each page, and at the end the number
 * of all members.
 */
static size_t cut_pages(struct descent *descent, size_t **out)
{
    size_t *cuts = ARENA_ARRAY(&descent->arena, size_t, descent->count + 1);
    size_t units = LIST_PAGE_UNITS, count = 0;

    for (size_t i = 0; i < descent->count; i++) {
        const struct entity_key *source = &member_at(descent, i)->source;

        if (i > 0 && list_page_room(&units, source))
            continue;
        cuts[count++] = i;
        units = LIST_PAGE_UNITS;
        (void)list_page_room(&units, source); /* the first member of a page always fits */
    }
    cuts[count] = descent->count;
    *out = cuts;
    return count;
}

static bool make_page(struct descent *descent, size_t from, size_t to, struct entity *out)
{
    struct entity_key address = descent->address;
    struct list_page page;

    if (from > 0)
        address.row = member_at(descent, from - 1)->row_key;
    list_page_start(&page, &address, &descent->arena);
    for (size_t i = from; i < to; i++) {
        const struct member *member = member_at(descent, i);

        if (!list_page_add(&page, member->row_key, &member->source, member->version, member->timestamp))
            break;
    }
    page.more = to < descent->count || descent->goes_on;
    return list_page_finish(&page, descent->index->index_id, out);
}

/*
 * Pass a page on. true: the answer is full. If the page had no room, the next query makes it again.
 */
static bool give_page(struct descent *descent, const struct entity *page)
{
    struct outcome_page *out = &descent->operation->out.page;
    struct arena *arena = descent->operation->arena;

    if (list_query_asks_for(&descent->operation->in.page, page)) {
        if (!descent->sink->add(descent->sink, page))
            return true;
        out->count++;
    }
    out->position =
        (struct entity_key){ arena_copy(arena, page->key.partition), arena_copy(arena, page->key.row) };
    out->has_position = true;
    return out->count == (size_t)descent->limit;
}

/*
 * Whether the value lies below the beginning of the range, so that no page of an earlier value can
 * match.
 */
static bool is_below(const struct descent *descent)
{
    const struct key_filter *asked = &descent->operation->in.page.plan.range;

    return interval_is_point(&asked->partition) && asked->row.has_low &&
           str_compare(descent->address.row, asked->row.low) < 0;
}

/*
 * Pass on the pages of the value, if there is one. true: the answer is full; *rest: pages of the
 * value are left.
 */
static bool close_value(struct descent *descent, bool *rest)
{
    size_t *cuts, left = cut_pages(descent, &cuts);
    struct entity page;
    bool full = false;

    while (left > 0 && !full) {
        size_t before = descent->operation->out.page.count;

        if (make_page(descent, cuts[left - 1], cuts[left], &page))
            full = give_page(descent, &page);
        left -= !full || descent->operation->out.page.count > before;
    }
    *rest = left > 0;
    descent->is_low = is_below(descent);
    forget_value(descent);
    return full || descent->scan->rows_examined >= LIMIT_PAGE_EXAMINED;
}

/* ---- all values ---- */

/* *full: the answer is full, and the entry belongs to the next one. */
static enum status take_entry(
    struct descent *descent, const struct entity *entry, bool *full, struct error *err)
{
    struct entity_key source;
    bool ignored;

    *full = false;
    if (!index_entry_source(entry->properties, &source))
        return STATUS_OK;
    if (descent->open && !same_value(descent, &entry->key))
        *full = close_value(descent, &ignored);
    if (*full || descent->is_low || (!descent->open && !open_value(descent, &entry->key)))
        return STATUS_OK;
    return add_member(descent, entry, &source, err);
}

static enum status go_down(struct session *session, struct descent *descent, bool *full, struct error *err)
{
    struct row_scan *scan = descent->scan;
    struct entity entry;
    bool more = true, rest;

    *full = false;
    while (!*full && !descent->is_low) {
        TRY(row_scan_next(session, scan, &more, &entry, err));
        if (!more)
            break;
        TRY(take_entry(descent, &entry, full, err));
        row_scan_pass(scan, &entry.key);
    }
    TRY(row_scan_finish(session, scan, err));
    if (!*full && descent->open && !scan->needs_more)
        *full = close_value(descent, &rest) && (rest || !scan->exhausted);
    return STATUS_OK;
}

static enum status go_down_from_start(
    struct session *session, struct descent *descent, bool *full, struct error *err)
{
    const struct operation_page *in = &descent->operation->in.page;
    enum status status;

    forget_value(descent);
    descent->is_low = false;
    descent->operation->out.page = (struct outcome_page){
        .table_id = descent->index->index_id, .has_position = in->has_after, .position = in->after
    };
    descent->sink->reset(descent->sink);
    status = go_down(session, descent, full, err);
    row_scan_close(descent->scan);
    return status;
}

static enum status go_down_in_one_snapshot(
    struct session *session, struct descent *descent, bool *full, struct error *err)
{
    TRY(go_down_from_start(session, descent, full, err));
    if (!descent->scan->needs_more)
        return STATUS_OK;
    TRY(session_begin_snapshot(session, err));
    row_scan_restart(descent->scan);
    return go_down_from_start(session, descent, full, err);
}

enum status list_descent_page(struct session *session, const struct index *index, struct operation *operation,
    struct entity_sink *sink, int32_t limit, struct error *err)
{
    const struct operation_page *in = &operation->in.page;
    struct row_scan scan = list_query_scan(session, index, operation->arena);
    struct descent descent = {
        .index = index, .operation = operation, .scan = &scan, .sink = sink, .limit = limit
    };
    enum status status;
    bool full = false;

    scan.descending = true;
    scan.plan.range = entries_of_range(&descent);
    if (in->has_after)
        start_behind(&descent, &in->after);
    row_scan_open(&scan);
    arena_init(&descent.arena);
    status = go_down_in_one_snapshot(session, &descent, &full, err);
    arena_cleanup(&descent.arena);
    list_query_end(&scan, full, operation);
    return status;
}
