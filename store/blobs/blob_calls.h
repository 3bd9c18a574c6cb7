/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_calls.h - blobs by name: get, list, delete. Each gives one operation its outcome.
 */
#ifndef STORE_BLOBS_BLOB_CALLS_H
#define STORE_BLOBS_BLOB_CALLS_H

#include "domain/operations/operation.h"

struct session;

/*
 * Find the blob in.blob.name, or, for a reference, the content in.blob.content. BLOB_NOT_FOUND;
 * UPDATE_CONDITION_NOT_SATISFIED; BLOB_CHANGED: there is no such content, or no longer.
 */
void blob_calls_get(struct session *session, struct operation *operation);

/* List the blobs behind in.blob.after whose names begin with in.blob.prefix, in the order of names. */
void blob_calls_list(struct session *session, struct operation *operation);

/* Delete the blob in.blob.name. BLOB_NOT_FOUND; UPDATE_CONDITION_NOT_SATISFIED. */
void blob_calls_delete(struct session *session, struct operation *operation);

#endif
