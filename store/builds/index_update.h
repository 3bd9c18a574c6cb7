/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_update.h - the operation "update_index": making an index that is BECOMING_STRONG a strong one.
 *
 * From the change of the catalogue that began it on, every write brings its entries along. What may still be missing
 * are entries of earlier writes, and each of those has an intent or a dead letter. The operation walks the source keys
 * that have one, reconciles them, and then declares the index strong (guard G41).
 */
#ifndef STORE_BUILDS_INDEX_UPDATE_H
#define STORE_BUILDS_INDEX_UPDATE_H

#include "store/jobs/job.h"

/* One chunk. An index that is gone, or was made an eventual one again, cancels the operation. */
MUST_USE enum status index_update_chunk(struct job *job, struct error *err);

#endif
