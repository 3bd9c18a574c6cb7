/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wide_read.h - reads by key in tables with wide entities: of a spread entity, the parts that have
 * the selected properties.
 */
#ifndef STORE_ENTITIES_WIDE_READ_H
#define STORE_ENTITIES_WIDE_READ_H

#include "domain/operations/operation.h"

struct session;

/*
 * Give an OPERATION_GET of this table its outcome. A statement reads the row of an entity with its
 * parts, and so in one snapshot (guard G62); more keys than one statement reads are read in the
 * session's snapshot, which is begun if there is none.
 *
 * STATUS_STALE    the catalogue has changed
 * STATUS_INVALID  ENTITY_TOO_LARGE: the outcome, of an entity with more than LIMIT_REPLY_BYTES of
 *                 the properties that are wanted
 */
MUST_USE enum status wide_read_run(
    struct session *session, const struct table *table, struct operation *operation, struct error *err);

#endif
