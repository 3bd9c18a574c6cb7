/* SPDX-License-Identifier: Apache-2.0 */
/* chunk_open.c - see the header. */
#include "chunks/chunk_open.h"

#include "base/clock.h"
#include "base/random.h"
#include "chunks/chunk_directory.h"
#include "chunks/chunk_s3.h"

static const int64_t CHECK_WAIT_US = 10000000;

enum status chunk_open(const struct chunk_settings *settings, struct chunk_stores *out, struct error *err)
{
    *out = (struct chunk_stores){ .put_into = (enum chunk_store_kind)settings->put_into };
    if (settings->put_into == CHUNK_STORE_DIRECTORY && !settings->directory)
        return error_set(err, STATUS_INVALID, "TAVOLA_BLOB_STORE=directory needs TAVOLA_BLOB_DIRECTORY");
    if (settings->put_into == CHUNK_STORE_S3 && !settings->s3_url)
        return error_set(err, STATUS_INVALID, "TAVOLA_BLOB_STORE=s3 needs TAVOLA_BLOB_S3_URL");
    if (settings->directory)
        out->of[CHUNK_STORE_DIRECTORY] = chunk_directory_open(settings->directory);
    if (settings->s3_url)
        return chunk_s3_open(settings, &out->of[CHUNK_STORE_S3], err);
    return STATUS_OK;
}

const struct chunk_stores *chunk_open_used(const struct chunk_stores *stores)
{
    for (int i = 0; i < CHUNK_STORE_KINDS; i++)
        if (stores->of[i])
            return stores;
    return NULL;
}

static enum status check_bytes(
    struct chunk_store *store, const char *name, struct arena *arena, struct error *err)
{
    const struct chunk_wait wait = { .until_us = clock_monotonic_us() + CHECK_WAIT_US };
    const struct str bytes = STR_LITERAL("tavola doctor");
    struct str found;

    TRY(store->calls->put(store, name, bytes, &wait, err));
    TRY(store->calls->get(store, name, &wait, arena, &found, err));
    if (!str_equal(found, bytes))
        return error_set(err, STATUS_UNAVAILABLE, "the store returns other bytes than were put");
    return store->calls->remove(store, name, &wait, err);
}

enum status chunk_open_check(struct chunk_store *store, struct error *err)
{
    struct arena arena;
    enum status status;

    arena_init(&arena);
    status = check_bytes(
        store, arena_format(&arena, "check/00/%llx", (unsigned long long)random_bits()).data, &arena, err);
    arena_cleanup(&arena);
    return status;
}

void chunk_open_close(struct chunk_stores *stores)
{
    for (int i = 0; i < CHUNK_STORE_KINDS; i++)
        if (stores->of[i])
            stores->of[i]->calls->close(stores->of[i]);
    *stores = (struct chunk_stores){ .put_into = CHUNK_STORE_POSTGRESQL };
}
