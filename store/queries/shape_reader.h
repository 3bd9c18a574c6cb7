/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_reader.h - reads tables whose rows are not entities as they stand: one reader for each such
 * shape of an index.
 *
 * Callers' own tables, and shapes whose entries are entities, have no reader: read_batch and
 * row_scan read their rows.
 */
#ifndef STORE_QUERIES_SHAPE_READER_H
#define STORE_QUERIES_SHAPE_READER_H

#include "domain/operations/operation.h"

struct session;

struct shape_reader {
    /*
     * Give an OPERATION_GET its outcome, in one snapshot, which may stay open. STATUS_STALE:
     * resolve the names again.
     */
    enum status (*get)(
        struct session *session, const struct index *index, struct operation *operation, struct error *err);
    /* Give a query its outcome: up to `limit` matches go into the sink. */
    enum status (*page)(struct session *session, const struct index *index, struct operation *operation,
        struct entity_sink *sink, int32_t limit, struct error *err);
};

/* NULL: the rows of this table are entities. */
const struct shape_reader *shape_reader_find(const struct table *table);

#endif
