/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_job.h - verifies and repairs an index, a chunk at a time.
 */
#ifndef STORE_VERIFICATION_VERIFY_JOB_H
#define STORE_VERIFICATION_VERIFY_JOB_H

#include "store/jobs/job.h"

/* A report keeps at most this many differences; it counts all. */
enum { LIMIT_REPORT_DIFFERENCES = 10000 };

/* Verify or repair one chunk, and store its checkpoint. */
MUST_USE enum status verify_job_chunk(struct job *job, struct error *err);

/* A verification with repair, as the last part of another operation. */
struct verify_part {
    /* the number of the first phase of the verification among the operation's phases */
    int16_t first_phase;
    bool is_done;      /* the whole index was verified */
    int64_t remaining; /* valid if is_done: differences that could not be repaired */
};

/*
 * Begin the report, which has the operation's id, or verify one chunk of the whole index and store
 * its checkpoint. If the verification is done already, nothing is written, and the caller continues
 * the operation. If the index does not exist any more, the operation ends as cancelled.
 */
MUST_USE enum status verify_job_part(struct job *job, struct verify_part *part, struct error *err);

#endif
