/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_turn.c - see the header.
 *
 * Each chunk of a turn is a transaction of its own. The ranges of the chunks do not overlap, so
 * their order does not matter; only the checkpoint must be committed later than all of them. Each
 * chunk ends where the next one begins, with one exception: a chunk that was read again while
 * others wrote into its range may end earlier. Then the turn counts only up to the end of this
 * chunk.
 */
#include "store/builds/build_turn.h"

#include <stdatomic.h>

#include "store/indexes/reconcile.h"
#include "store/indexes/strong_build.h"

struct chunk {
    struct build_walk walk;
    struct arena arena;
    struct error failure;
    enum status status;
};

struct chunks {
    const struct build_walk_start *start;
    struct turn turn;
    atomic_bool has_large; /* a chunk has found large entities */
    struct chunk list[TURN_CHUNKS];
};

/* The others ask for their values under the locks of their entities, before they are reconciled. */
static enum status own_values(const struct build_walk *walk, struct worker *store, struct error *err)
{
    struct strong_source *sources = ARENA_ARRAY(walk->arena, struct strong_source, walk->other_count);

    for (size_t i = 0; i < walk->other_count; i++)
        sources[i].key = walk->others[i].key;
    for (size_t i = 0; i < walk->unique_count; i++) {
        struct strong_mending mending = { .index_id = walk->unique_ids[i],
            .sources = sources,
            .count = walk->other_count,
            .arena = walk->arena };

        TRY(strong_build_mend(store, &mending, err));
    }
    return STATUS_OK;
}

static enum status do_chunk(struct chunk *chunk, struct worker *store)
{
    struct build_walk *walk = &chunk->walk;

    TRY(build_walk_chunk(walk, &chunk->failure));
    if (walk->other_count == 0)
        return STATUS_OK;
    TRY(own_values(walk, store, &chunk->failure));
    return reconcile_each(store, walk->others, walk->other_count, &chunk->failure);
}

static void do_chunks(struct worker *store, void *context)
{
    struct chunks *chunks = context;
    struct turn_position position;
    size_t number;

    while (turn_take(&chunks->turn, &number, &position)) {
        struct chunk *chunk = &chunks->list[number];

        arena_init(&chunk->arena);
        chunk->walk = (struct build_walk){ .start = chunks->start,
            .store = store,
            .arena = &chunk->arena,
            .turn = &chunks->turn,
            .order = chunks->start->is_ordered ? &chunks->turn : NULL,
            .number = number,
            .position = position,
            .has_large = atomic_load(&chunks->has_large) };
        chunk->status = do_chunk(chunk, store);
        turn_end(&chunks->turn, chunk->status != STATUS_OK);
        if (chunk->walk.has_large)
            atomic_store(&chunks->has_large, true);
        if (chunk->status != STATUS_OK || chunk->walk.turn)
            turn_stop(&chunks->turn);
    }
}

static bool is_done(const struct chunk *chunk)
{
    return chunk->status == STATUS_OK && !chunk->walk.is_gone && !chunk->walk.is_unfit;
}

static struct entity_key copied(const struct entity_key *key, struct arena *arena)
{
    return (struct entity_key){ arena_copy(arena, key->partition), arena_copy(arena, key->row) };
}

/* Unite the chunks from the first one on, as long as each begins where the one before has ended. */
static void join(struct build_turn *turn, const struct chunks *chunks)
{
    struct build_walk *whole = &turn->whole;

    *whole = chunks->list[0].walk;
    for (size_t i = 1; i < chunks->turn.begun; i++) {
        const struct chunk *next = &chunks->list[i];

        if (!is_done(next) || !is_done(&chunks->list[i - 1]) ||
            entity_key_compare(&whole->end, &next->walk.position.from) != 0)
            break;
        whole->rows += next->walk.rows;
        whole->is_last = next->walk.is_last;
        if (next->walk.has_end)
            whole->end = next->walk.end;
    }
    whole->end = copied(&whole->end, &turn->arena);
    whole->position.from = copied(&whole->position.from, &turn->arena);
    whole->others = NULL;
    whole->other_count = 0;
}

static enum status run_chunks(struct build_turn *turn, struct error *err)
{
    struct worker *leader = turn->start.job->store;
    struct chunks *chunks = ARENA_NEW(&turn->arena, struct chunks);
    enum status status;

    *chunks = (struct chunks){ .start = &turn->start };
    turn_init(
        &chunks->turn, &turn->start.position, turn->start.job->is_gentle ? CREW_STEP : crew_pace(leader));
    crew_run(leader, do_chunks, chunks);
    status = chunks->list[0].status;
    if (status == STATUS_OK)
        join(turn, chunks);
    else
        *err = chunks->list[0].failure;
    for (size_t i = 0; i < chunks->turn.begun; i++)
        arena_cleanup(&chunks->list[i].arena);
    turn_cleanup(&chunks->turn);
    return status;
}

enum status build_turn_run(struct build_turn *turn, struct error *err)
{
    arena_init(&turn->arena);
    turn->whole = (struct build_walk){ .start = &turn->start };
    TRY(build_walk_begin(&turn->start, err));
    turn->whole.is_gone = turn->start.is_gone;
    if (turn->start.is_gone)
        return STATUS_OK;
    return run_chunks(turn, err);
}

void build_turn_cleanup(struct build_turn *turn)
{
    arena_cleanup(&turn->arena);
}
