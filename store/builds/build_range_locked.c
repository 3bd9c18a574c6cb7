/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range_locked.c - see the header.
 *
 * Guard G35: entities are read under their locks, which writers hold until they commit. A writer of
 * such an entity has either committed, and then its state is what is read here, or it waits, and
 * then finds the entry of this chunk. A writer of an entity that this chunk does not see writes the
 * entry itself, because every writer knows that the index is being built.
 */
#include "store/builds/build_range_locked.h"

#include "base/failpoint.h"
#include "store/builds/build_range_write.h"

struct chunk {
    const struct index *index;
    struct build_walk *walk;
    struct entry_change *entries;
    size_t count;
};

static void add_violation(struct build_walk *walk, const struct source_key *source)
{
    walk->others[walk->other_count++] = (struct intent){ .bucket = source->bucket,
        .kind = INTENT_RECONCILE,
        .table_id = source->table_id,
        .key = { arena_copy(walk->arena, source->key.partition), arena_copy(walk->arena, source->key.row) } };
}

static void plan_key(struct chunk *chunk, const struct source_key *source, struct arena *arena)
{
    struct index_entry entry;

    switch (index_plan_project_state(chunk->index, &source->key, &source->source, arena, &entry)) {
    case PROJECTED:
        chunk->entries[chunk->count++] = (struct entry_change){ entry, &source->source };
        break;
    case PROJECTED_NOTHING:
        break;
    case PROJECTED_VIOLATION:
        add_violation(chunk->walk, source);
        break;
    }
}

static struct chunk plan(const struct build_range *range, const struct index *index, struct arena *arena)
{
    struct build_walk *walk = range->walk;
    struct chunk chunk = {
        .index = index, .walk = walk, .entries = ARENA_ARRAY(arena, struct entry_change, range->count)
    };

    walk->others = ARENA_ARRAY(walk->arena, struct intent, range->count);
    walk->other_count = 0;
    for (size_t i = 0; i < range->count; i++)
        plan_key(&chunk, &range->keys[i].source, arena);
    return chunk;
}

enum status build_range_locked_run(
    struct session *session, struct build_range *range, const struct index *index, struct error *err)
{
    struct chunk chunk;
    PG_RESULT rows = NULL;

    range->locks_entities = true;
    TRY(build_range_read_rows(session, range, &rows, err));
    if (range->walk->is_unfit)
        return STATUS_OK;
    FAILPOINT_TRY("build_range_locked.after_lock", err);
    chunk = plan(range, index, &session->arena);
    return build_range_write_over(session, chunk.entries, chunk.count, err);
}
