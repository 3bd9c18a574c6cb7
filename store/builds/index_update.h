/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_update.h - the operation "update_index": turns an index that is BECOMING_STRONG into a
 * strong one.
 *
 * Since the change of the catalogue that began the operation, every write brings its entries along.
 * Only entries of earlier writes may still be missing, and each such write has an intent or a dead
 * letter. The operation walks the source keys that have one, reconciles them, and then declares the
 * index strong (guard G41).
 */
#ifndef STORE_BUILDS_INDEX_UPDATE_H
#define STORE_BUILDS_INDEX_UPDATE_H

#include "store/jobs/job.h"

/*
 * Do one chunk. If the index is gone, or was made an eventual one again, the operation is
 * cancelled.
 */
MUST_USE enum status index_update_chunk(struct job *job, struct error *err);

#endif
