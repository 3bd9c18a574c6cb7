/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_rows.h - the rows that a change of the catalogue writes when it makes or retires an index:
 * rows of indexes, of the tables of their entries, and of the operations that build and drop them.
 */
#ifndef STORE_INDEXES_INDEX_ROWS_H
#define STORE_INDEXES_INDEX_ROWS_H

#include "domain/catalogue/catalogue.h"
#include "store/jobs/job_calls.h"

struct session;

/*
 * Whether entries in other partitions may commit with their writes in this database.
 * STATUS_PRECONDITION: DATABASE_DISTRIBUTED, for this field of the request.
 */
MUST_USE enum status index_rows_check_may_be_strong(
    struct session *session, const char *field, struct error *err);

/*
 * Whether the table may have the index, if its entities may be wide.
 *
 * STATUS_INVALID        INVALID_INPUT: the entries would have all properties
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED: programs may run that would make wrong entries
 */
MUST_USE enum status index_rows_check_wide(
    struct session *session, const struct table *table, const struct index *index, struct error *err);

/*
 * Inside a change of the catalogue, send the statements that insert the index, the table of its
 * entries under the folded name, and its build.
 */
MUST_USE enum status index_rows_send_create(struct session *session, const struct index *index,
    struct str folded, const struct job_start *build, struct error *err);

/*
 * Whether the entries of a new index of this declaration keep versions, so that look-ups can return
 * them as the entities. Not in a distributed database: what entries, intents and sources show there
 * is not of one moment. Not while programs may run that cannot read such a declaration: they would
 * refuse every call, since they load no catalogue that contains one.
 */
MUST_USE enum status index_rows_choose_versions(
    struct session *session, struct index *index, struct error *err);

/*
 * Inside a change of the catalogue, send the statements that set the index to DROPPING, cancel its
 * build and start its drop. *out: the drop, which borrows from the index and from the session's
 * arena; out may be NULL.
 */
MUST_USE enum status index_rows_send_retire(struct session *session, const struct index *index, int64_t now,
    struct job_start *out, struct error *err);

#endif
