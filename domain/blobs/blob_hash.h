/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_hash.h - SHA-256 of a chunk, and of a content whose bytes come one after another.
 */
#ifndef DOMAIN_BLOBS_BLOB_HASH_H
#define DOMAIN_BLOBS_BLOB_HASH_H

#include "domain/blobs/blob.h"

struct blob_hash;

struct blob_hash *blob_hash_new(void);
void blob_hash_free(struct blob_hash *hash);

void blob_hash_add(struct blob_hash *hash, struct str bytes);

/* The digest of all bytes that were added. Call it once. */
struct blob_digest blob_hash_end(struct blob_hash *hash);

struct blob_digest blob_hash_of(struct str bytes);

static inline bool blob_hash_equal(const struct blob_digest *a, const struct blob_digest *b)
{
    return str_equal(blob_digest_str(a), blob_digest_str(b));
}

#endif
