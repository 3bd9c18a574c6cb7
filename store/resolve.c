/*
 * resolve.c - see the header.
 */
#include "store/resolve.h"

#include "domain/reason.h"

static const struct table *find(const struct session *session, const struct operation *operation)
{
    return catalogue_find(session->catalogue, operation->account, operation->table);
}

enum status resolve_refresh(struct session *session, const struct operation *batch, struct error *err)
{
    for (const struct operation *operation = batch; operation; operation = operation->next)
        if (!find(session, operation))
            return session_refresh(session, NULL, err);
    return STATUS_OK;
}

static enum status not_found(const struct operation *operation, enum reason reason, const char *what, struct error *err)
{
    enum status status = error_reason(err, reason, "%s %.*s does not exist", what, STR_ARG(operation->table));

    error_add_meta(err, "table", operation->table);
    return status;
}

enum status resolve_table(const struct session *session, const struct operation *operation,
    const struct table **out, struct error *err)
{
    *out = find(session, operation);
    return *out ? STATUS_OK : not_found(operation, REASON_TABLE_NOT_FOUND, "table", err);
}

enum status resolve_index(const struct session *session, const struct operation *operation,
    const struct index **out, struct error *err)
{
    const struct table *table = find(session, operation);

    *out = table ? table->entries_of : NULL;
    return *out ? STATUS_OK : not_found(operation, REASON_INDEX_NOT_FOUND, "index", err);
}
