/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_calls.h - tables: create, get, list, delete. Each gives one operation its outcome.
 */
#ifndef STORE_CATALOGUE_TABLE_CALLS_H
#define STORE_CATALOGUE_TABLE_CALLS_H

#include "domain/operations/operation.h"

struct session;

/*
 * Create a table. TABLE_ALREADY_EXISTS: a table or an index has the name, in upper or lower case;
 * QUOTA_EXCEEDED.
 */
void table_calls_create(struct session *session, struct operation *operation);

/* Read a table's settings. TABLE_NOT_FOUND. */
void table_calls_get(struct session *session, struct operation *operation);

/* Change the settings in in.tables.change. TABLE_NOT_FOUND. */
void table_calls_update(struct session *session, struct operation *operation);

/*
 * List the tables behind in.tables.after that match the filter, in the order of their names in
 * lower case.
 */
void table_calls_list(struct session *session, struct operation *operation);

/*
 * Delete a table. Its name is free at once; the job in the outcome removes its rows, indexes and
 * intents.
 * RESOURCE_NOT_FOUND; INDEX_OWNED if the table holds the entries of an index.
 */
void table_calls_delete(struct session *session, struct operation *operation);

#endif
