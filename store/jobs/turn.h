/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.h - the chunks of one turn of a job, which several threads take in the order of keys.
 *
 * A chunk begins where the one before it ends. That position is known as soon as the keys of the
 * chunk before were read, and from then on the two chunks are done at the same time. A turn ends
 * after some time, with the last key, or with a chunk that stops it. The thread that leads the job
 * then commits one checkpoint for all chunks up to the first one that failed; the chunks behind
 * that are repeated later.
 */
#ifndef STORE_JOBS_TURN_H
#define STORE_JOBS_TURN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "domain/keys/entity_key.h"
#include "store/jobs/crew.h"

enum { TURN_CHUNKS = 64 }; /* maximum number of chunks in a turn */

/* A position between keys. */
struct turn_position {
    bool has_from;
    struct entity_key from; /* strictly behind this key; if there is none, before every key */
};

struct turn {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t end_us;  /* no chunk but the first begins later */
    size_t begun;    /* number of chunks that have begun */
    size_t ended;    /* number of chunks that have ended */
    bool has_failed; /* one of these has failed */
    bool is_held;    /* a chunk has begun at `position`, and has not reported where it ends */
    bool is_over;
    struct turn_position position;
};

/* position: of the first chunk; its key is borrowed. A CREW_STEP (crew.h) has one chunk. */
void turn_init(struct turn *turn, const struct turn_position *position, enum crew_pace pace);
void turn_cleanup(struct turn *turn);

/*
 * Take the next chunk: its number, from 0, and where it begins. false: there is none. Waits until
 * the chunk before has reported its end. After true, the caller must call turn_pass or turn_stop.
 */
bool turn_take(struct turn *turn, size_t *number, struct turn_position *position);

/*
 * Report that the chunk taken last ends with this key, which is borrowed until the end of the turn.
 */
void turn_pass(struct turn *turn, const struct entity_key *end);

/* Report that no other chunk is to begin. */
void turn_stop(struct turn *turn);

/* A chunk has ended. Chunks that await each other end in their order. */
void turn_end(struct turn *turn, bool has_failed);

/* Wait until the chunks before this one have ended. false: one of them has failed. */
bool turn_await(struct turn *turn, size_t number);

#endif
