/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_work.h - carrying on long-running operations (jobs), a chunk at a time.
 */
#ifndef STORE_JOB_WORK_H
#define STORE_JOB_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "store/session/worker.h"

/*
 * Do one chunk of one running operation that no other worker is working on. *worked false: there is none.
 * Each chunk ends with its checkpoint committed.
 */
MUST_USE enum status job_work_run(struct worker *store, bool *worked, struct error *err);

/* The same of the passes of the scrub; first another one is begun, if one is due: store/verification/scrub.h. */
MUST_USE enum status job_work_scrub(struct worker *store, bool *worked, struct error *err);

#endif
