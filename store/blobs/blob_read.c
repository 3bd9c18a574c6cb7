/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_read.c - see the header.
 */
#include "store/blobs/blob_read.h"

#include <string.h>

#include "domain/blobs/blob_hash.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/blobs/blob_rows.h"
#include "store/blobs/chunk_bytes.h"
#include "store/sql.h"

enum chunk_column { CHUNK_DIGEST, CHUNK_BYTES, CHUNK_ENDS_SOON, CHUNK_STORE, CHUNK_OBJECT };

/*
 * A store may answer once with something else. And between the reading of the row and that of the object, the content
 * may be collected: then the row says so.
 */
enum { MAX_READS = 3 };

/* The reader of a discarded content keeps it for some more seconds. Only these readers write. */
static enum status keep_content(struct session *session, const struct operation *operation, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    blob_rows_add_content(&params, session, operation, &operation->in.blob.content);
    pg_add_int8(&params, LIMIT_BLOB_READ_KEPT_S);
    pg_add_int8(&params, LIMIT_BLOB_READ_MAX_S);
    return pg_query(&session->pg, &sql_content_keep, &params, &rows, err);
}

static enum status take_chunk(const PGresult *rows, struct operation *operation, struct error *err)
{
    struct str bytes;
    struct blob_digest digest;

    if (PQgetisnull(rows, 0, CHUNK_BYTES))
        return reason_set(err, REASON_BLOB_DAMAGED, "a chunk of a blob is missing");
    bytes = pg_bytes(rows, 0, CHUNK_BYTES);
    digest = blob_hash_of(bytes);
    if (!str_equal(pg_bytes(rows, 0, CHUNK_DIGEST), blob_digest_str(&digest)))
        return reason_set(err, REASON_BLOB_DAMAGED, "a chunk of a blob does not have its SHA-256");
    operation->out.blob = (struct outcome_blob){ .bytes = arena_copy(operation->arena, bytes) };
    return STATUS_OK;
}

/* STATUS_NOT_FOUND: see chunk_bytes_fetch. */
static enum status fetch_chunk(
    struct session *session, const PGresult *rows, struct operation *operation, struct error *err)
{
    struct chunk_bytes chunk = { .store = (enum chunk_store_kind)pg_int2(rows, 0, CHUNK_STORE),
        .object = blob_rows_id(rows, 0, CHUNK_OBJECT) };
    struct str digest = pg_bytes(rows, 0, CHUNK_DIGEST), bytes;

    if (digest.len == sizeof(chunk.digest.bytes))
        memcpy(chunk.digest.bytes, digest.data, sizeof(chunk.digest.bytes));
    TRY(chunk_bytes_fetch(session, operation, &chunk, &bytes, err));
    operation->out.blob = (struct outcome_blob){ .bytes = bytes };
    return STATUS_OK;
}

/* Read the chunk once. STATUS_NOT_FOUND, without a reason: its object is missing or has other bytes. */
static enum status read_once(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_blob *in = &operation->in.blob;
    struct pg_params params;
    PG_RESULT rows = NULL;

    blob_rows_add_content(&params, session, operation, &in->content);
    pg_add_int4(&params, (int32_t)in->number);
    pg_add_int8(&params, LIMIT_BLOB_READ_KEPT_S / 2);
    TRY(pg_query(&session->pg, &sql_chunk_read, &params, &rows, err));
    if (PQntuples(rows) == 0)
        return reason_set(err, REASON_BLOB_CHANGED,
            "the blob was replaced or deleted while it was being read: get it again");
    if (PQgetisnull(rows, 0, CHUNK_OBJECT))
        TRY(take_chunk(rows, operation, err));
    else
        TRY(fetch_chunk(session, rows, operation, err));
    return pg_bool(rows, 0, CHUNK_ENDS_SOON) ? keep_content(session, operation, err) : STATUS_OK;
}

static enum status read_chunk(struct session *session, struct operation *operation, struct error *err)
{
    enum status status = STATUS_NOT_FOUND;

    for (int i = 0; i < MAX_READS && status == STATUS_NOT_FOUND; i++)
        status = read_once(session, operation, err);
    if (status != STATUS_NOT_FOUND)
        return status;
    return reason_set(err, REASON_BLOB_DAMAGED, "%s", arena_format(&session->arena, "%s", err->message).data);
}

void blob_read_chunk(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, read_chunk);
}
