/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_put.h - puts a blob: begin a content, append its chunks, point the name to it.
 *
 * Write new, then point, then collect: no reader sees the content before blob_put_commit has
 * committed, and what the name pointed to before stays as it is until the collector removes it.
 */
#ifndef STORE_BLOBS_BLOB_PUT_H
#define STORE_BLOBS_BLOB_PUT_H

#include "domain/operations/operation.h"

struct session;

/*
 * Begin a content, or continue the upload in.blob.upload_id. The outcome has the upload; if it is
 * complete, also its blob.
 *
 * BLOB_ALREADY_EXISTS, UPDATE_CONDITION_NOT_SATISFIED: the condition does not hold now; the commit
 * tests it again. UPLOAD_NOT_FOUND, UPLOAD_OFFSET_MISMATCH: see blob_plan_continue.
 */
void blob_put_begin(struct session *session, struct operation *operation);

/* Append a chunk. UPLOAD_OFFSET_MISMATCH: another stream has continued the upload. */
void blob_put_append(struct session *session, struct operation *operation);

/*
 * Append the last bytes, and point the name to the content. Without a name the content is complete,
 * and waits for an entity that holds it. The outcome has the blob.
 * BLOB_ALREADY_EXISTS, UPDATE_CONDITION_NOT_SATISFIED, UPLOAD_OFFSET_MISMATCH.
 */
void blob_put_commit(struct session *session, struct operation *operation);

/* The outcome has the upload in.blob.upload_id. UPLOAD_NOT_FOUND. */
void blob_put_get_upload(struct session *session, struct operation *operation);

#endif
