/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_collect.h - removes contents that no blob points to, and then the chunks that no content names.
 *
 * The row of a content is the intent to remove it: it commits with the change of the blob, and goes
 * last. It is no row of `intents`, because open intents tell how fresh indexes are, and this work
 * waits for readers. The work is divided into transactions, so that each is short:
 *
 *   1. wait     a content is kept until its readers have ended, or for LIMIT_BLOB_READ_MAX_S
 *   2. mark     remove parts of the content, and condemn their chunks; with the last part, the content
 *   3. delete   lock condemned chunks, look again whether a part names them, delete the others
 *
 * A crash between any two of them leaves rows that say what is left to do. Several workers may run
 * it at once.
 */
#ifndef STORE_BLOBS_BLOB_COLLECT_H
#define STORE_BLOBS_BLOB_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct worker;

struct blob_counts {
    int64_t parts;  /* removed from contents */
    int64_t chunks; /* deleted */
};

/*
 * Run a round, whose work is bounded. *more is set if more can be removed now.
 *
 * kept_s  how long the objects of deleted chunks are kept in their chunk stores: they become strays, which
 *         stray_remove.h removes
 */
MUST_USE enum status blob_collect_round(
    struct worker *store, int64_t kept_s, struct blob_counts *counts, bool *more, struct error *err);

#endif
