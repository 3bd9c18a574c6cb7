/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_move.c - see the header. The batches of two workers may overlap, when one has stood still: both put objects of
 * their own, and the second one to point finds that the chunks have changed.
 */
#include "store/background/chunk_move.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/chunk_settings.h"
#include "base/chunk_store.h"
#include "base/clock.h"
#include "base/digits.h"
#include "base/failpoint.h"
#include "domain/blobs/blob_hash.h"
#include "domain/limits.h"
#include "store/blobs/chunk_bytes.h"
#include "store/sql.h"

enum {
    CHUNKS = 16,   /* of a batch: their bytes are in memory */
    SCANNED = 500, /* rows that one statement reads to find or to count them */
    THREADS = 8,   /* that wait for the stores */
    MAX_READS = 3, /* a store may answer once with something else */
    BATCH_WAIT_S = 180,
    STRAY_KEPT_S = LIMIT_PUT_KEPT_S,
    MAX_PASSES = 3
};
_Static_assert((int)STRAY_KEPT_S >= 3 * (int)BATCH_WAIT_S, "a stray outlives the batch that puts it");

struct chunk {
    struct str account, digest; /* in the job's arena */
    int64_t size;
    int store;         /* that has the bytes */
    struct str object; /* the id there; empty: the database has the bytes */
    struct blob_id new_object;
    struct arena arena; /* of the bytes */
    struct str bytes;
    enum status status; /* STATUS_NOT_FOUND: they are missing or damaged */
    struct error failure;
};

struct batch {
    struct job *job;
    const struct chunk_stores *stores;
    enum chunk_store_kind target;
    struct chunk chunks[CHUNKS];
    int count;
    bool is_last; /* no chunk is behind the cursor */
    int64_t moved, damaged, left;
    struct chunk_wait wait;
    atomic_int next; /* that a thread takes */
};

/* ---- choose ---- */

enum page_column { PAGE_ACCOUNT, PAGE_DIGEST, PAGE_SIZE, PAGE_STORE, PAGE_OBJECT };

static void take_row(struct batch *batch, const PGresult *rows, int row)
{
    struct arena *arena = &batch->job->arena;
    struct chunk *chunk = &batch->chunks[batch->count++];

    chunk->account = arena_copy(arena, pg_bytes(rows, row, PAGE_ACCOUNT));
    chunk->digest = arena_copy(arena, pg_bytes(rows, row, PAGE_DIGEST));
    chunk->size = pg_int4(rows, row, PAGE_SIZE);
    chunk->store = pg_int2(rows, row, PAGE_STORE);
    chunk->object =
        PQgetisnull(rows, row, PAGE_OBJECT) ? STR_EMPTY : arena_copy(arena, pg_bytes(rows, row, PAGE_OBJECT));
    chunk->new_object = chunk_bytes_new_object();
}

/* Behind which chunk to go on, in the order of keys; both empty: from the first one on. */
struct position {
    struct str account, digest;
};

/* The cursor of the job is the key of the last chunk that was looked at: its account and, in digits, its digest. */
static enum status position_of(
    const struct job *job, struct arena *arena, struct position *out, struct error *err)
{
    char *digest = arena_alloc(arena, BLOB_DIGEST_BYTES);

    *out = (struct position){ STR_EMPTY, STR_EMPTY };
    if (!job->has_cursor)
        return STATUS_OK;
    if (job->cursor.row.len != 2 * BLOB_DIGEST_BYTES || !digits_decode_hex(job->cursor.row, digest))
        return error_set(err, STATUS_INTERNAL, "the cursor of operation %.*s is not that of a move of chunks",
            STR_ARG(job->id));
    *out = (struct position){ job->cursor.partition, str_of_bytes(digest, BLOB_DIGEST_BYTES) };
    return STATUS_OK;
}

static void set_cursor(struct job *job, const PGresult *rows, int row)
{
    struct str digest = pg_bytes(rows, row, PAGE_DIGEST);
    char *hex = arena_alloc(&job->arena, 2 * digest.len);

    digits_encode_hex(digest, hex);
    job->has_cursor = true;
    job->cursor.partition = arena_copy(&job->arena, pg_bytes(rows, row, PAGE_ACCOUNT));
    job->cursor.row = str_of_bytes(hex, 2 * digest.len);
}

