/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effect_notes.c - see the header.
 */
#include "store/transactions/effect_notes.h"

#include "domain/limits.h"
#include "domain/reason.h"
#include "store/sql.h"
#include "store/transactions/transaction_calls.h"

enum status effect_notes_send(struct session *session, const struct transaction *transaction,
    const struct effect_note *note, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    transaction_calls_add_key(&params, transaction->account, transaction->id);
    pg_add_bytes(&params, effect_note_encode(note, &session->arena));
    return pg_send(&session->pg, &sql_effect_note, &params, err);
}

static void add_file(struct session *session, struct str account, struct str path, struct pg_params *params)
{
    pg_params_init(params, &session->arena);
    pg_add_int2(params, entity_key_bucket(0, path));
    pg_add_bytes(params, account);
    pg_add_bytes(params, path);
}

enum reserved_column { RESERVED_OFFSET, RESERVED_SETTLED };

enum status effect_notes_reserve(struct session *session, const struct appended_range *range,
    struct effect_note *note, struct error *refusal, struct error *err)
{
    struct pg_params params;
    PG_RESULT given = NULL;

    add_file(session, range->account, range->path, &params);
    pg_add_int8(&params, (int64_t)range->bytes);
    pg_add_int8(&params, LIMIT_APPENDED_FILE_BYTES);
    pg_add_int8(&params, LIMIT_APPENDED_FILES);
    TRY(pg_query(&session->pg, &sql_file_reserve, &params, &given, err));
    if (PQntuples(given) == 0) {
        reason_set(refusal, REASON_FILE_TOO_LARGE,
            "the file would have more than %d bytes, or the account more than %d files that are appended to",
            LIMIT_APPENDED_FILE_BYTES, LIMIT_APPENDED_FILES);
        return STATUS_OK;
    }
    note->offset = pg_int8(given, 0, RESERVED_OFFSET);
    note->min_size = pg_int8(given, 0, RESERVED_SETTLED);
    return STATUS_OK;
}

enum status effect_notes_send_settled(
    struct session *session, struct str account, struct str path, int64_t end, struct error *err)
{
    struct pg_params params;

    add_file(session, account, path, &params);
    pg_add_int8(&params, end);
    return pg_send(&session->pg, &sql_file_settle, &params, err);
}
