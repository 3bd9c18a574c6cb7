/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_rules.h - whether a declared index may have its copy rule.
 */
#ifndef STORE_INDEXES_COPY_RULES_H
#define STORE_INDEXES_COPY_RULES_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/*
 * Find the source table of the rule of a declared index, whose account, name, source_table_id and source_name are set,
 * and check the rule beside all others of the session's catalogue. Without a rule nothing is done.
 *
 * STATUS_NOT_FOUND      TABLE_NOT_FOUND: no such source table
 * STATUS_PRECONDITION   INDEX_OWNED: it holds the entries of an index
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED: programs may run that cannot read the rule
 * or the errors of copy_declaration_check_with
 */
MUST_USE enum status copy_rules_resolve(
    struct session *session, const struct operation *operation, struct index *index, struct error *err);

/*
 * Refuse a change of an index that has a rule, and a replacement that would have one. field: what asks for the change.
 * Without a rule: STATUS_OK.
 */
MUST_USE enum status copy_rules_check_kept(const struct index *index, const char *field, struct error *err);
MUST_USE enum status copy_rules_check_replacement(const struct index *replacement, struct error *err);

#endif
