/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expire.h - deletes expired entities. Reads do not return them, but only an ordinary delete, with
 * its intents, removes their entries from the indexes.
 */
#ifndef STORE_BACKGROUND_EXPIRE_H
#define STORE_BACKGROUND_EXPIRE_H

#include "store/session/worker_attempt.h"

/*
 * Delete up to EXPIRE_CHUNK expired entities. *count: how many were found; an entity that was
 * written meanwhile is not deleted.
 */
enum { EXPIRE_CHUNK = 500 };
MUST_USE enum status expire_chunk(struct worker *store, int64_t *count, struct error *err);

#endif
