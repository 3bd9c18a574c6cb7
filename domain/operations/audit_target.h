/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_target.h - which operations are administrative, and what an operation names. Pure.
 */
#ifndef DOMAIN_OPERATIONS_AUDIT_TARGET_H
#define DOMAIN_OPERATIONS_AUDIT_TARGET_H

#include "base/arena.h"
#include "domain/operations/operation.h"

/*
 * Whether a call is recorded: if its kind is administrative, or if it is a transaction with steps
 * in other accounts, which only administrators may submit.
 */
bool audit_target_is_recorded(const struct operation *operation);

/*
 * The names and ids in a decoded operation, never its values; empty if it names nothing. In the
 * arena.
 */
struct str audit_target_of(const struct operation *operation, struct arena *arena);

#endif
