/* SPDX-License-Identifier: Apache-2.0 */
/*
 * strong_build.c - see the header.
 *
 *   flight 1   BEGIN; fence; catalogue; lock or create the sources, sorted; read them
 *   flight 2   of a unique index: lock or create the owners of the values, sorted
 *   plan       the entries of the locked rows
 *   flight 3   owners; remove the rows that were created to be locked; entries; marker; COMMIT
 *
 * A write to a table with a strong index writes the index's entries while it holds the locks of its
 * entities. The builder takes the same locks before it reads (guard G35). So a write comes either
 * wholly before the chunk, which then reads its result, or wholly after the chunk, and overwrites
 * its entries.
 */
#include "store/indexes/strong_build.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/indexes/index_plan.h"
#include "store/entities/entry_rows.h"
#include "store/entities/owner_rows.h"
#include "store/entities/write_batch.h"
#include "store/entities/write_set.h"
#include "store/session/worker_attempt.h"

struct mending {
    struct strong_mending *asked;
    const struct index *index;
    struct write_set set;
    struct unique_owners owners; /* of the values of a unique index */
    struct entry_change *upserts, *deletes;
    size_t upsert_count, delete_count;
};

static int by_key(const void *a, const void *b)
{
    return entity_key_compare(
        &((const struct strong_source *)a)->key, &((const struct strong_source *)b)->key);
}

static const struct strong_source *sorted(const struct strong_mending *asked)
{
    struct strong_source *sources = ARENA_ARRAY(asked->arena, struct strong_source, asked->count);

    if (asked->count > 0)
        memcpy(sources, asked->sources, asked->count * sizeof(*sources));
    if (asked->count > 1)
        qsort(sources, asked->count, sizeof(*sources), by_key);
    return sources;
}

/* Make the rows to lock, each once. An absent row is created as a dead one, and removed again. */
static void build_set(struct mending *work, const struct session *session, const struct table *table)
{
    const struct row_state dead = { .version = session->catalogue->floor + 1, .ts = session->now_ticks };
    const struct strong_source *sources = work->asked->sources;
    struct write_set *set = &work->set;

    set->is_wide = table->is_wide;
    for (size_t i = 0; i < work->asked->count; i++) {
        const struct entity_key *key = &sources[i].key;

        if (i > 0 && entity_key_compare(key, &sources[i - 1].key) == 0)
            continue;
        set->rows[set->row_count++] = (struct plan_row){ .table = table,
            .bucket = entity_key_bucket(table->table_id, key->partition),
            .key = *key,
            .reads_properties = true,
            .offered = dead };
    }
}

static void add_violation(struct strong_mending *asked, const struct plan_row *row)
{
    asked->violations[asked->violation_count++] = (struct intent){ .bucket = row->bucket,
        .kind = INTENT_RECONCILE,
        .table_id = row->table->table_id,
        .key = { arena_copy(asked->arena, row->key.partition), arena_copy(asked->arena, row->key.row) } };
}

/* In a unique index, the first of several entities with the same value owns it. */
static bool owns_value(struct mending *work, const struct plan_row *row, struct arena *arena)
{
    struct unique_value value;

    return !work->index->is_unique || (unique_value_of(work->index, &row->key, &row->stored, arena, &value) &&
                                          unique_owners_claim(&work->owners, work->index, &value, &row->key));
}

/* Plan the entry of a row. false: the source has no entry, or cannot have its entry. */
static bool plan_row(
    struct mending *work, const struct plan_row *row, struct arena *arena, struct index_entry *entry)
{
    struct strong_mending *asked = work->asked;

    switch (index_plan_project_state(work->index, &row->key, &row->stored, arena, entry)) {
    case PROJECTED:
        if (!owns_value(work, row, arena)) {
            add_violation(asked, row);
            return false;
        }
        if (!index_has_manifest(work->index))
            work->upserts[work->upsert_count++] =
                (struct entry_change){ .entry = *entry, .source = &row->stored };
        return true;
    case PROJECTED_NOTHING:
        break;
    case PROJECTED_VIOLATION:
        add_violation(asked, row);
        break;
    }
    return false;
}

static void add_delete(struct mending *work, const struct entity_key *found)
{
    work->deletes[work->delete_count++] = (struct entry_change){
        .entry = { .index_id = work->index->index_id,
            .bucket = entity_key_bucket(index_plan_home_table(work->index), found->partition),
            .key = *found }
    };
}

