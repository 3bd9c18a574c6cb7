/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_row.h - writes the record of an administrative call.
 */
#ifndef STORE_SESSION_AUDIT_ROW_H
#define STORE_SESSION_AUDIT_ROW_H

#include "domain/operations/audit_operations.h"
#include "store/connection/pg.h"

/*
 * Send the row, in the transaction that is open; the number of the record is counted up first. outcome: what becomes of
 * the call if the transaction commits.
 */
MUST_USE enum status audit_row_send(
    struct pg *pg, struct audit_record *record, struct arena *arena, struct error *err);

#endif
