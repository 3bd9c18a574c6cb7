/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_claim.h - the right of one worker to do a chunk of a job. It ends with the job's checkpoint, when the worker
 * releases it after a failure, or, if the worker dies, some seconds later.
 */
#ifndef STORE_JOBS_JOB_CLAIM_H
#define STORE_JOBS_JOB_CLAIM_H

#include "store/jobs/job.h"

/*
 * Claim a running job that no worker has claimed, a scrub if is_scrub says so. The caller has set store, arena and
 * is_scrub; the others are filled from the job's row. An id of length 0: there is no such job.
 */
MUST_USE enum status job_claim_take(struct job *job, struct error *err);

/* Let another worker claim the job at once. */
MUST_USE enum status job_claim_release(struct job *job, struct error *err);

#endif
