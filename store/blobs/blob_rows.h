/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_rows.h - the rows of blobs and contents, for the files of this room.
 */
#ifndef STORE_BLOBS_BLOB_ROWS_H
#define STORE_BLOBS_BLOB_ROWS_H

#include "domain/operations/operation.h"
#include "store/session/attempt.h"

/* Begin the parameters of a statement with the account and a name, or with the account and a content. */
void blob_rows_add_name(struct pg_params *params, struct session *session, const struct operation *operation);
void blob_rows_add_content(struct pg_params *params, struct session *session,
    const struct operation *operation, const struct blob_id *content);

/* The id in a column of type uuid, which is not null. */
struct blob_id blob_rows_id(const PGresult *rows, int row, int column);

/* The blobs of a result, in the arena. The statements blob_get, blob_list and blob_of_content return such rows. */
struct blob *blob_rows_read(const PGresult *rows, size_t count, struct arena *arena);

/* Give the operation the blobs of a result as its outcome. */
void blob_rows_answer(struct operation *operation, const PGresult *rows, size_t count);

/* There is no blob of the operation's name: BLOB_NOT_FOUND. */
enum status blob_rows_refuse_absent(const struct operation *operation, struct error *err);

/* Send the statement that leaves a content to the collector. */
MUST_USE enum status blob_rows_send_discard(struct session *session, const struct operation *operation,
    const struct blob_id *content, struct error *err);

#endif
