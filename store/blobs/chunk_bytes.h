/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_bytes.h - the bytes of a chunk, wherever they are: in its row, or as an object in a chunk store.
 *
 * An append to a store outside of the database is divided, so that no transaction is open while the store works and a
 * crash at any point leaves rows that say what is there:
 *
 *   1. reserve   chunk_bytes_prepare: note the object as a stray, unless the account has the chunk; a commit of its own
 *   2. put       the same: the bytes become durable under the object's name, which no other bytes ever have
 *   3. name      chunk_bytes_send_hold, then blob_append.sql: the stray becomes the chunk's object, unless the
 *                collector has begun to remove it (guard G68)
 */
#ifndef STORE_BLOBS_CHUNK_BYTES_H
#define STORE_BLOBS_CHUNK_BYTES_H

#include "base/chunk_store.h"
#include "domain/blobs/blob.h"
#include "domain/operations/operation.h"

struct pg_params;
struct session;

/* How the next append stores its chunk. */
struct chunk_bytes {
    struct blob_digest digest;
    enum chunk_store_kind store; /* CHUNK_STORE_POSTGRESQL: the append carries the bytes */
    bool is_present;             /* otherwise: the account has the chunk already; false: as this object */
    struct blob_id object;
};

/*
 * Prepare an append of the bytes in.blob.bytes, outside of a transaction. Sends nothing if they go to the database.
 *
 * STATUS_UNAVAILABLE  BLOB_STORE_UNAVAILABLE: the store cannot take them
 */
MUST_USE enum status chunk_bytes_prepare(
    struct session *session, const struct operation *operation, struct chunk_bytes *out, struct error *err);

/* Send the statement that must precede the append in its transaction, if there is one. */
MUST_USE enum status chunk_bytes_send_hold(struct session *session, const struct operation *operation,
    const struct chunk_bytes *chunk, struct error *err);

/*
 * Take its result. STATUS_UNAVAILABLE, without a reason: the collector has come between, and the append stores nothing;
 * prepare again.
 */
MUST_USE enum status chunk_bytes_take_hold(
    struct session *session, const struct chunk_bytes *chunk, struct error *err);

/* Add the chunk's digest, bytes, size, store and object to the parameters of blob_append.sql, which borrow from it. */
void chunk_bytes_add(struct str bytes, const struct chunk_bytes *chunk, struct pg_params *params);

/*
 * Read the object of a chunk. STATUS_NOT_FOUND: it is not there, or has other bytes than the digest says.
 *
 * STATUS_UNAVAILABLE  BLOB_STORE_UNAVAILABLE: the store is not configured, or cannot be used now
 */
MUST_USE enum status chunk_bytes_fetch(struct session *session, struct operation *operation,
    const struct chunk_bytes *chunk, struct str *out, struct error *err);

/* An id that no object has had: random. */
struct blob_id chunk_bytes_new_object(void);

/* The name of an object. In the arena, with a NUL behind it. */
const char *chunk_bytes_name(
    struct str account, struct str digest, const struct blob_id *object, struct arena *arena);

#endif
