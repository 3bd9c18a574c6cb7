/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_rules.c - see the header.
 */
#include "store/indexes/copy_rules.h"

#include "domain/copies/copy_declaration.h"
#include "domain/reason.h"
#include "store/sql.h"

static enum status find_source(const struct session *session, const struct operation *operation,
    struct str name, const struct table **out, struct error *err)
{
    *out = catalogue_find(session->catalogue, operation->account, name);
    if (*out && !(*out)->entries_of)
        return STATUS_OK;
    if (!*out)
        (void)reason_set(err, REASON_TABLE_NOT_FOUND,
            "table %.*s, from which is to be copied, does not exist", STR_ARG(name));
    else
        (void)reason_set(err, REASON_INDEX_OWNED,
            "%.*s holds the entries of an index: copy from the index's own table", STR_ARG(name));
    error_add_meta(err, "table", name);
    return error_in_field(err, "index.copies.source_table");
}

static enum status check_programs(struct session *session, struct error *err)
{
    PG_RESULT knows_copies = NULL;

    TRY(pg_query(&session->pg, &sql_database_knows_copies, NULL, &knows_copies, err));
    if (pg_bool(knows_copies, 0, PG_ONLY_COLUMN))
        return STATUS_OK;
    (void)reason_set(err, REASON_NOT_IMPLEMENTED,
        "a copy rule needs a database that accepts no older program: after an upgrade, tavola migrate "
        "--refuse-older ends it");
    return error_in_field(err, "index.copies");
}

enum status copy_rules_resolve(
    struct session *session, const struct operation *operation, struct index *index, struct error *err)
{
    struct copy_rule *rule;
    const struct table *source = NULL;

    if (!index->copies)
        return STATUS_OK;
    TRY(find_source(session, operation, index->copies->source_name, &source, err));
    rule = ARENA_NEW(operation->arena, struct copy_rule);
    *rule = *index->copies;
    rule->source_table_id = source->table_id;
    rule->source_name = arena_copy(operation->arena, source->name);
    index->copies = rule;
    TRY(copy_declaration_check_with(session->catalogue, index, err));
    return check_programs(session, err);
}

enum status copy_rules_check_kept(const struct index *index, const char *field, struct error *err)
{
    if (!index->copies)
        return STATUS_OK;
    (void)reason_set(err, REASON_INVALID_INPUT,
        "index %.*s has a copy rule, which stays as it is: drop the index, and create another",
        STR_ARG(index->name));
    return error_in_field(err, field);
}

enum status copy_rules_check_replacement(const struct index *replacement, struct error *err)
{
    if (!replacement->copies)
        return STATUS_OK;
    (void)reason_set(err, REASON_INVALID_INPUT,
        "index.copies: a replacement has no copy rule; drop index %.*s, and create it with the rule",
        STR_ARG(replacement->name));
    return error_in_field(err, "index.copies");
}
