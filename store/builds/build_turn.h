/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_turn.h - the chunks of a walk that one checkpoint ends, done by the crew of the job's worker
 * (store/jobs/crew.h).
 */
#ifndef STORE_BUILDS_BUILD_TURN_H
#define STORE_BUILDS_BUILD_TURN_H

#include "store/builds/build_walk.h"

struct build_turn {
    struct build_walk_start start; /* start.job is set */
    struct build_walk whole;       /* the chunks as one, without others: they are reconciled */
    struct arena arena;            /* of what `whole` points to */
};

/*
 * The caller calls build_turn_cleanup in the end, whatever this returns. With is_gone or is_unfit of `whole` nothing
 * was done. A chunk that fails ends the turn before it. Fails as the first chunk did, if that failed.
 */
MUST_USE enum status build_turn_run(struct build_turn *turn, struct error *err);
void build_turn_cleanup(struct build_turn *turn);

#endif
