/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_calls.c - see the header.
 */
#include "store/access/audit_calls.h"

#include "domain/ticks.h"
#include "store/session/attempt.h"
#include "store/session/audit_row.h"
#include "store/sql.h"

enum audit_column {
    AUDIT_ID,
    AUDIT_RECORDED_US,
    AUDIT_ACCOUNT,
    AUDIT_CREDENTIAL,
    AUDIT_KEY,
    AUDIT_METHOD,
    AUDIT_TARGET,
    AUDIT_OUTCOME,
    AUDIT_LEFT_OUT,
};

static struct audit_view read_record(const PGresult *rows, int row, struct arena *arena)
{
    return (struct audit_view){
        .id = pg_int8(rows, row, AUDIT_ID),
        .recorded = ticks_from_unix_us(pg_int8(rows, row, AUDIT_RECORDED_US)),
        .record = { .account = arena_copy(arena, pg_bytes(rows, row, AUDIT_ACCOUNT)),
            .credential = (enum audit_credential)pg_int2(rows, row, AUDIT_CREDENTIAL),
            .key = pg_int2(rows, row, AUDIT_KEY),
            .method = arena_copy(arena, pg_bytes(rows, row, AUDIT_METHOD)),
            .target = arena_copy(arena, pg_bytes(rows, row, AUDIT_TARGET)),
            .outcome = arena_copy(arena, pg_bytes(rows, row, AUDIT_OUTCOME)),
            .left_out = pg_int8(rows, row, AUDIT_LEFT_OUT) },
    };
}

/* The statement reads one row more than the limit, which tells whether more records exist. */
static enum status list(struct session *session, struct operation *operation, struct error *err)
{
    const struct operation_audit *in = &operation->in.audit;
    struct outcome_audit *out = &operation->out.audit;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, in->before);
    pg_add_bytes(&params, in->account);
    pg_add_int8(&params, in->since);
    pg_add_int8(&params, in->until);
    pg_add_int8(&params, (int64_t)in->limit + 1);
    TRY(pg_query(&session->pg, &sql_audit_list, &params, &rows, err));
    *out = (struct outcome_audit){ .more = PQntuples(rows) > in->limit };
    out->count = out->more ? (size_t)in->limit : (size_t)PQntuples(rows);
    out->records = ARENA_ARRAY(operation->arena, struct audit_view, out->count);
    for (size_t i = 0; i < out->count; i++)
        out->records[i] = read_record(rows, (int)i, operation->arena);
    return STATUS_OK;
}

void audit_calls_list(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, list);
}

/*
 * If the answer to the first attempt was lost, a second attempt writes nothing, since the record
 * has the same number.
 */
static enum status store(struct session *session, struct operation *operation, struct error *err)
{
    struct audit_record record = operation->in.audit.record;

    TRY(audit_row_send(&session->pg, &record, &session->arena, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_done(&session->pg, err));
    return pg_end(&session->pg, err);
}

void audit_calls_store(struct session *session, struct operation *operation)
{
    attempt_operation(session, operation, store);
}
