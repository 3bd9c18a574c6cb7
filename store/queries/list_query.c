/* SPDX-License-Identifier: Apache-2.0 */
/*
 * list_query.c - see the header.
 */
#include "store/queries/list_query.h"

enum { CHUNK = 1000 };

struct row_scan list_query_scan(const struct session *session, const struct index *index, struct arena *arena)
{
    return (struct row_scan){ .table = catalogue_find_id(session->catalogue, index->index_id),
        .one_statement = !session_in_snapshot(session),
        .enough = CHUNK,
        .arena = arena };
}

/* The plan's range includes the points, and other keys too, so the points are checked here. */
bool list_query_asks_for(const struct operation_page *query, const struct entity *page)
{
    return key_filter_matches(&query->plan.range, &page->key) &&
           ((query->plan.exact && !query->plan.points) || filter_matches(query->filter, page));
}

void list_query_end(const struct row_scan *scan, bool more, struct operation *operation)
{
    struct outcome_page *out = &operation->out.page;

    out->more = more;
    out->stats.access_path = access_path_of(&operation->in.page.plan);
    out->stats.rows_examined = scan->rows_examined;
    out->stats.bytes_examined = scan->bytes_examined;
    out->stats.rows_returned = (int64_t)out->count;
}
