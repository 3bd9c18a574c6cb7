/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_collect.c - see the header. Neither transaction waits for the disk: what a crash loses is done
 * again.
 */
#include "store/blobs/blob_collect.h"

#include "base/failpoint.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum { CONTENT_PARTS = 1000, CHUNKS = 200, ROUND_STEPS = 50 };

enum content_column { CONTENT_ACCOUNT, CONTENT_ID };
enum chunk_column { CHUNK_ACCOUNT, CHUNK_DIGEST };

struct collection {
    int64_t contents; /* that the last transaction has worked on */
    int64_t parts;
    int64_t condemned; /* chunks that the last transaction has locked */
    int64_t chunks;
    int64_t kept_s; /* how long the objects of deleted chunks are kept */
};

/* Begin a transaction with a statement that locks rows, and take the rows. */
static enum status begin_with(struct session *session, const struct embedded *sql,
    const struct pg_params *params, PGresult **rows, struct error *err)
{
    TRY(pg_send(&session->pg, &sql_begin, NULL, err));
    TRY(pg_send(&session->pg, &sql_flush_later, NULL, err));
    TRY(pg_send(&session->pg, sql, params, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_done(&session->pg, err));
    TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, rows, err));
    return pg_end(&session->pg, err);
}

static enum status commit_now(struct session *session, struct error *err)
{
    TRY(pg_send(&session->pg, &sql_commit, NULL, err));
    TRY(pg_sync(&session->pg, err));
    return pg_end(&session->pg, err);
}

/* ---- mark ---- */

static enum status condemn(
    struct session *session, const PGresult *found, struct collection *collection, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, pg_bytes(found, 0, CONTENT_ACCOUNT));
    pg_add_bytes(&params, pg_bytes(found, 0, CONTENT_ID));
    pg_add_int8(&params, CONTENT_PARTS);
    TRY(pg_query(&session->pg, &sql_content_condemn, &params, &rows, err));
    collection->parts = pg_int8(rows, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

/* Remove parts of one content. */
static enum status mark_some(struct session *session, void *context, struct error *err)
{
    struct collection *collection = context;
    PG_RESULT found = NULL;

    TRY(begin_with(session, &sql_content_to_collect, NULL, &found, err));
    collection->contents = PQntuples(found);
    if (collection->contents == 0) {
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    TRY(condemn(session, found, collection, err));
    FAILPOINT_TRY("blob_collect.before_mark", err);
    TRY(commit_now(session, err));
    FAILPOINT("blob_collect.after_mark");
    return STATUS_OK;
}

/* ---- delete ---- */

static void add_chunks(struct session *session, const PGresult *rows, struct pg_params *params)
{
    struct pg_array accounts, digests;

    pg_array_init(&accounts, &session->arena, PG_TEXT);
    pg_array_init(&digests, &session->arena, PG_BYTEA);
    for (int i = 0; i < PQntuples(rows); i++) {
        pg_array_bytes(&accounts, pg_bytes(rows, i, CHUNK_ACCOUNT));
        pg_array_bytes(&digests, pg_bytes(rows, i, CHUNK_DIGEST));
    }
    pg_params_init(params, &session->arena);
    pg_add_array(params, &accounts);
    pg_add_array(params, &digests);
}

static enum status delete_some(struct session *session, void *context, struct error *err)
{
    struct collection *collection = context;
    struct pg_params limit, chunks, kept;
    PG_RESULT locked = NULL;
    PG_RESULT deleted = NULL;

    pg_params_init(&limit, &session->arena);
    pg_add_int8(&limit, CHUNKS);
    TRY(begin_with(session, &sql_chunks_condemned, &limit, &locked, err));
    collection->condemned = PQntuples(locked);
    collection->chunks = 0;
    if (collection->condemned == 0) {
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    add_chunks(session, locked, &chunks);
    add_chunks(session, locked, &kept);
    pg_add_int8(&kept, collection->kept_s);
    TRY(pg_send(&session->pg, &sql_chunks_collect, &kept, err));
    TRY(pg_send(&session->pg, &sql_chunks_spare, &chunks, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &deleted, err));
    TRY(pg_end(&session->pg, err));
    collection->chunks = PQntuples(deleted);
    FAILPOINT_TRY("blob_collect.before_delete", err);
    TRY(commit_now(session, err));
    FAILPOINT("blob_collect.after_delete");
    return STATUS_OK;
}

enum status blob_collect_round(
    struct worker *store, int64_t kept_s, struct blob_counts *counts, bool *more, struct error *err)
{
    struct collection collection = { .contents = 1, .kept_s = kept_s };

    for (int i = 0; i < ROUND_STEPS && collection.contents > 0; i++) {
        collection.parts = 0;
        TRY(worker_attempt(store, mark_some, &collection, err));
        counts->parts += collection.parts;
    }
    collection.condemned = CHUNKS;
    for (int i = 0; i < ROUND_STEPS && collection.condemned == CHUNKS; i++) {
        TRY(worker_attempt(store, delete_some, &collection, err));
        counts->chunks += collection.chunks;
    }
    *more = *more || collection.contents > 0 || collection.condemned == CHUNKS;
    return STATUS_OK;
}