static enum status read_page(
    struct session *session, const struct position *behind, PGresult **rows, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_bytes(&params, behind->account);
    pg_add_bytes(&params, behind->digest);
    pg_add_int8(&params, SCANNED);
    return pg_query(&session->pg, &sql_chunk_move_page, &params, rows, err);
}

static void add_keys(const struct batch *batch, struct arena *arena, struct pg_params *params)
{
    struct pg_array accounts, digests;

    pg_array_init(&accounts, arena, PG_TEXT);
    pg_array_init(&digests, arena, PG_BYTEA);
    for (int i = 0; i < batch->count; i++) {
        pg_array_bytes(&accounts, batch->chunks[i].account);
        pg_array_bytes(&digests, batch->chunks[i].digest);
    }
    pg_add_array(params, &accounts);
    pg_add_array(params, &digests);
}

/* Read the bytes that the database has. */
static enum status read_bytes(struct session *session, struct batch *batch, struct error *err)
{
    enum { PLACE, BYTES };
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    add_keys(batch, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_chunk_move_bytes, &params, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++) {
        struct chunk *chunk = &batch->chunks[pg_int8(rows, i, PLACE) - 1];

        chunk->bytes = arena_copy(&chunk->arena, pg_bytes(rows, i, BYTES));
    }
    return STATUS_OK;
}

static enum status choose_chunks(struct session *session, void *context, struct error *err)
{
    struct batch *batch = context;
    PG_RESULT rows = NULL;
    struct position behind;
    int row = 0;

    for (int i = 0; i < CHUNKS; i++)
        arena_cleanup(&batch->chunks[i].arena);
    batch->count = 0;
    TRY(position_of(batch->job, &session->arena, &behind, err));
    TRY(read_page(session, &behind, &rows, err));
    for (; row < PQntuples(rows) && batch->count < CHUNKS; row++)
        if (pg_int2(rows, row, PAGE_STORE) != (int)batch->target)
            take_row(batch, rows, row);
    TRY(read_bytes(session, batch, err));
    batch->is_last = row == PQntuples(rows) && row < SCANNED;
    if (row > 0)
        set_cursor(batch->job, rows, row - 1);
    return STATUS_OK;
}

static enum status check_store(const struct batch *batch, int store, struct error *err)
{
    if (store == CHUNK_STORE_POSTGRESQL ||
        (store > 0 && store < CHUNK_STORE_KINDS && batch->stores && batch->stores->of[store]))
        return STATUS_OK;
    return error_set(err, STATUS_INVALID,
        "the worker is not configured with store \"%s\" of chunks: set its settings on all workers and "
        "servers, and move again",
        store > 0 && store < CHUNK_STORE_KINDS ? chunk_settings_stores[store] : "?");
}

static enum status check_stores(const struct batch *batch, struct error *err)
{
    TRY(check_store(batch, (int)batch->target, err));
    for (int i = 0; i < batch->count; i++)
        TRY(check_store(batch, batch->chunks[i].store, err));
    return STATUS_OK;
}

/* ---- reserve ---- */

static enum status reserve_objects(struct session *session, void *context, struct error *err)
{
    const struct batch *batch = context;
    struct pg_array objects, sizes;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    pg_array_init(&objects, &session->arena, PG_UUID);
    pg_array_init(&sizes, &session->arena, PG_INT8);
    for (int i = 0; i < batch->count; i++) {
        pg_array_bytes(&objects, blob_id_str(&batch->chunks[i].new_object));
        pg_array_int8(&sizes, batch->chunks[i].size);
    }
    pg_add_array(&params, &objects);
    add_keys(batch, &session->arena, &params);
    pg_add_array(&params, &sizes);
    pg_add_int2(&params, (int16_t)batch->target);
    pg_add_int8(&params, STRAY_KEPT_S);
    return pg_query(&session->pg, &sql_chunk_move_reserve, &params, &rows, err);
}

/* ---- copy ---- */

static bool has_digest(const struct chunk *chunk)
{
    struct blob_digest digest = blob_hash_of(chunk->bytes);

    return str_equal(blob_digest_str(&digest), chunk->digest);
}

