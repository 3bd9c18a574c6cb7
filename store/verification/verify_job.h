/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify_job.h - verifying and repairing an index, a chunk at a time.
 */
#ifndef STORE_VERIFICATION_VERIFY_JOB_H
#define STORE_VERIFICATION_VERIFY_JOB_H

#include "store/jobs/job.h"

/* A report keeps this many differences at most, and counts all. */
enum { LIMIT_REPORT_DIFFERENCES = 10000 };

/* Verify or repair one chunk, and store its checkpoint. */
MUST_USE enum status verify_job_chunk(struct job *job, struct error *err);

/* A verification that repairs, as the last part of another operation. */
struct verify_part {
    int16_t first_phase; /* of the operation's phases, the first that is the verification's */
    bool is_done;        /* all of the index has been looked at */
    int64_t remaining;   /* is_done: differences that could not be mended */
};

/*
 * Begin the report, whose id is the operation's, or verify one chunk of the whole index and store its checkpoint. If
 * the part is done already, nothing is written, and the caller continues the operation. If the index does not exist any
 * more, the operation ends as cancelled.
 */
MUST_USE enum status verify_job_part(struct job *job, struct verify_part *part, struct error *err);

#endif
