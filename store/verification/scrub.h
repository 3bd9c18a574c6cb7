/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scrub.h - verifying every index again and again, of the workers' own accord. Each pass over an index is an operation
 * (`scrub_index`) like a verification that a caller has begun, with a report; job_work_scrub carries it on. Nothing is
 * repaired: what has damaged an index may be damaging it still, and the report is the evidence.
 */
#ifndef STORE_VERIFICATION_SCRUB_H
#define STORE_VERIFICATION_SCRUB_H

#include "store/session/worker.h"

enum {
    SCRUBS_AT_A_TIME = 4,  /* passes that are under way: a large index does not hold up the small ones */
    SCRUB_EVERY_S = 600,   /* an index is not begun with more often */
    SCRUB_FULL_PASSES = 8, /* one pass in this number is full, all others are fast */
};

/*
 * Begin a pass over the index that was begun with longest ago, if one is due and there are fewer than SCRUBS_AT_A_TIME.
 * A pass is full if it is the first, or a SCRUB_FULL_PASSES-th, or the one before has left differences. *begun false:
 * none.
 */
MUST_USE enum status scrub_begin(struct worker *store, bool *begun, struct error *err);

#endif