static struct blob_id object_of(const struct chunk *chunk)
{
    struct blob_id out = { { 0 } };

    if (chunk->object.len == sizeof(out.bytes))
        memcpy(out.bytes, chunk->object.data, sizeof(out.bytes));
    return out;
}

/* Read the object. STATUS_NOT_FOUND: it is missing, or has other bytes than the digest says. */
static enum status fetch_object(
    const struct batch *batch, int store, const struct blob_id *object, struct chunk *chunk)
{
    struct chunk_store *from = batch->stores->of[store];
    const char *name = chunk_bytes_name(chunk->account, chunk->digest, object, &chunk->arena);
    enum status status = STATUS_NOT_FOUND;

    for (int i = 0; i < MAX_READS; i++) {
        status = from->calls->get(from, name, &batch->wait, &chunk->arena, &chunk->bytes, &chunk->failure);
        if (status == STATUS_OK && has_digest(chunk))
            return STATUS_OK;
        if (status != STATUS_OK && status != STATUS_NOT_FOUND && status != STATUS_LIMIT)
            return status;
    }
    return STATUS_NOT_FOUND;
}

/* What was put is read back: the old bytes go. */
static enum status put_object(const struct batch *batch, struct chunk *chunk)
{
    struct chunk_store *into = batch->stores->of[batch->target];
    const char *name = chunk_bytes_name(chunk->account, chunk->digest, &chunk->new_object, &chunk->arena);
    enum status status = into->calls->put(into, name, chunk->bytes, &batch->wait, &chunk->failure);

    if (status == STATUS_OK)
        status = fetch_object(batch, (int)batch->target, &chunk->new_object, chunk);
    chunk->bytes = STR_EMPTY;
    if (status == STATUS_NOT_FOUND)
        return error_set(&chunk->failure, STATUS_UNAVAILABLE,
            "the store does not return the bytes of a chunk that it has just taken");
    return status;
}

static void copy_chunk(const struct batch *batch, struct chunk *chunk)
{
    struct blob_id object = object_of(chunk);

    if (chunk->object.len > 0)
        chunk->status = fetch_object(batch, chunk->store, &object, chunk);
    else
        chunk->status = has_digest(chunk) ? STATUS_OK : STATUS_NOT_FOUND;
    if (chunk->status == STATUS_OK && batch->target != CHUNK_STORE_POSTGRESQL)
        chunk->status = put_object(batch, chunk);
}

static void *copy_some(void *context)
{
    struct batch *batch = context;
    int place;

    while ((place = atomic_fetch_add(&batch->next, 1)) < batch->count)
        copy_chunk(batch, &batch->chunks[place]);
    return NULL;
}

/* The threads only wait for stores; without any this one copies all. */
static void copy_chunks(struct batch *batch)
{
    pthread_t threads[THREADS];
    int count = 0;

    atomic_init(&batch->next, 0);
    while (count < THREADS && count < batch->count - 1 &&
           pthread_create(&threads[count], NULL, copy_some, batch) == 0)
        count++;
    copy_some(batch);
    while (count > 0)
        pthread_join(threads[--count], NULL);
}

/* ---- point ---- */

static void add_objects(const struct batch *batch, struct arena *arena, struct pg_params *params)
{
    struct pg_array stores, objects;

    pg_array_init(&stores, arena, PG_INT2);
    pg_array_init(&objects, arena, PG_UUID);
    for (int i = 0; i < batch->count; i++) {
        pg_array_int2(&stores, (int16_t)batch->chunks[i].store);
        if (batch->chunks[i].object.len > 0)
            pg_array_bytes(&objects, batch->chunks[i].object);
        else
            pg_array_null(&objects);
    }
    pg_add_array(params, &stores);
    pg_add_array(params, &objects);
}

static void add_new_objects(const struct batch *batch, struct arena *arena, struct pg_params *params)
{
    bool is_in_database = batch->target == CHUNK_STORE_POSTGRESQL;
    struct pg_array objects, bytes;

    pg_array_init(&objects, arena, PG_UUID);
    pg_array_init(&bytes, arena, PG_BYTEA);
    for (int i = 0; i < batch->count; i++) {
        if (is_in_database) {
            pg_array_null(&objects);
            pg_array_bytes(&bytes, batch->chunks[i].bytes);
        } else {
            pg_array_bytes(&objects, blob_id_str(&batch->chunks[i].new_object));
            pg_array_null(&bytes);
        }
    }
    pg_add_array(params, &objects);
    pg_add_array(params, &bytes);
}

