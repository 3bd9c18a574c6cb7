/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.c - see the header.
 */
#include "store/verification/repair.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "store/copies/copy_work.h"
#include "store/entities/entry_rows.h"
#include "store/indexes/reconcile.h"
#include "store/indexes/stored_entries.h"
#include "store/indexes/strong_build.h"
#include "store/verification/verify_copies.h"

struct repair {
    struct job *job;
    bool is_gone, has_manifests, is_unique;
    struct intent *intents; /* one for each suspect */
    struct entry_suspect *suspects;
    struct strong_source *sources; /* one for each suspect, for an index without manifests */
    size_t count;
    struct entity_key *nameless; /* the keys of entries that name no source, sorted */
    size_t nameless_count;
    struct entity_key *dependents; /* of a copy rule, whose copies differ */
    size_t dependent_count;
};

static const struct index *find_index(const struct session *session, const struct job *job)
{
    const struct table *entries = catalogue_find_id(session->catalogue, job->index_id);

    return entries ? entries->entries_of : NULL;
}

static enum status look_up_index(struct session *session, void *context, struct error *err)
{
    struct repair *work = context;
    const struct index *index;

    TRY(session_refresh(session, NULL, err));
    index = find_index(session, work->job);
    work->is_gone = !index;
    work->has_manifests = index && index_has_manifest(index);
    work->is_unique = index && index->is_unique;
    return STATUS_OK;
}

/*
 * Whether to repair the difference. If a key that the caller has named (of an unknown class) is in
 * flight, there is no difference to repair.
 */
static bool needs_repair(const struct report_difference *difference)
{
    return difference->state == DIFFERENCE_FOUND ||
           (difference->state == DIFFERENCE_IN_FLIGHT && difference->class != DIFFERENCE_UNKNOWN);
}

static void add_suspect(struct repair *work, const struct report_difference *difference)
{
    const struct job *job = work->job;
    bool dangles = difference->class == DIFFERENCE_DANGLING;
    size_t n = work->count++;

    work->intents[n] =
        (struct intent){ .bucket = entity_key_bucket(job->table_id, difference->source.partition),
            .kind = INTENT_RECONCILE,
            .table_id = job->table_id,
            .key = difference->source };
    work->suspects[n] = (struct entry_suspect){
        .index_id = job->index_id, .source = difference->source, .entry = difference->entry, .has_entry = true
    };
    work->sources[n] =
        (struct strong_source){ .key = difference->source, .found = difference->entry, .has_found = dangles };
}

static int by_key(const void *a, const void *b)
{
    return entity_key_compare(a, b);
}

static void sort_out(struct repair *work, const struct report_difference *differences, size_t count)
{
    struct arena *arena = &work->job->arena;

    work->intents = ARENA_ARRAY(arena, struct intent, count);
    work->suspects = ARENA_ARRAY(arena, struct entry_suspect, count);
    work->sources = ARENA_ARRAY(arena, struct strong_source, count);
    work->nameless = ARENA_ARRAY(arena, struct entity_key, count);
    work->dependents = ARENA_ARRAY(arena, struct entity_key, count);
    for (size_t i = 0; i < count; i++) {
        if (!needs_repair(&differences[i]))
            continue;
        if (verify_copies_is_class(differences[i].class))
            work->dependents[work->dependent_count++] = differences[i].source;
        else if (differences[i].has_source)
            add_suspect(work, &differences[i]);
        else
            work->nameless[work->nameless_count++] = differences[i].entry;
    }
    if (work->nameless_count > 1)
        qsort(work->nameless, work->nameless_count, sizeof(work->nameless[0]), by_key);
}

/*
 * No reconcile relies on an entry that names no source: if it needs an entry with this key, it
 * writes the entry again, under the entry's lock.
 */
static enum status delete_nameless(struct session *session, void *context, struct error *err)
{
    const struct repair *work = context;
    const struct index *index = find_index(session, work->job);
    struct entry_change *changes = ARENA_ARRAY(&session->arena, struct entry_change, work->nameless_count);
    bool *is_there = ARENA_ARRAY(&session->arena, bool, work->nameless_count);
    size_t count = 0;
    int64_t now_us;

    if (!index)
        return STATUS_OK;
    TRY(session_begin(session, &now_us, err));
    TRY(stored_entries_hold_nameless(session, index, work->nameless, work->nameless_count, is_there, err));
    for (size_t i = 0; i < work->nameless_count; i++)
        if (is_there[i])
            changes[count++].entry = (struct index_entry){ .index_id = index->index_id,
                .bucket = entity_key_bucket(index_plan_home_table(index), work->nameless[i].partition),
                .key = work->nameless[i] };
    TRY(entry_rows_send(session, ENTRY_DELETE, changes, count, err));
    FAILPOINT_TRY("repair.before_commit", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

/* Repair the entries of an index without manifests, and the owners of a unique index. */
static enum status repair_locked(struct repair *work, struct error *err)
{
    struct strong_mending mending = { .index_id = work->job->index_id,
        .sources = work->sources,
        .count = work->count,
        .arena = &work->job->arena };

    return strong_build_mend(work->job->store, &mending, err);
}

static enum status mend_sources(struct repair *work, struct error *err)
{
    struct reconcile_counts counts = { 0 };

    if (work->count == 0)
        return STATUS_OK;
    if (!work->has_manifests || work->is_unique)
        TRY(repair_locked(work, err));
    /* a violation may have become an owner, and an owner a violation */
    if (!work->has_manifests)
        return work->is_unique ? reconcile_each(work->job->store, work->intents, work->count, err)
                               : STATUS_OK;
    return reconcile_repair(work->job->store, work->intents, work->suspects, work->count, &counts, err);
}

static enum status mend_copies(struct repair *work, struct error *err)
{
    struct copy_counts counts = { 0 };

    return copy_work_force(
        work->job->store, work->job->index_id, work->dependents, work->dependent_count, &counts, err);
}

enum status repair_differences(
    struct job *job, const struct report_difference *differences, size_t count, struct error *err)
{
    struct repair work = { .job = job };

    TRY(worker_attempt(job->store, look_up_index, &work, err));
    if (work.is_gone)
        return STATUS_OK;
    sort_out(&work, differences, count);
    TRY(mend_sources(&work, err));
    TRY(mend_copies(&work, err));
    return work.nameless_count > 0 ? worker_attempt(job->store, delete_nameless, &work, err) : STATUS_OK;
}
