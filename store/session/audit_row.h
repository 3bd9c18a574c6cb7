/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_row.h - writes the audit record of an administrative call.
 */
#ifndef STORE_SESSION_AUDIT_ROW_H
#define STORE_SESSION_AUDIT_ROW_H

#include "domain/operations/audit_operations.h"
#include "store/connection/pg.h"

/*
 * Increment the number of the call's record, and send the insert in the open transaction. outcome:
 * the call's, if the transaction commits.
 */
MUST_USE enum status audit_row_send(
    struct pg *pg, struct audit_record *record, struct arena *arena, struct error *err);

#endif
