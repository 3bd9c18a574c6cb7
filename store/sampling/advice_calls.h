/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_calls.h - advice on indexes, from what all servers have stored of a table's queries.
 */
#ifndef STORE_SAMPLING_ADVICE_CALLS_H
#define STORE_SAMPLING_ADVICE_CALLS_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * OPERATION_INDEX_ADVISE: store the reports, then merge what was stored of the table in the last week. TABLE_NOT_FOUND;
 * QUERY_SAMPLING_OFF: no shapes of the table's queries are kept.
 */
void advice_calls_make(struct session *session, struct operation *operation);

#endif
