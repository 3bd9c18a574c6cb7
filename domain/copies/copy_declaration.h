/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_declaration.h - which copy rules may be declared: a rule must not contradict itself, its
 * tables, or the other rules of the account. Pure.
 */
#ifndef DOMAIN_COPIES_COPY_DECLARATION_H
#define DOMAIN_COPIES_COPY_DECLARATION_H

#include "base/arena.h"
#include "base/error.h"
#include "domain/catalogue/catalogue.h"

/*
 * Whether the rule by itself makes sense. The names are those of properties already, and the pairs
 * sorted. STATUS_INVALID: INVALID_INPUT, with the field.
 */
MUST_USE enum status copy_declaration_check(const struct copy_rule *rule, struct error *err);

/*
 * Whether the rule of a new index may be kept beside what the catalogue has. index: with its
 * account, source_table_id and source_name, which are those of the dependents, and with the ids of
 * both tables.
 *
 * STATUS_INVALID       INVALID_INPUT: a table of wide entities, or dependents with blob_properties
 * STATUS_LIMIT         QUOTA_EXCEEDED: the account or the source table has as many rules as it may
 * STATUS_PRECONDITION  COPY_RULE_CONFLICT: another rule keeps a property of this one, or they would
 *                      go in a circle
 */
MUST_USE enum status copy_declaration_check_with(
    const struct catalogue *catalogue, const struct index *index, struct error *err);

/*
 * Whether a table may be deleted: no other table has copies of its entities. Whether it may get
 * blob_properties: no rule writes copies into it. STATUS_PRECONDITION: COPY_RULE_CONFLICT, with the
 * index.
 */
MUST_USE enum status copy_declaration_check_delete(
    const struct catalogue *catalogue, const struct table *table, struct error *err);
MUST_USE enum status copy_declaration_check_blobs(const struct table *table, struct error *err);

#endif
