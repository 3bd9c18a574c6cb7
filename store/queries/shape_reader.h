/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_reader.h - how the rows of a table are read that are not entities as they stand: a reader per shape of an
 * index.
 *
 * The shapes whose rows are entities, like callers' own tables, have none: their rows are read by read_batch and
 * row_scan.
 */
#ifndef STORE_QUERIES_SHAPE_READER_H
#define STORE_QUERIES_SHAPE_READER_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

struct shape_reader {
    /* Give an OPERATION_GET its outcome, in one snapshot, which may be left open. STATUS_STALE: resolve again. */
    enum status (*get)(
        struct session *session, const struct index *index, struct operation *operation, struct error *err);
    /* The same for a query: up to `limit` of what is asked for go into the sink. */
    enum status (*page)(struct session *session, const struct index *index, struct operation *operation,
        struct entity_sink *sink, int32_t limit, struct error *err);
};

/* NULL: the rows of this table are entities as they stand. */
const struct shape_reader *shape_reader_find(const struct table *table);

#endif
