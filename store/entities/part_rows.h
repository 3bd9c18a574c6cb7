/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part_rows.h - the parts of wide entities, in the transaction of the writes: property_parts.h.
 *
 * Parts are read and written only while the row of their entity is locked, and read in statements
 * after the one that locks (guard G63). For sets without wide tables nothing is sent.
 */
#ifndef STORE_ENTITIES_PART_ROWS_H
#define STORE_ENTITIES_PART_ROWS_H

#include "store/entities/write_set.h"

/*
 * Send one statement, after those that lock the rows: list the parts without their properties. A list of one entity
 * is bounded by its properties, those of several together by LIMIT_PART_LIST_BYTES, which part_rows_read tests.
 */
MUST_USE enum status part_rows_send_list(
    struct session *session, const struct write_set *set, struct error *err);
MUST_USE enum status part_rows_take_list(struct session *session, struct write_set *set, struct error *err);

/*
 * After the rows are filled: read the parts that the plan needs into the rows, in a flight of its
 * own, none if it needs none. Those that the entries of the table's indexes are made from are needed. Scattered
 * parts are read too, so that the write joins them.
 *
 * STATUS_LIMIT    they, or the lists of parts, have more bytes than the writes of several callers, or of none, may
 *                 have in memory
 * STATUS_INVALID  ENTITY_TOO_LARGE: the same, for one operation
 */
MUST_USE enum status part_rows_read(struct session *session, struct write_set *set, struct error *err);

/*
 * After the plan: update the rows of wide tables, and delete and write their parts. The rows of
 * other tables are not touched.
 */
MUST_USE enum status part_rows_send(struct session *session, const struct write_set *set, struct error *err);

#endif
