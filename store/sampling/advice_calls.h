/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advice_calls.h - advice on indexes, from the query shapes of a table that all servers have
 * stored.
 */
#ifndef STORE_SAMPLING_ADVICE_CALLS_H
#define STORE_SAMPLING_ADVICE_CALLS_H

#include "domain/operations/operation.h"

struct session;

/*
 * Give an OPERATION_INDEX_ADVISE its outcome: store the reports, then merge what was stored about
 * the table in the last week. TABLE_NOT_FOUND; QUERY_SAMPLING_OFF: the table's queries are not
 * sampled.
 */
void advice_calls_make(struct session *session, struct operation *operation);

#endif
