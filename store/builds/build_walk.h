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

/* What a chunk has come to. */
struct build_walk {
    struct job *job;
    bool is_gone;           /* there is no such index any more */
    bool is_unfit;          /* the table has indexes that cannot be built in ranges: nothing was done */
    bool is_last;           /* the chunk has reached the end of the table */
    bool is_saved;          /* the commit of the chunk holds the checkpoint */
    bool has_from;          /* false: the chunk begins with the table */
    struct entity_key from; /* behind this key */
    int64_t rows;           /* entities in the chunk */
    bool has_end;           /* there was something */
    struct entity_key end;  /* of the chunk: everything up to this key is done, but for the others */
    struct intent *others;  /* source keys that have to be reconciled one by one, in the job's arena */
    size_t other_count;
};

/*
 * One transaction. It reads the next entities of the job's table, and their state rows, without locks; plans; makes or changes the
 * state rows, which locks them; reads the versions of the entities again (guard G8); and writes the entries of those that have
 * not changed in between. Keys about which anything is unusual are left as they are, and named in walk->others.
 *
 * Builds of other indexes of the table that walk at the same place, and that no worker carries on, come along: the chunk counts
 * for them too. One that is behind goes first, until it has caught up.
 *
 * Unless something is left to be done, the checkpoints are part of the commit, which then does not wait for the disk: a crash
 * takes back both or neither (guard G20). Where they are not, build_walk_save makes them.
 *
 * STATUS_OK also if the job has ended or another worker has taken it: then nothing was done.
 */
MUST_USE enum status build_walk_chunk(struct build_walk *walk, struct error *err);

/* The checkpoints of a chunk whose others are reconciled by now. */
MUST_USE enum status build_walk_save(struct build_walk *walk, struct error *err);

#endif
