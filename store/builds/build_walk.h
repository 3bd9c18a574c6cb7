/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_walk.h - making the entries of indexes that are being built for a range of source keys at once: one pass over
 * the table for all of them.
 */
#ifndef STORE_BUILDS_BUILD_WALK_H
#define STORE_BUILDS_BUILD_WALK_H

#include "store/builds/build_range.h"

/*
 * Claim the builds of other indexes of the same table that walk too and that no worker has claimed: the chunks of the
 * turn count for them as well. A build that is behind goes first, until it has caught up. A job with a rate walks
 * alone.
 *
 * STATUS_OK also if the job has ended or another worker has taken it.
 */
MUST_USE enum status build_walk_begin(struct build_walk_start *start, struct error *err);

/*
 * One transaction. It reads the next entities of the job's table, and their state rows, without locks; plans; makes or
 * changes the state rows, which locks them; reads the versions of the entities again (guard G8); and writes the entries
 * of those that have not changed in between. Keys about which anything is unusual are left as they are, and named in
 * walk->others.
 *
 * The commit does not wait for the disk: the checkpoint of build_walk_save comes later, so a crash that takes back the
 * chunk takes back the checkpoint too (guard G20).
 */
MUST_USE enum status build_walk_chunk(struct build_walk *walk, struct error *err);

/*
 * The checkpoints of a turn, as if it were one chunk, whose others are reconciled by now; it waits for the disk. With
 * the last chunk of a table the caller makes the checkpoint of its own job.
 */
MUST_USE enum status build_walk_save(struct build_walk *turn, struct error *err);

#endif