/* Point the chunks of a batch that were all copied. */
static enum status point_chunks(struct session *session, void *context, struct error *err)
{
    struct batch *batch = context;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    add_keys(batch, &session->arena, &params);
    add_objects(batch, &session->arena, &params);
    add_new_objects(batch, &session->arena, &params);
    pg_add_int2(&params, (int16_t)batch->target);
    pg_add_int8(&params, batch->stores->kept_s);
    TRY(pg_query(&session->pg, &sql_chunk_move_point, &params, &rows, err));
    batch->moved = pg_int8(rows, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

/* A chunk whose bytes were not found may have been collected meanwhile. */
static enum status count_damaged(struct session *session, void *context, struct error *err)
{
    struct batch *batch = context;
    struct pg_params params;
    PG_RESULT rows = NULL;

    pg_params_init(&params, &session->arena);
    add_keys(batch, &session->arena, &params);
    add_objects(batch, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_chunk_move_damaged, &params, &rows, err));
    batch->damaged = pg_int8(rows, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}

/* The chunks of the batch whose copy ended with this status, as a batch; they borrow from it. */
static struct batch part_of(const struct batch *batch, enum status status)
{
    struct batch out = { .job = batch->job, .stores = batch->stores, .target = batch->target };

    for (int i = 0; i < batch->count; i++)
        if (batch->chunks[i].status == status)
            out.chunks[out.count++] = batch->chunks[i];
    return out;
}

/* Carry out what the copies allow. A failure of a store is that of the last chunk that met one. */
static enum status settle_chunks(struct batch *batch, struct error *err)
{
    struct batch copied = part_of(batch, STATUS_OK), damaged = part_of(batch, STATUS_NOT_FOUND);
    enum status status = STATUS_OK;

    if (copied.count > 0)
        TRY(worker_attempt(batch->job->store, point_chunks, &copied, err));
    batch->moved = copied.moved;
    FAILPOINT("chunk_move.after_point");
    if (damaged.count > 0)
        TRY(worker_attempt(batch->job->store, count_damaged, &damaged, err));
    batch->damaged = damaged.damaged;
    for (int i = 0; i < batch->count; i++)
        if (batch->chunks[i].status != STATUS_OK && batch->chunks[i].status != STATUS_NOT_FOUND)
            status = error_set(err, STATUS_UNAVAILABLE, "%s", batch->chunks[i].failure.message);
    batch->job->is_store_down = status != STATUS_OK && copied.count == 0;
    return status;
}

static enum status move_chunks(struct batch *batch, struct error *err)
{
    TRY(check_stores(batch, err));
    if (batch->count == 0)
        return STATUS_OK;
    /* counted from before the strays are noted */
    batch->wait = (struct chunk_wait){ .until_us = clock_monotonic_us() + BATCH_WAIT_S * INT64_C(1000000),
        .is_given_up = batch->job->is_stopping,
        .who = batch->job->who };
    if (batch->target != CHUNK_STORE_POSTGRESQL) {
        TRY(worker_attempt(batch->job->store, reserve_objects, batch, err));
        FAILPOINT("chunk_move.after_reserve");
    }
    copy_chunks(batch);
    FAILPOINT("chunk_move.after_copy");
    return settle_chunks(batch, err);
}

/* ---- passes ---- */

/* The count of the chunks that are in other stores than the target. */
struct count {
    const struct batch *batch;
    struct position behind; /* in the job's arena */
    bool more;
    int64_t left;
};

static enum status count_page(struct session *session, void *context, struct error *err)
{
    struct count *count = context;
    struct arena *arena = &count->batch->job->arena;
    PG_RESULT rows = NULL;
    int number;

    TRY(read_page(session, &count->behind, &rows, err));
    number = PQntuples(rows);
    for (int i = 0; i < number; i++)
        count->left += pg_int2(rows, i, PAGE_STORE) != (int)count->batch->target;
    count->more = number == SCANNED;
    if (count->more)
        count->behind = (struct position){ arena_copy(arena, pg_bytes(rows, number - 1, PAGE_ACCOUNT)),
            arena_copy(arena, pg_bytes(rows, number - 1, PAGE_DIGEST)) };
    return STATUS_OK;
}

/* By pages: one statement that reads all chunks would exceed the statement timeout where there are many. */
static enum status count_left(struct batch *batch, struct error *err)
{
    struct count count = { .batch = batch, .behind = { STR_EMPTY, STR_EMPTY }, .more = true };
    const struct job *job = batch->job;

    while (count.more) {
        if (job->is_stopping(job->who))
            return error_set(err, STATUS_UNAVAILABLE, "the worker is stopping");
        TRY(worker_attempt(job->store, count_page, &count, err));
    }
    batch->left = count.left;
    return STATUS_OK;
}

static void begin_pass(struct batch *batch)
{
    struct job *job = batch->job;

    job->total = job->done + batch->left;
    job->faults = 0;
    job->has_cursor = false;
    job->cursor = (struct entity_key){ STR_EMPTY, STR_EMPTY };
    job->phase++;
}

static void end_move(struct batch *batch)
{
    struct job *job = batch->job;

    job->state = batch->left == 0 ? JOB_DONE : JOB_FAILED;
    if (batch->left == 0)
        return;
    if (job->faults > 0)
        job->error = arena_format(&job->arena,
            "%lld chunks are missing or damaged and stay in their store; docs/blobs.md, Moving chunks, says "
            "how to find their blobs",
            (long long)job->faults);
    else
        job->error = arena_format(&job->arena,
            "%lld chunks were put into other stores meanwhile: set TAVOLA_BLOB_STORE=%s on all servers and "
            "workers, and move again",
            (long long)batch->left, chunk_settings_stores[batch->target]);
}

/* All chunks were looked at. Those that were put elsewhere meanwhile are moved by another pass. */
static enum status end_pass(struct batch *batch, struct error *err)
{
    const struct job *job = batch->job;

    TRY(count_left(batch, err));
    if (batch->left <= job->faults || job->phase >= MAX_PASSES)
        end_move(batch);
    else
        begin_pass(batch);
    return STATUS_OK;
}

static enum status find_target(const struct job *job, enum chunk_store_kind *out, struct error *err)
{
    for (int i = 0; i < CHUNK_STORE_KINDS; i++)
        if (str_equal(job->target, str_of(chunk_settings_stores[i]))) {
            *out = (enum chunk_store_kind)i;
            return STATUS_OK;
        }
    return error_set(err, STATUS_INVALID, "there is no store \"%.*s\" of chunks", STR_ARG(job->target));
}

/* A store or the database cannot be used: what was moved counts, and the pass goes on at the same place. */
static void stay_there(struct job *job, const struct job *before)
{
    struct error ignored;
    enum status status;

    job->has_cursor = before->has_cursor;
    job->cursor = before->cursor;
    job->faults = before->faults;
    status = job_checkpoint(job, &ignored);
    (void)status; /* the next batch finds out what has been done */
}

static enum status run_batch(struct batch *batch, struct error *err)
{
    struct job *job = batch->job, before;
    enum status status;

    TRY(find_target(job, &batch->target, err));
    if (job->phase == 0) {
        TRY(count_left(batch, err));
        begin_pass(batch);
    }
    before = *job;
    TRY(worker_attempt(job->store, choose_chunks, batch, err));
    status = move_chunks(batch, err);
    job->done += batch->moved;
    job->faults += batch->damaged;
    if (status == STATUS_OK && batch->is_last)
        status = end_pass(batch, err);
    if (status != STATUS_OK && pg_is_transient(err))
        stay_there(job, &before);
    TRY(status);
    FAILPOINT_TRY("chunk_move.before_checkpoint", err);
    return job_checkpoint(job, err);
}

enum status chunk_move_batch(struct job *job, struct error *err)
{
    struct batch batch = { .job = job, .stores = job->store->session.chunks };
    enum status status;

    for (int i = 0; i < CHUNKS; i++)
        arena_init(&batch.chunks[i].arena);
    status = run_batch(&batch, err);
    for (int i = 0; i < CHUNKS; i++)
        arena_cleanup(&batch.chunks[i].arena);
    return status;
}
