/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_read.h - one page of an index look-up.
 */
#ifndef STORE_INDEXES_LOOKUP_READ_H
#define STORE_INDEXES_LOOKUP_READ_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Give an OPERATION_LOOKUP its outcome: entities under their source's keys. Unless trust_index is set every
 * hit is checked against its source, which then is what is returned; entries that no longer hold are
 * left out (they are on their way).
 *
 * INDEX_NOT_FOUND, INDEX_NOT_READY, INVALID_INPUT (values that do not fit the index's keys).
 */
void lookup_read_run(struct session *session, struct operation *operation);

#endif
