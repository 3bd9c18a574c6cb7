/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_job.h - verifying and repairing an index, a chunk at a time.
 */
#ifndef STORE_INDEXES_VERIFY_JOB_H
#define STORE_INDEXES_VERIFY_JOB_H

#include "store/jobs/job.h"

/* The most differences that a report keeps; it counts the others. */
enum { LIMIT_REPORT_DIFFERENCES = 10000 };

/* One chunk, with its checkpoint. */
MUST_USE enum status verify_job_chunk(struct job *job, struct error *err);

#endif
