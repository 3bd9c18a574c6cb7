/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_read.h - reads one chunk of a content.
 */
#ifndef STORE_BLOBS_BLOB_READ_H
#define STORE_BLOBS_BLOB_READ_H

#include "domain/operations/operation.h"

struct session;

/*
 * Read chunk in.blob.number of in.blob.content, and compare it with its SHA-256. A content that no
 * blob points to any more is kept while it is read, for a bounded time.
 *
 * BLOB_CHANGED: the content was removed; BLOB_DAMAGED: the chunk is missing or has other bytes.
 */
void blob_read_chunk(struct session *session, struct operation *operation);

#endif