/* Plan all rows. The sources and the rows are in the same order. */
static void plan(struct mending *work, struct arena *arena)
{
    const struct strong_source *sources = work->asked->sources;
    size_t next = 0, count = work->asked->count;

    for (size_t i = 0; i < work->set.row_count; i++) {
        const struct plan_row *row = &work->set.rows[i];
        struct index_entry entry;
        bool has_entry = plan_row(work, row, arena, &entry);

        for (; next < count && entity_key_compare(&sources[next].key, &row->key) == 0; next++) {
            const struct strong_source *source = &sources[next];

            if (source->has_found && (!has_entry || entity_key_compare(&source->found, &entry.key) != 0))
                add_delete(work, &source->found);
        }
    }
    if (work->upsert_count > 1)
        qsort(work->upserts, work->upsert_count, sizeof(*work->upserts), reconcile_plan_compare_entries);
    if (work->delete_count > 1)
        qsort(work->deletes, work->delete_count, sizeof(*work->deletes), reconcile_plan_compare_entries);
}

/* Lock the owners of all values that the locked rows have. */
static enum status lock_owners(struct session *session, struct mending *work, struct error *err)
{
    work->owners.arena = &session->arena;
    for (size_t i = 0; work->index->is_unique && i < work->set.row_count; i++) {
        const struct plan_row *row = &work->set.rows[i];
        struct unique_value value;

        if (unique_value_of(work->index, &row->key, &row->stored, &session->arena, &value))
            unique_owners_note(&work->owners, work->index, &value, &row->key);
    }
    unique_owners_sort(&work->owners);
    return owner_rows_lock(session, &work->owners, err);
}

static enum status write_entries(struct session *session, const struct mending *work, struct error *err)
{
    TRY(write_batch_send_removals(session, &work->set, err));
    TRY(owner_rows_send(session, &work->owners, err));
    TRY(entry_rows_send(session, ENTRY_DELETE, work->deletes, work->delete_count, err));
    TRY(entry_rows_send(session, ENTRY_UPSERT, work->upserts, work->upsert_count, err));
    FAILPOINT_TRY("strong_build.before_commit", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static enum status mend_entries(struct session *session, void *context, struct error *err)
{
    struct strong_mending *asked = context;
    struct arena *arena = &session->arena;
    const struct table *entries = catalogue_find_id(session->catalogue, asked->index_id);
    struct mending work = { .asked = asked, .index = entries ? entries->entries_of : NULL };
    const struct table *source =
        work.index ? catalogue_find_id(session->catalogue, work.index->source_table_id) : NULL;
    int64_t now_us = 0;

    asked->violation_count = 0;
    if (!source || asked->count == 0)
        return STATUS_OK;
    session->now_ticks = clock_ticks();
    work.set.rows = ARENA_ARRAY(arena, struct plan_row, asked->count);
    work.upserts = ARENA_ARRAY(arena, struct entry_change, asked->count);
    work.deletes = ARENA_ARRAY(arena, struct entry_change, asked->count);
    build_set(&work, session, source);
    TRY(session_begin(session, &now_us, err));
    TRY(write_batch_lock_more(session, &work.set, err));
    FAILPOINT_TRY("strong_build.after_source_read", err);
    TRY(lock_owners(session, &work, err));
    plan(&work, arena);
    return write_entries(session, &work, err);
}

/* Wide entities that have more to read than may be in memory are corrected in halves. */
static enum status mend_parts(struct worker *store, struct strong_mending *asked, struct error *err)
{
    enum status status = worker_attempt(store, mend_entries, asked, err);
    struct strong_mending first = *asked, second = *asked;

    if (status != STATUS_LIMIT || asked->count < 2)
        return status;
    first.count = asked->count / 2;
    TRY(mend_parts(store, &first, err));
    second.sources += first.count;
    second.count -= first.count;
    second.violations += first.violation_count;
    TRY(mend_parts(store, &second, err));
    asked->violation_count = first.violation_count + second.violation_count;
    return STATUS_OK;
}

enum status strong_build_mend(struct worker *store, struct strong_mending *mending, struct error *err)
{
    mending->sources = sorted(mending);
    mending->violations = ARENA_ARRAY(mending->arena, struct intent, mending->count);
    return mend_parts(store, mending, err);
}
