/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_store.h - where the bytes of chunks of blobs are kept outside of the database: the interface of such a store.
 *
 * A store holds bytes under names and nothing else. All that is known about them is in rows.
 * store/blobs/chunk_bytes.h makes the names, of which none is ever used for other bytes, so that a request that arrives
 * late or twice does no harm. The functions may be called by several threads at once.
 */
#ifndef BASE_CHUNK_STORE_H
#define BASE_CHUNK_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/* Which store has the bytes of a chunk. Stored in blob_chunks.store: never change a number. */
enum chunk_store_kind {
    CHUNK_STORE_POSTGRESQL, /* the row itself has them: no struct chunk_store */
    CHUNK_STORE_DIRECTORY,
    CHUNK_STORE_S3,
    CHUNK_STORE_KINDS
};

/* How long a caller waits. */
struct chunk_wait {
    int64_t until_us;                     /* clock_monotonic_us */
    bool (*is_given_up)(const void *who); /* asked several times a second; NULL: never */
    const void *who;
};

struct chunk_store;

enum { CHUNK_STORE_MAX_BYTES = 256 * 1024 /* of a chunk */ };

/*
 * Names are "folder/folder/file", of letters, digits and '-'.
 *
 * put     the bytes are durable under the name when this returns STATUS_OK; otherwise they may be there, in part or in
 *         whole. To put them again does no harm. A put that has not begun when the caller's time is over does not
 *         begin: otherwise an object could appear after its name was removed
 * get     STATUS_NOT_FOUND: there is nothing under the name. STATUS_LIMIT: there are more than CHUNK_STORE_MAX_BYTES.
 *         What is returned may be damaged: the caller knows the SHA-256
 * remove  nothing is under the name when this returns STATUS_OK, also if nothing was
 *
 * STATUS_UNAVAILABLE  the store cannot be used now, or has no room, or the caller has given up
 */
struct chunk_store_calls {
    enum status (*put)(struct chunk_store *store, const char *name, struct str bytes,
        const struct chunk_wait *wait, struct error *err);
    enum status (*get)(struct chunk_store *store, const char *name, const struct chunk_wait *wait,
        struct arena *arena, struct str *out, struct error *err);
    enum status (*remove)(
        struct chunk_store *store, const char *name, const struct chunk_wait *wait, struct error *err);
    void (*close)(struct chunk_store *store);
};

/* The first member of each store. */
struct chunk_store {
    const struct chunk_store_calls *calls;
};

/* The stores of a program. */
struct chunk_stores {
    enum chunk_store_kind put_into;            /* where new chunks go */
    struct chunk_store *of[CHUNK_STORE_KINDS]; /* NULL: not configured */
    int64_t kept_s; /* of a worker: how long bytes from which a chunk was moved are kept, for backups */
};

#endif
