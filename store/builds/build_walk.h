/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_walk.h - makes the index entries of a whole range of source keys at once; one pass over the
 * table serves all indexes that are being built.
 */
#ifndef STORE_BUILDS_BUILD_WALK_H
#define STORE_BUILDS_BUILD_WALK_H

#include "store/builds/build_range.h"

/*
 * Begin a turn: claim the builds of the table's other indexes that walk too and that no worker has
 * claimed, so that the chunks of the turn count for them as well. The turn begins at the build that
 * is furthest behind. A job with a rate limit takes no other builds along.
 *
 * STATUS_OK also if the job has ended or another worker has taken it.
 */
MUST_USE enum status build_walk_begin(struct build_walk_start *start, struct error *err);

/*
 * Do one chunk in one transaction: read the next entities of the job's table and their state rows,
 * without locks; plan; insert or change the state rows, which locks them; read the versions of the
 * entities again (guard G8); and write the entries of those that have not changed meanwhile. Every
 * other key, such as one with a dead letter, is left unchanged and listed in walk->others.
 *
 * The commit does not wait for the disk: the checkpoint of build_walk_save comes later, so a crash
 * that loses the chunk loses the checkpoint too (guard G20).
 */
MUST_USE enum status build_walk_chunk(struct build_walk *walk, struct error *err);

/*
 * Store the checkpoints of a turn, as if it were one chunk; its `others` have been reconciled. The
 * commit waits for the disk. After the last chunk of a table the caller stores the checkpoint of
 * its own job.
 */
MUST_USE enum status build_walk_save(struct build_walk *turn, struct error *err);

#endif
