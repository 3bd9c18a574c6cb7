/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_bytes.c - see the header.
 */
#include "store/blobs/chunk_bytes.h"

#include <string.h>

#include "base/clock.h"
#include "base/digits.h"
#include "base/failpoint.h"
#include "base/random.h"
#include "domain/blobs/blob_hash.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/blobs/blob_rows.h"
#include "store/sql.h"

enum reserve_column { RESERVE_PRESENT, RESERVE_MAY };

/*
 * An attempt at a chunk begins to put its bytes at most STORE_WAIT_S after its beginning. Their stray is due
 * STRAY_KEPT_S after it was noted, so the removal finds them.
 */
enum { STORE_WAIT_S = 60, STRAY_KEPT_S = LIMIT_PUT_KEPT_S };
_Static_assert((int)CHUNK_STORE_MAX_BYTES == (int)LIMIT_BLOB_CHUNK_BYTES, "a chunk is one object");
_Static_assert((int)STRAY_KEPT_S >= 5 * (int)STORE_WAIT_S, "a stray outlives the attempt to put it");

struct blob_id chunk_bytes_new_object(void)
{
    uint64_t bits[2] = { random_bits(), random_bits() };
    struct blob_id out;

    memcpy(out.bytes, bits, sizeof(out.bytes));
    return out;
}

const char *chunk_bytes_name(
    struct str account, struct str digest, const struct blob_id *object, struct arena *arena)
{
    char hex[2 * BLOB_DIGEST_BYTES + 1] = "", id[2 * BLOB_ID_BYTES + 1] = "";
    struct str folder = arena_copy(arena, account);
    char *mark = memchr(folder.data, '#', folder.len);

    digits_encode_hex(digest, hex);
    digits_encode_hex(blob_id_str(object), id);
    if (mark)
        *mark = '-'; /* which no name of an account has: domain/account_id.h */
    return arena_format(arena, "%.*s/%.2s/%s-%s", STR_ARG(folder), hex, hex, id).data;
}

/* ---- waiting ---- */

static bool is_given_up(const void *who)
{
    const struct operation *operation = who;

    return atomic_load(&operation->cancelled);
}

static struct chunk_wait wait_of(const struct operation *operation)
{
    int64_t until_us = clock_monotonic_us() + STORE_WAIT_S * INT64_C(1000000);

    return (
        struct chunk_wait){ .until_us = operation->deadline_us < until_us ? operation->deadline_us : until_us,
        .is_given_up = is_given_up,
        .who = operation };
}

/* What a store says may name hosts and files, so it is only logged. */
static enum status refuse_store(const struct error *failure, struct error *err)
{
    struct error named = { 0 };

    (void)reason_set(&named, REASON_BLOB_STORE_UNAVAILABLE, "the store of the chunks cannot be used now");
    error_set_detail(&named, failure->message);
    *err = named;
    return named.status;
}

static struct chunk_store *store_of(const struct session *session, int store)
{
    bool is_known = session->chunks && store > CHUNK_STORE_POSTGRESQL && store < CHUNK_STORE_KINDS;

    return is_known ? session->chunks->of[store] : NULL;
}

/* ---- append ---- */

static enum status reserve_object(
    struct session *session, const struct operation *operation, struct chunk_bytes *chunk, struct error *err)
{
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, blob_digest_str(&chunk->digest));
    pg_add_bytes(&params, blob_id_str(&chunk->object));
    pg_add_int2(&params, (int16_t)chunk->store);
    pg_add_int8(&params, STRAY_KEPT_S);
    pg_add_int4(&params, (int32_t)operation->in.blob.bytes.len);
    TRY(pg_query(&session->pg, &sql_chunk_reserve, &params, &rows, err));
    chunk->is_present = pg_bool(rows, 0, RESERVE_PRESENT);
    if (pg_bool(rows, 0, RESERVE_MAY))
        return STATUS_OK;
    return reason_set(err, REASON_BLOB_STORE_UNAVAILABLE,
        "programs of older versions, which would lose chunks outside of the database, may still run: see "
        "tavola migrate --refuse-older");
}

