/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expire.h - deleting entities whose time has come. Nobody sees them any more; but only an ordinary delete, with its
 * intents, takes their entries out of the indexes.
 */
#ifndef STORE_BACKGROUND_EXPIRE_H
#define STORE_BACKGROUND_EXPIRE_H

#include "store/session/worker_internal.h"

/* So many at once at most. *count: how many were due; those that are not any more are left alone. */
enum { EXPIRE_CHUNK = 500 };
MUST_USE enum status expire_chunk(struct worker *store, int64_t *count, struct error *err);

#endif
