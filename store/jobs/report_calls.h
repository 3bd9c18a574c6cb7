/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_calls.h - requests that start the verification or repair of an index, and that read the
 * report. Workers do the work: verify_job.h.
 */
#ifndef STORE_JOBS_REPORT_CALLS_H
#define STORE_JOBS_REPORT_CALLS_H

#include <libpq-fe.h>

#include "domain/operations/operation.h"
#include "store/jobs/job_calls.h"

struct session;

enum { LIMIT_REPORTS = 20 }; /* the number of reports that an index keeps */

/*
 * Give an OPERATION_INDEX_VERIFY its outcome. INDEX_NOT_FOUND, INDEX_NOT_READY, REPORT_NOT_FOUND.
 */
void report_calls_start(struct session *session, struct operation *operation);

/*
 * Give an OPERATION_INDEX_REPORT its outcome: the report and a page of its differences.
 * REPORT_NOT_FOUND.
 */
void report_calls_get(struct session *session, struct operation *operation);

/*
 * In the open transaction, insert an operation that verifies or repairs an index, and its report,
 * and delete the index's oldest reports. Only sends statements, whose results have no rows to read.
 */
MUST_USE enum status report_calls_send(struct session *session, const struct operation_verify *in,
    const struct job_start *start, struct error *err);

/*
 * Read the columns of report_view from operation_id on, which is number `column`, into the arena.
 */
struct report_view report_calls_read_row(const PGresult *rows, int row, int column, struct arena *arena);

#endif
