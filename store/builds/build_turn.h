/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_turn.h - does the chunks of a walk that share one checkpoint, with the crew of the job's
 * worker (store/jobs/crew.h).
 */
#ifndef STORE_BUILDS_BUILD_TURN_H
#define STORE_BUILDS_BUILD_TURN_H

#include "store/builds/build_walk.h"

struct build_turn {
    struct build_walk_start start; /* the caller sets start.job */
    /* all chunks as one, without `others`: these have been reconciled */
    struct build_walk whole;
    struct arena arena; /* of the memory that `whole` points to */
};

/*
 * Run one turn. The caller calls build_turn_cleanup afterwards, whatever the result. If is_gone or
 * is_unfit of `whole` is set, nothing was done. If a later chunk fails, the turn ends before that
 * chunk; if the first chunk fails, the call fails as the chunk did.
 */
MUST_USE enum status build_turn_run(struct build_turn *turn, struct error *err);
void build_turn_cleanup(struct build_turn *turn);

#endif