static enum status put_object(struct session *session, const struct operation *operation,
    const struct chunk_bytes *chunk, const struct chunk_wait *wait, struct error *err)
{
    struct chunk_store *store = store_of(session, (int)chunk->store);
    const char *name = chunk_bytes_name(
        operation->account, blob_digest_str(&chunk->digest), &chunk->object, &session->arena);
    struct error failure = { 0 };

    if (store->calls->put(store, name, operation->in.blob.bytes, wait, &failure) == STATUS_OK)
        return STATUS_OK;
    return refuse_store(&failure, err);
}

enum status chunk_bytes_prepare(
    struct session *session, const struct operation *operation, struct chunk_bytes *out, struct error *err)
{
    struct chunk_wait wait = wait_of(operation); /* counted from before the stray is noted */

    *out = (struct chunk_bytes){ .digest = blob_hash_of(operation->in.blob.bytes),
        .store = session->chunks ? session->chunks->put_into : CHUNK_STORE_POSTGRESQL };
    if (out->store == CHUNK_STORE_POSTGRESQL)
        return STATUS_OK;
    out->object = chunk_bytes_new_object();
    TRY(reserve_object(session, operation, out, err));
    FAILPOINT("chunk.after_reserve");
    if (out->is_present)
        return STATUS_OK;
    TRY(put_object(session, operation, out, &wait, err));
    FAILPOINT("chunk.after_put");
    return STATUS_OK;
}

enum status chunk_bytes_send_hold(struct session *session, const struct operation *operation,
    const struct chunk_bytes *chunk, struct error *err)
{
    struct pg_params params;

    if (chunk->store == CHUNK_STORE_POSTGRESQL)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    if (!chunk->is_present) {
        pg_add_bytes(&params, blob_id_str(&chunk->object));
        return pg_send(&session->pg, &sql_chunk_hold_stray, &params, err);
    }
    pg_add_bytes(&params, operation->account);
    pg_add_bytes(&params, blob_digest_str(&chunk->digest));
    return pg_send(&session->pg, &sql_chunk_hold, &params, err);
}

enum status chunk_bytes_take_hold(struct session *session, const struct chunk_bytes *chunk, struct error *err)
{
    PG_RESULT rows = NULL;

    if (chunk->store == CHUNK_STORE_POSTGRESQL)
        return STATUS_OK;
    TRY(pg_next(&session->pg, &rows, err));
    return PQntuples(rows) > 0
               ? STATUS_OK
               : error_set(err, STATUS_UNAVAILABLE, "the collector has removed the chunk meanwhile");
}

void chunk_bytes_add(struct str bytes, const struct chunk_bytes *chunk, struct pg_params *params)
{
    bool is_object = chunk->store != CHUNK_STORE_POSTGRESQL && !chunk->is_present;

    pg_add_bytes(params, blob_digest_str(&chunk->digest));
    if (chunk->store == CHUNK_STORE_POSTGRESQL)
        pg_add_bytes(params, bytes);
    else
        pg_add_null(params);
    pg_add_int4(params, (int32_t)bytes.len);
    pg_add_int2(params, (int16_t)chunk->store);
    if (is_object)
        pg_add_bytes(params, blob_id_str(&chunk->object));
    else
        pg_add_null(params);
}

/* ---- read ---- */

enum status chunk_bytes_fetch(struct session *session, struct operation *operation,
    const struct chunk_bytes *chunk, struct str *out, struct error *err)
{
    struct chunk_store *from = store_of(session, (int)chunk->store);
    const char *name = chunk_bytes_name(
        operation->account, blob_digest_str(&chunk->digest), &chunk->object, &session->arena);
    struct chunk_wait wait = wait_of(operation);
    struct error failure = { 0 };
    struct blob_digest found;
    enum status status;

    if (!from)
        return reason_set(err, REASON_BLOB_STORE_UNAVAILABLE,
            "this server is not configured with the store that has the chunk");
    status = from->calls->get(from, name, &wait, operation->arena, out, &failure);
    if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_LIMIT)
        return refuse_store(&failure, err);
    found = blob_hash_of(status == STATUS_OK ? *out : STR_EMPTY);
    if (status == STATUS_OK && blob_hash_equal(&found, &chunk->digest))
        return STATUS_OK;
    return error_set(err, STATUS_NOT_FOUND, "%s",
        status == STATUS_OK ? "a chunk of a blob does not have its SHA-256" : "a chunk of a blob is missing");
}
