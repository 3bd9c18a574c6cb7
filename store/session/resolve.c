/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resolve.c - see the header.
 */
#include "store/session/resolve.h"

#include "domain/reason.h"

static const struct table *find(const struct session *session, const struct operation *operation)
{
    return catalogue_find(session->catalogue, operation->account, operation->table);
}

static enum status not_found(
    const struct operation *operation, enum reason reason, const char *what, struct error *err)
{
    enum status status = reason_set(err, reason, "%s %.*s does not exist", what, STR_ARG(operation->table));

    error_add_meta(err, "table", operation->table);
    return status;
}

/*
 * A signature that was made for a deleted table gives no access to a later table of the same name.
 */
static enum status check_age(const struct operation *operation, const struct table *table, struct error *err)
{
    if (!operation->signed_at || (table && table->signatures_from <= operation->signed_at))
        return STATUS_OK;
    return reason_set(
        err, REASON_AUTHORIZATION_FAILURE, "the signature was made before this table was created");
}

enum status resolve_table(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err)
{
    const struct table *table = find(session, operation);

    if (!table)
        return not_found(operation, REASON_TABLE_NOT_FOUND, "table", err);
    TRY(check_age(operation, table, err));
    *out = table;
    return STATUS_OK;
}

static bool is_meant(const struct table *table, const struct operation *operation)
{
    return operation_kind_facts(operation->kind)->input != OPERATION_IN_WRITE ||
           operation->in.write.table_id == 0 || operation->in.write.table_id == table->table_id;
}

static enum status is_another(const struct operation *operation, struct error *err)
{
    enum status status = reason_set(err, REASON_TABLE_NOT_FOUND,
        "the table %.*s that the request refers to was deleted; another table has its name now",
        STR_ARG(operation->table));

    error_add_meta(err, "table", operation->table);
    return status;
}

enum status resolve_writable(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err)
{
    TRY(resolve_table(session, operation, out, err));
    if (!is_meant(*out, operation))
        return is_another(operation, err);
    if (!(*out)->entries_of)
        return STATUS_OK;
    reason_set(err, REASON_INDEX_OWNED, "%.*s holds the entries of an index: only the index writes them",
        STR_ARG(operation->table));
    error_add_meta(err, "table", operation->table);
    return STATUS_PRECONDITION;
}

enum status resolve_index(const struct session *session, const struct operation *operation,
    const struct index **out, struct error *err)
{
    const struct table *table = find(session, operation);
    const struct index *index = table ? table->entries_of : NULL;

    if (!index)
        return not_found(operation, REASON_INDEX_NOT_FOUND, "index", err);
    if (operation->signed_at)
        TRY(check_age(operation, catalogue_find_id(session->catalogue, index->source_table_id), err));
    *out = index;
    return STATUS_OK;
}
