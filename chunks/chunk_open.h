/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_open.h - opens the chunk stores that a program's settings name.
 */
#ifndef CHUNKS_CHUNK_OPEN_H
#define CHUNKS_CHUNK_OPEN_H

#include "base/chunk_settings.h"
#include "base/chunk_store.h"

/*
 * Open the stores. None need be usable yet. Borrows the settings.
 *
 * STATUS_INVALID  a setting is missing; the message names it
 */
MUST_USE enum status chunk_open(
    const struct chunk_settings *settings, struct chunk_stores *out, struct error *err);

/* What a session or a worker gets: NULL if all chunks are in the database. */
const struct chunk_stores *chunk_open_used(const struct chunk_stores *stores);

/* Try a store out: put, read and remove bytes. For tavola doctor. */
MUST_USE enum status chunk_open_check(struct chunk_store *store, struct error *err);

void chunk_open_close(struct chunk_stores *stores);

#endif
