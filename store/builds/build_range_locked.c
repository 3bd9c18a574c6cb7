/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_range_locked.c - see the header.
 *
 * Guard G35: entities are read under their locks, which writers hold until they commit. A writer of
 * such an entity has either committed, and then its state is what is read here, or it waits, and
 * then finds the entry of this chunk. A writer of an entity that this chunk does not see writes the
 * entry itself, because every writer knows that the index is being built.
 *
 * In a unique index, the owners of all values of the chunk are locked behind the entities, as a
 * write locks them. An entity whose value another one owns has no entry: it becomes one of the
 * others. What a reconcile has noted before the owner was known goes when the walk has ended:
 * index_build.c.
 */
#include "store/builds/build_range_locked.h"

#include "base/failpoint.h"
#include "store/builds/build_range_owners.h"
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

static void plan_key(struct chunk *chunk, const struct walk_key *key, struct arena *arena)
{
    const struct source_key *source = &key->source;
    struct index_entry entry;

    switch (index_plan_project_state(chunk->index, &source->key, &source->source, arena, &entry)) {
    case PROJECTED:
        if (key->is_unowned)
            add_violation(chunk->walk, source);
        else
            chunk->entries[chunk->count++] =
                (struct entry_change){ .entry = entry, .source = &source->source };
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
        plan_key(&chunk, &range->keys[i], arena);
    return chunk;
}

/* Decide the owners of a unique index: the entities are locked, and so are as they were read. */
static enum status own_values(struct session *session, struct build_range *range, struct error *err)
{
    build_range_owners_note(range, &session->arena);
    TRY(build_range_owners_await(range, err));
    TRY(build_range_owners_lock(session, range, err));
    for (size_t i = 0; i < range->count; i++)
        range->keys[i].is_unchanged = true;
    build_range_owners_decide(range);
    return build_range_owners_send(session, range, err);
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
    if (index->is_unique)
        TRY(own_values(session, range, err));
    chunk = plan(range, index, &session->arena);
    return build_range_write_over(session, chunk.entries, chunk.count, err);
}
