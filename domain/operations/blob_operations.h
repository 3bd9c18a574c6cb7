/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_operations.h - operations on blobs. A put is a sequence of them: begin, append chunk after
 * chunk, commit. A get is one that finds the blob, and one for each chunk.
 */
#ifndef DOMAIN_OPERATIONS_BLOB_OPERATIONS_H
#define DOMAIN_OPERATIONS_BLOB_OPERATIONS_H

#include <stddef.h>

#include "domain/blobs/blob.h"
#include "domain/blobs/blob_plan.h"

struct operation_blob {
    struct str name;                 /* begin, commit, get, delete; empty: a content for entities */
    bool is_reference;               /* get: the content, and no name */
    struct blob_condition condition; /* begin, commit, get, delete */

    /* begin, append, commit, read: the content. begin: its id, unless the upload has one already */
    struct blob_id content;
    int64_t writer;       /* begin, append, commit: random, the stream that writes (guard G54) */
    struct str upload_id; /* begin, upload_get: the caller's id; empty: the upload is not resumable */
    int64_t offset;       /* begin, append, commit: the bytes that are stored before */
    /*
     * append: a whole chunk; commit: the last bytes, less than a chunk. They need not live in the
     * operation's arena.
     */
    struct str bytes;
    struct blob_digest digest; /* commit: of the whole content */
    struct str content_type;   /* commit */
    bool is_new;               /* commit: nothing was begun, so the commit creates the content */

    int64_t number; /* read: which chunk */

    struct str prefix, after; /* list */
    int32_t limit;
};

struct outcome_blob {
    struct blob *blobs; /* commit, get: exactly one; begin: one if the upload is complete already */
    size_t count;
    bool more; /* list */
    struct str position;
    struct blob_upload upload; /* begin, upload_get */
    struct str bytes;          /* read: the chunk, which has its digest */
};

#endif
