/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held_blob_rows.h - the rows that say which entities hold which contents of blobs: domain/writes/held_blobs.h.
 */
#ifndef STORE_ENTITIES_HELD_BLOB_ROWS_H
#define STORE_ENTITIES_HELD_BLOB_ROWS_H

#include "base/error.h"

struct session;
struct write_set;

/* Behind the locks of the entities: lock the contents that the batch may take or give up (guard G60). */
MUST_USE enum status held_blob_rows_lock(struct session *session, struct write_set *set, struct error *err);

/* Send what the planned rows take and give up; a content that no entity holds any more is discarded (guard G61). */
MUST_USE enum status held_blob_rows_send(
    struct session *session, const struct write_set *set, struct error *err);

#endif
