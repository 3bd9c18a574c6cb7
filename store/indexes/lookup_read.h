/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_read.h - reads one page of an index look-up.
 */
#ifndef STORE_INDEXES_LOOKUP_READ_H
#define STORE_INDEXES_LOOKUP_READ_H

#include "domain/operations/operation.h"

struct session;

/*
 * Give an OPERATION_LOOKUP its outcome: entities under the keys of their sources. Unless
 * trust_index is set, they are as their sources are: an entry that its source does not have any
 * more is left out, since workers will remove it. The sources are read for that, except while
 * nothing of their table is open and the index keeps versions, so that its entries say the same
 * (guard G58); with read_sources they always are.
 *
 * INDEX_NOT_FOUND, INDEX_NOT_READY, INVALID_INPUT (values that do not fit the index's keys).
 */
void lookup_read_run(struct session *session, struct operation *operation);

#endif
