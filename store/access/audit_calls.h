/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_calls.h - lists audit records, and writes the audit records of calls that have changed
 * nothing.
 */
#ifndef STORE_ACCESS_AUDIT_CALLS_H
#define STORE_ACCESS_AUDIT_CALLS_H

#include "domain/operations/operation.h"

struct session;

/* OPERATION_AUDIT_LIST and OPERATION_AUDIT_STORE: see domain/operations/audit_operations.h. */
void audit_calls_list(struct session *session, struct operation *operation);
void audit_calls_store(struct session *session, struct operation *operation);

#endif
