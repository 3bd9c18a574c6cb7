/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expire.c - see the header. The delete checks again, under the entity's lock, whether the entity
 * has expired.
 */
#include "store/background/expire.h"

#include "store/entities/write_batch.h"
#include "store/sql.h"

struct expiry {
    struct worker *store;
    /* of the operations; not the session's arena, since the parts of a batch replace that one */
    struct arena arena;
    int64_t count;
};

enum due_column { DUE_ACCOUNT, DUE_TABLE, DUE_TABLE_ID, DUE_PARTITION, DUE_ROW };

/* One operation per row, so that a write that fails does not fail the others. */
static struct operation *delete_of(const PGresult *rows, int row, struct arena *arena)
{
    struct operation *out = ARENA_NEW(arena, struct operation);
    struct write *write = ARENA_NEW(arena, struct write);

    *write = (struct write){ .kind = WRITE_EXPIRE,
        .key = { arena_copy(arena, pg_bytes(rows, row, DUE_PARTITION)),
            arena_copy(arena, pg_bytes(rows, row, DUE_ROW)) },
        .properties = { STR_EMPTY } };
    out->kind = OPERATION_WRITE;
    out->account = arena_copy(arena, pg_bytes(rows, row, DUE_ACCOUNT));
    out->table = arena_copy(arena, pg_bytes(rows, row, DUE_TABLE));
    out->arena = arena;
    out->deadline_us = INT64_MAX;
    out->in.write =
        (struct operation_write){ .writes = write, .count = 1, .table_id = pg_int8(rows, row, DUE_TABLE_ID) };
    return out;
}

static enum status expire(struct session *session, void *context, struct error *err)
{
    struct expiry *expiry = context;
    struct operation *batch = NULL;
    struct pg_params params;
    PG_RESULT due = NULL;

    arena_cleanup(&expiry->arena);
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, EXPIRE_CHUNK);
    TRY(pg_query(&session->pg, &sql_due_keys, &params, &due, err));
    expiry->count = PQntuples(due);
    for (int i = PQntuples(due) - 1; i >= 0; i--) {
        struct operation *operation = delete_of(due, i, &expiry->arena);

        operation->next = batch;
        batch = operation;
    }
    if (batch)
        write_batch_for_worker(expiry->store, session, batch);
    for (; batch; batch = batch->next)
        if (batch->error && batch->status != STATUS_NOT_FOUND) {
            *err = *batch->error;
            return err->status;
        }
    return STATUS_OK;
}

enum status expire_chunk(struct worker *store, int64_t *count, struct error *err)
{
    struct expiry expiry = { .store = store };
    enum status status;

    arena_init(&expiry.arena);
    status = worker_attempt(store, expire, &expiry, err);
    *count = expiry.count;
    arena_cleanup(&expiry.arena);
    return status;
}
