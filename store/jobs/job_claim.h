/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_claim.h - the right of one worker to do a chunk of a job. It ends with the job's checkpoint
 * or, after a failure, when the worker releases it; if the worker dies, it expires some seconds
 * later.
 */
#ifndef STORE_JOBS_JOB_CLAIM_H
#define STORE_JOBS_JOB_CLAIM_H

#include "store/jobs/job.h"

/*
 * Claim a running job of the group that no worker has claimed. The caller sets store, arena, group
 * and what the group needs; the other members are filled from the
 * job's row. If there is no such job, the id has length 0.
 */
MUST_USE enum status job_claim_take(struct job *job, struct error *err);

/* Let another worker claim the job at once. */
MUST_USE enum status job_claim_release(struct job *job, struct error *err);

#endif
