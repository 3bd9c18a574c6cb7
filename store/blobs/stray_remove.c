/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stray_remove.c - see the header.
 */
#include "store/blobs/stray_remove.h"

#include "base/chunk_store.h"
#include "base/clock.h"
#include "base/failpoint.h"
#include "store/blobs/blob_rows.h"
#include "store/blobs/chunk_bytes.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum { STRAYS = 100, RETRY_S = 60, REMOVAL_WAIT_S = 20 };

enum stray_column { STRAY_ACCOUNT, STRAY_DIGEST, STRAY_OBJECT, STRAY_STORE };

struct stray {
    struct blob_id object;
    int store;
    const char *name;
    bool is_removed;
};

struct removal {
    struct arena arena; /* of the names */
    struct stray strays[STRAYS];
    int count;
};

/* ---- mark ---- */

static void add_stores(const struct session *session, struct pg_params *params)
{
    struct pg_array stores;

    pg_array_init(&stores, params->arena, PG_INT2);
    for (int i = 0; i < CHUNK_STORE_KINDS; i++)
        if (session->chunks->of[i])
            pg_array_int2(&stores, (int16_t)i);
    pg_add_array(params, &stores);
}

static enum status mark_strays(struct session *session, void *context, struct error *err)
{
    struct removal *removal = context;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, STRAYS);
    add_stores(session, &params);
    TRY(pg_query(&session->pg, &sql_strays_mark, &params, &rows, err));
    removal->count = PQntuples(rows);
    for (int i = 0; i < removal->count; i++) {
        struct stray *stray = &removal->strays[i];

        *stray = (struct stray){ .object = blob_rows_id(rows, i, STRAY_OBJECT),
            .store = pg_int2(rows, i, STRAY_STORE) };
        stray->name = chunk_bytes_name(pg_bytes(rows, i, STRAY_ACCOUNT), pg_bytes(rows, i, STRAY_DIGEST),
            &stray->object, &removal->arena);
    }
    return STATUS_OK;
}

/* ---- remove ---- */

/* What is behind a stop is left to the next round. */
static void remove_bytes(
    const struct chunk_stores *chunks, struct removal *removal, struct stray_round *round)
{
    for (int i = 0; i < removal->count && !round->is_stopping(round->who); i++) {
        struct stray *stray = &removal->strays[i];
        struct chunk_store *store = chunks->of[stray->store];
        const struct chunk_wait wait = { .until_us = clock_monotonic_us() + REMOVAL_WAIT_S * INT64_C(1000000),
            .is_given_up = round->is_stopping,
            .who = round->who };

        stray->is_removed = store->calls->remove(store, stray->name, &wait, &round->failure) == STATUS_OK;
        if (stray->is_removed)
            round->removed++;
        else
            round->failed++;
        FAILPOINT("stray.after_remove");
    }
}

/* ---- settle ---- */

static enum status settle_strays(struct session *session, void *context, struct error *err)
{
    const struct removal *removal = context;
    struct pg_array removed, failed;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_array_init(&removed, &session->arena, PG_UUID);
    pg_array_init(&failed, &session->arena, PG_UUID);
    for (int i = 0; i < removal->count; i++)
        pg_array_bytes(
            removal->strays[i].is_removed ? &removed : &failed, blob_id_str(&removal->strays[i].object));
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &removed);
    pg_add_array(&params, &failed);
    pg_add_int8(&params, RETRY_S);
    return pg_query(&session->pg, &sql_strays_settle, &params, &rows, err);
}

enum status stray_remove_round(struct worker *store, struct stray_round *round, struct error *err)
{
    struct removal removal = { .count = 0 };
    enum status status;

    round->removed = round->failed = 0;
    round->more = false;
    if (!store->session.chunks)
        return STATUS_OK;
    arena_init(&removal.arena);
    status = worker_attempt(store, mark_strays, &removal, err);
    FAILPOINT("stray.after_mark");
    if (status == STATUS_OK && removal.count > 0) {
        remove_bytes(store->session.chunks, &removal, round);
        status = worker_attempt(store, settle_strays, &removal, err);
        round->more = removal.count == STRAYS;
    }
    arena_cleanup(&removal.arena);
    return status;
}
