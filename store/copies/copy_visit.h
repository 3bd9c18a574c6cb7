/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_visit.h - visits: all dependents of a changed source get their copies, in many commits.
 */
#ifndef STORE_COPIES_COPY_VISIT_H
#define STORE_COPIES_COPY_VISIT_H

#include "store/copies/copy_work.h"

/* Some commits of a visit, one after another. */
struct copy_turn {
    const struct intent *intent; /* of kind INTENT_VISIT */
    /*
     * of dependents that a commit copies to: COPY_BATCH_KEYS at first; less once so many were too large for one
     * transaction
     */
    size_t limit;
    /* the visit has ended, there was none to be made, or the rule does not exist any more */
    bool is_over;
    struct copy_counts counts; /* added to */
};

/*
 * Carry the visit that the turn's intent asks for on by one commit: begin it if it has not begun,
 * and copy to the next dependents. Another worker may have done any part of it before.
 */
MUST_USE enum status copy_visit_step(struct worker *store, struct copy_turn *turn, struct error *err);

/*
 * How many dependents the visit that this intent asks for has still to look at, up to `limit`; 0 if the rule does not
 * exist any more. The caller has refreshed the catalogue.
 */
MUST_USE enum status copy_visit_left(
    struct session *session, const struct intent *intent, int64_t limit, int64_t *out, struct error *err);

#endif
