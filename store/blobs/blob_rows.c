/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_rows.c - see the header.
 */
#include "store/blobs/blob_rows.h"

#include <string.h>

#include "domain/limits.h"
#include "domain/reason.h"
#include "store/sql.h"

enum blob_column { BLOB_NAME, BLOB_CONTENT, BLOB_SIZE, BLOB_TYPE, BLOB_SHA256, BLOB_CREATED };

void blob_rows_add_name(struct pg_params *params, struct session *session, const struct operation *operation)
{
    pg_params_init(params, &session->arena);
    pg_add_bytes(params, operation->account);
    pg_add_bytes(params, operation->in.blob.name);
}

void blob_rows_add_content(struct pg_params *params, struct session *session,
    const struct operation *operation, const struct blob_id *content)
{
    pg_params_init(params, &session->arena);
    pg_add_bytes(params, operation->account);
    pg_add_bytes(params, blob_id_str(content));
}

struct blob_id blob_rows_id(const PGresult *rows, int row, int column)
{
    struct str bytes = pg_bytes(rows, row, column);
    struct blob_id out = { { 0 } };

    if (bytes.len == sizeof(out.bytes))
        memcpy(out.bytes, bytes.data, sizeof(out.bytes));
    return out;
}

static struct blob read_row(const PGresult *rows, int row, struct arena *arena)
{
    struct str digest = pg_bytes(rows, row, BLOB_SHA256);
    struct blob out = {
        .name = arena_copy(arena, pg_bytes(rows, row, BLOB_NAME)),
        .content = blob_rows_id(rows, row, BLOB_CONTENT),
        .size = pg_int8(rows, row, BLOB_SIZE),
        .content_type = arena_copy(arena, pg_bytes(rows, row, BLOB_TYPE)),
        .created = pg_int8(rows, row, BLOB_CREATED),
    };

    if (digest.len == sizeof(out.digest.bytes))
        memcpy(out.digest.bytes, digest.data, sizeof(out.digest.bytes));
    return out;
}

struct blob *blob_rows_read(const PGresult *rows, size_t count, struct arena *arena)
{
    struct blob *out = ARENA_ARRAY(arena, struct blob, count);

    for (size_t i = 0; i < count; i++)
        out[i] = read_row(rows, (int)i, arena);
    return out;
}

void blob_rows_answer(struct operation *operation, const PGresult *rows, size_t count)
{
    operation->out.blob =
        (struct outcome_blob){ .blobs = blob_rows_read(rows, count, operation->arena), .count = count };
}

enum status blob_rows_refuse_absent(const struct operation *operation, struct error *err)
{
    (void)reason_set(err, REASON_BLOB_NOT_FOUND, "there is no blob of this name");
    error_add_meta(err, "name", operation->in.blob.name);
    return err->status;
}

enum status blob_rows_send_discard(struct session *session, const struct operation *operation,
    const struct blob_id *content, struct error *err)
{
    struct pg_params params;

    blob_rows_add_content(&params, session, operation, content);
    pg_add_int8(&params, LIMIT_BLOB_READ_KEPT_S);
    return pg_send(&session->pg, &sql_content_discard, &params, err);
}
