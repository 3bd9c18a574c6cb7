/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.h - the chunks of one turn of a job: several threads take them in the order of keys.
 *
 * A chunk begins where the one before it ends, and where that is is known as soon as its keys are read: from then on
 * the two are done at the same time. A turn ends after some time, with the last key, or with a chunk that says so. The
 * thread that leads the job then commits one checkpoint for all chunks up to the first that is missing; what was done
 * behind that is done again.
 */
#ifndef STORE_JOBS_TURN_H
#define STORE_JOBS_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "domain/keys/entity_key.h"
#include "store/jobs/crew.h"

enum { TURN_CHUNKS = 64 }; /* at most */

/* A position between keys. */
struct turn_position {
    bool has_from;
    struct entity_key from; /* strictly behind this key; without it, before every key */
};

struct turn {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t end_us; /* no chunk begins later, but for the first */
    size_t begun;   /* chunks */
    bool is_held;   /* a chunk has begun at `position`, and has not said where it ends */
    bool is_over;
    struct turn_position position;
};

/* position: of the first chunk, whose key is borrowed. A step (crew.h) has one chunk. */
void turn_init(struct turn *turn, const struct turn_position *position, enum crew_pace pace);
void turn_cleanup(struct turn *turn);

/*
 * The next chunk: its number, from 0, and where it begins; false: there is none. Waits for turn_pass of the chunk
 * before. After true turn_pass or turn_stop must follow.
 */
bool turn_take(struct turn *turn, size_t *number, struct turn_position *position);

/* The chunk taken last ends with this key, which is borrowed until the end of the turn. */
void turn_pass(struct turn *turn, const struct entity_key *end);

/* No other chunk begins. */
void turn_stop(struct turn *turn);

#endif
