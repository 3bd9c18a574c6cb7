/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state_purge.c - removes the state rows that a dropped index leaves behind.
 *
 * A state row names the entries of its key in all indexes of the table. When an index is dropped,
 * nothing else removes such rows: a write that concerns no other index makes no intent, so the row
 * would stay even after the entity is deleted. The drop therefore walks the table's state rows in
 * key order, a chunk per transaction, and removes those that name no entry of an existing index. A
 * row that names one stays, with the names of the dropped index's entries, until the next reconcile
 * of its key.
 *
 * A row is removed only under its lock, and only if the row as locked is removable (guard G25): a
 * reconcile that held the lock before may have named an entry of an index that is being built. A
 * reconcile that begins later knows that the index is gone, since the change that dropped it went
 * through the fence. So no removable row appears behind the walk, and a chunk that is repeated
 * finds nothing.
 */
#include "store/indexes/state_purge.h"

#include "base/failpoint.h"
#include "store/indexes/source_keys.h"
#include "store/sql.h"

enum { CHUNK_KEYS = 1000 };

struct leftovers {
    struct job *job;
    struct intent *keys; /* the keys of rows that seem to be removable; in the job's arena */
    size_t count;
    bool is_last;
    struct entity_key end; /* the key that was read last, unless no key follows it */
};

static bool is_leftover(const struct table *table, const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++)
        for (size_t k = 0; k < table->index_count; k++)
            if (table->indexes[k]->index_id == manifest->items[i].index_id)
                return false;
    return true;
}

/* ---- reading ---- */

enum state_column { STATE_PARTITION, STATE_ROW, STATE_MANIFEST };

static void take_rows(
    struct leftovers *work, const struct table *table, const PGresult *rows, struct arena *scratch)
{
    struct job *job = work->job;
    int count = PQntuples(rows);

    work->keys = ARENA_ARRAY(&job->arena, struct intent, (size_t)count);
    work->count = 0;
    work->is_last = count < CHUNK_KEYS;
    for (int i = 0; i < count; i++) {
        struct entity_key key = { pg_bytes(rows, i, STATE_PARTITION), pg_bytes(rows, i, STATE_ROW) };
        struct manifest manifest;

        if (manifest_decode(pg_bytes(rows, i, STATE_MANIFEST), scratch, &manifest) &&
            is_leftover(table, &manifest))
            work->keys[work->count++] = (struct intent){ .kind = INTENT_RECONCILE,
                .table_id = job->table_id,
                .key = { arena_copy(&job->arena, key.partition), arena_copy(&job->arena, key.row) } };
    }
}

static enum status read_chunk(struct session *session, void *context, struct error *err)
{
    struct leftovers *work = context;
    struct job *job = work->job;
    const struct table *table;
    struct pg_params params;
    PG_RESULT rows = NULL;

    TRY(session_refresh(session, NULL, err));
    table = catalogue_find_id(session->catalogue, job->table_id);
    /* A deleted table has a purge of its own, which removes all its state rows. */
    work->is_last = !table;
    work->count = 0;
    if (!table)
        return STATUS_OK;
    job_range_params(job, CHUNK_KEYS, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_state_scan, &params, &rows, err));
    take_rows(work, table, rows, &session->arena);
    if (PQntuples(rows) > 0) {
        int last = PQntuples(rows) - 1;

        work->end = (struct entity_key){ arena_copy(&job->arena, pg_bytes(rows, last, STATE_PARTITION)),
            arena_copy(&job->arena, pg_bytes(rows, last, STATE_ROW)) };
    }
    return STATUS_OK;
}

/* ---- removing ---- */

/* The lock statement creates a row that was removed meanwhile; this row is removable too. */
static bool is_removable(const struct source_key *key)
{
    return key->applied == 0 ||
           (!key->is_undecodable && (!key->table || is_leftover(key->table, &key->stored)));
}

static enum status remove_chunk(struct session *session, void *context, struct error *err)
{
    const struct leftovers *work = context;
    struct source_keys keys;

    source_keys_build(&keys, session, &session->arena, work->keys, work->count);
    TRY(source_keys_begin(session, &keys, NULL, err));
    TRY(source_keys_send_state_delete(session, &keys, is_removable, err));
    FAILPOINT_TRY("purge.before_states", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

enum status state_purge_chunk(struct job *job, bool *is_over, struct error *err)
{
    struct leftovers work = { .job = job };

    TRY(worker_attempt(job->store, read_chunk, &work, err));
    if (work.count > 0)
        TRY(worker_attempt(job->store, remove_chunk, &work, err));
    *is_over = work.is_last;
    if (work.is_last)
        return STATUS_OK;
    job->has_cursor = true;
    job->cursor = work.end;
    return job_checkpoint(job, err);
}
