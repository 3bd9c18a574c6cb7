/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_calls.h - tables: create, get, list, delete. Each gives one operation its outcome.
 */
#ifndef STORE_CATALOGUE_TABLE_CALLS_H
#define STORE_CATALOGUE_TABLE_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* TABLE_ALREADY_EXISTS, in any case, also when the name is an index's; QUOTA_EXCEEDED. */
void table_calls_create(struct session *session, struct operation *operation);

/* TABLE_NOT_FOUND. */
void table_calls_get(struct session *session, struct operation *operation);

/* Change the settings in in.tables.change. TABLE_NOT_FOUND. */
void table_calls_update(struct session *session, struct operation *operation);

/* In order of the names in lower case, behind in.tables.after, as far as the filter matches. */
void table_calls_list(struct session *session, struct operation *operation);

/*
 * The name is free at once; rows, indexes and intents are removed by the operation in the outcome.
 * RESOURCE_NOT_FOUND; INDEX_OWNED when it holds the entries of an index.
 */
void table_calls_delete(struct session *session, struct operation *operation);

#endif
