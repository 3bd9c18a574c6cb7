/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_operations.h - operations on queries, counts and scans, a page at a time.
 */
#ifndef DOMAIN_OPERATIONS_QUERY_OPERATIONS_H
#define DOMAIN_OPERATIONS_QUERY_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "domain/entities/entity.h"
#include "domain/filter/access_path.h"
#include "domain/filter/filter.h"
#include "domain/keys/key_range.h"

struct scan_snapshot;

/*
 * Receives entities one by one, in order, while they are read, so that no layer has to collect
 * them. Called in threads of the store, before done().
 */
struct entity_sink {
    /* Begin, or begin again: drop the entities that were added so far. */
    void (*reset)(struct entity_sink *sink);
    /*
     * Add an entity, which is borrowed for the call. false: the sink is full and has not added it.
     * The first entity is always added.
     */
    bool (*add)(struct entity_sink *sink, const struct entity *entity);
};

struct operation_page {
    const struct filter *filter; /* NULL: everything */
    struct str filter_text;      /* range deletes only: the job compiles the filter again */
    struct key_plan plan;        /* the keys among which its matches lie: filter_key_plan */
    bool descending;
    enum access_path max_plan; /* a more expensive access path is refused; 0: the table's default */
    bool has_after;
    /* the position: only rows after this key, in the direction of the query */
    struct entity_key after;
    int32_t limit;            /* 1..LIMIT_PAGE_ROWS; pages only */
    struct entity_sink *sink; /* pages only; NULL: collect them in the outcome */
    /* the properties that the reply will have, so that no others need be read; 0: all */
    const struct str *select;
    size_t select_count;
    bool of_scan; /* one of the pages of ScanEntities */
    /* the sink accepts an entity with more than LIMIT_REPLY_BYTES; otherwise the page is refused */
    bool takes_large;
    /* the page is read in this snapshot of its scan; NULL: in one of its own */
    struct scan_snapshot *snapshot;
};

struct query_stats {
    enum access_path access_path;
    int64_t rows_examined, bytes_examined, rows_returned, bytes_returned;
};

struct outcome_page {
    struct entity *entities; /* without a sink */
    size_t count;            /* number of entities read; CountEntities: of matches */
    bool more;               /* more may follow behind `position` */
    bool has_position;       /* false: nothing was examined and the query had no position */
    struct entity_key position;
    int64_t table_id; /* the table that a page token is bound to */
    /* with a snapshot: when it was taken, and when it ends at the latest, in microseconds since 1970 */
    int64_t snapshot_taken_us, snapshot_until_us;
    struct query_stats stats;
    struct str *suggestions; /* ExplainQuery */
    size_t suggestion_count;
};

#endif
