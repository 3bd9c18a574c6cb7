/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scrub.h - workers verify every index again and again, without a request. A pass over an index is
 * an operation (`scrub_index`) like a verification that a caller has started, with a report;
 * job_work_scrub carries it out. Nothing is repaired: what has damaged an index may still do so,
 * and the report is the evidence.
 */
#ifndef STORE_VERIFICATION_SCRUB_H
#define STORE_VERIFICATION_SCRUB_H

#include "base/error.h"

struct worker;

enum {
    /* passes that run at the same time: a large index does not delay the small ones */
    SCRUBS_AT_A_TIME = 4,
    SCRUB_EVERY_S = 600, /* minimum time between two passes over an index */
    /* one pass in this number is full, all others are fast */
    SCRUB_FULL_PASSES = 8,
};

/*
 * If a pass is due and fewer than SCRUBS_AT_A_TIME are running, begin one over the index whose last
 * pass began longest ago. The pass is full if it is the first one or every SCRUB_FULL_PASSES-th, or
 * if the previous one has left differences. *begun is false if none was begun.
 */
MUST_USE enum status scrub_begin(struct worker *store, bool *begun, struct error *err);

#endif
