/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_move.h - moves the chunks of blobs of all accounts into one store, as a job that workers carry out beside
 * servers that put and read.
 *
 *   1. reserve   note the new objects as strays, in a commit that waits for the disk
 *   2. copy      read the bytes, compare them with their SHA-256, put them, read them back; no transaction is open
 *   3. point     the chunks have the new objects and the old ones become strays, in one commit; a chunk that has
 *                changed meanwhile is left alone, and so is one whose new object the collector has begun to remove
 *                (guard G73)
 *
 * So a crash at any point leaves each chunk with bytes that are whole, and a row that names every other object. A
 * reader that has read the row before step 3 finds the old object or reads the row again (blob_read.c).
 */
#ifndef STORE_BACKGROUND_CHUNK_MOVE_H
#define STORE_BACKGROUND_CHUNK_MOVE_H

#include "store/jobs/job.h"

/*
 * Move some chunks and checkpoint. The job's phase is the number of its passes over all chunks: servers may put into
 * other stores meanwhile, so there is more than one if chunks are left. The job fails at the end if some stay where
 * they are: they are damaged, or servers go on putting into other stores.
 *
 * STATUS_UNAVAILABLE  a store cannot be used now; what could be moved was moved
 * STATUS_INVALID      the worker is not configured with a store
 */
MUST_USE enum status chunk_move_batch(struct job *job, struct error *err);

#endif
