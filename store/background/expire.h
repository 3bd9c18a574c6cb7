/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expire.h - deletes expired entities. Reads skip them already; but only an ordinary delete, with its
 * intents, takes their entries out of the indexes.
 */
#ifndef STORE_BACKGROUND_EXPIRE_H
#define STORE_BACKGROUND_EXPIRE_H

#include "store/session/worker_attempt.h"

/* The most entities of a chunk. *count: how many had expired; an entity that was written since is left alone. */
enum { EXPIRE_CHUNK = 500 };
MUST_USE enum status expire_chunk(struct worker *store, int64_t *count, struct error *err);

#endif
