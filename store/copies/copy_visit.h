/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_visit.h - visits: all dependents of a changed source get their copies, in many commits.
 */
#ifndef STORE_COPIES_COPY_VISIT_H
#define STORE_COPIES_COPY_VISIT_H

#include "store/copies/copy_work.h"

/*
 * Carry the visit that an intent of kind INTENT_VISIT asks for on by one commit: begin it if it has
 * not begun, and copy to the next dependents, at most COPY_BATCH_KEYS. Another worker may have done
 * any part of it before. *is_over: the visit has ended, there was none to be made, or the rule does
 * not exist any more. counts are added to.
 */
MUST_USE enum status copy_visit_step(struct worker *store, const struct intent *intent, bool *is_over,
    struct copy_counts *counts, struct error *err);

#endif
