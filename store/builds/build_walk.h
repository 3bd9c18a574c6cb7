/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_walk.h - making the entries of indexes that are being built for a range of source keys at once: one pass over the
 * table for all of them.
 */
#ifndef STORE_BUILDS_BUILD_WALK_H
#define STORE_BUILDS_BUILD_WALK_H

#include "domain/catalogue/catalogue.h"
#include "domain/intents/intent.h"
#include "store/jobs/job.h"
#include "store/jobs/turn.h"

/* Where a turn of a walk begins, and who walks along; memory is the job's. */
struct build_walk_start {
    struct job *job;
    bool is_gone;   /* there is no such index any more */
    bool is_unfit;  /* the table has indexes that cannot be built in ranges: nothing was done */
    bool has_bound; /* another build stands at `bound`: the turn ends there at the latest */
    struct entity_key bound;
    struct turn_position position;
    struct job *siblings; /* builds of other indexes, claimed by this worker until build_walk_save */
    size_t sibling_count;
};

/* What a chunk has come to. */
struct build_walk {
    const struct build_walk_start *start;
    struct worker *store;          /* of the thread that does the chunk */
    struct arena *arena;           /* of the members below */
    struct turn *turn;             /* is told where the chunk ends; NULL: no chunk follows, or it was told */
    struct turn_position position; /* where it begins */
    bool is_told;                  /* the turn was told that the chunk ends with the key `told` */
    struct entity_key told;
    bool has_large;         /* before: there may be large entities; then: there are */
    bool is_gone, is_unfit; /* as of the start */
    bool is_last;           /* the chunk has reached the end of the table */
    int64_t rows;           /* entities in the chunk */
    bool has_end;           /* there was something */
    struct entity_key end;  /* of the chunk: everything up to this key is done, but for the others */
    struct intent *others;  /* source keys that have to be reconciled one by one */
    size_t other_count;
};

/*
 * Builds of other indexes of the table that walk, and that no worker carries on, come along: chunks count for them too. One that
 * is behind goes first, until it has caught up. A job with a rate walks alone.
 *
 * STATUS_OK also if the job has ended or another worker has taken it.
 */
MUST_USE enum status build_walk_begin(struct build_walk_start *start, struct error *err);

/*
 * One transaction. It reads the next entities of the job's table, and their state rows, without locks; plans; makes or changes the
 * state rows, which locks them; reads the versions of the entities again (guard G8); and writes the entries of those that have
 * not changed in between. Keys about which anything is unusual are left as they are, and named in walk->others.
 *
 * The commit does not wait for the disk: the checkpoint of build_walk_save comes later, so a crash that takes back the chunk
 * takes back the checkpoint too (guard G20).
 */
MUST_USE enum status build_walk_chunk(struct build_walk *walk, struct error *err);

/*
 * The checkpoints of a turn, as if it were one chunk, whose others are reconciled by now; it waits for the disk. With the last
 * chunk of a table the caller makes the checkpoint of its own job.
 */
MUST_USE enum status build_walk_save(struct build_walk *turn, struct error *err);

#endif
