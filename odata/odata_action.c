/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_action.c - see the header. The table has a row for every action; the first row that matches is the
 * action.
 */
#include "odata/odata_action.h"

#include "odata/odata_error.h"

static const struct row {
    enum odata_action action;
    enum odata_resource resource;
    const char *verb;
    const char *comp;    /* NULL: the parameter must be missing */
    const char *restype; /* NULL: the parameter must be missing */
} rows[] = {
    { ODATA_ACTION_QUERY_TABLES, ODATA_RESOURCE_TABLES, "GET", NULL, NULL },
    { ODATA_ACTION_GET_TABLE, ODATA_RESOURCE_TABLE, "GET", NULL, NULL },
    { ODATA_ACTION_CREATE_TABLE, ODATA_RESOURCE_TABLES, "POST", NULL, NULL },
    { ODATA_ACTION_DELETE_TABLE, ODATA_RESOURCE_TABLE, "DELETE", NULL, NULL },
    { ODATA_ACTION_GET_ACL, ODATA_RESOURCE_ENTITIES, "GET", "acl", NULL },
    { ODATA_ACTION_SET_ACL, ODATA_RESOURCE_ENTITIES, "PUT", "acl", NULL },
    { ODATA_ACTION_QUERY_ENTITIES, ODATA_RESOURCE_ENTITIES, "GET", NULL, NULL },
    { ODATA_ACTION_GET_ENTITY, ODATA_RESOURCE_ENTITY, "GET", NULL, NULL },
    { ODATA_ACTION_INSERT_ENTITY, ODATA_RESOURCE_ENTITIES, "POST", NULL, NULL },
    { ODATA_ACTION_REPLACE_ENTITY, ODATA_RESOURCE_ENTITY, "PUT", NULL, NULL },
    { ODATA_ACTION_MERGE_ENTITY, ODATA_RESOURCE_ENTITY, "PATCH", NULL, NULL },
    { ODATA_ACTION_MERGE_ENTITY, ODATA_RESOURCE_ENTITY, "MERGE", NULL, NULL },
    { ODATA_ACTION_DELETE_ENTITY, ODATA_RESOURCE_ENTITY, "DELETE", NULL, NULL },
    { ODATA_ACTION_BATCH, ODATA_RESOURCE_BATCH, "POST", NULL, NULL },
    { ODATA_ACTION_GET_SERVICE_PROPERTIES, ODATA_RESOURCE_SERVICE, "GET", "properties", "service" },
    { ODATA_ACTION_SET_SERVICE_PROPERTIES, ODATA_RESOURCE_SERVICE, "PUT", "properties", "service" },
    { ODATA_ACTION_GET_SERVICE_STATS, ODATA_RESOURCE_SERVICE, "GET", "stats", "service" },
};

static bool is_given(struct str value, const char *needed)
{
    return str_equal(value, needed ? str_of(needed) : STR_EMPTY);
}

static const struct row *find_row(struct str verb, const struct odata_target *target)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].resource == target->resource && str_equal(verb, str_of(rows[i].verb)) &&
            is_given(target->options.comp, rows[i].comp) &&
            is_given(target->options.restype, rows[i].restype))
            return &rows[i];
    return NULL;
}

static enum status choose_verb(const struct odata_verb *verb, struct str *out, struct error *err)
{
    static const char *const allowed[] = { "MERGE", "PUT", "DELETE", "PATCH" };

    *out = verb->method;
    if (verb->tunnelled_count == 0)
        return STATUS_OK;
    if (verb->tunnelled_count > 1)
        return odata_error_refuse(
            err, ODATA_REFUSAL_X_METHOD_INCORRECT_COUNT, "X-HTTP-Method is given more than once");
    if (!str_equal(verb->method, STR_LITERAL("POST")))
        return odata_error_refuse(
            err, ODATA_REFUSAL_X_METHOD_NOT_USING_POST, "X-HTTP-Method may be sent with POST only");
    for (size_t i = 0; i < ARRAY_LEN(allowed); i++)
        if (str_equal(verb->tunnelled, str_of(allowed[i]))) {
            *out = verb->tunnelled;
            return STATUS_OK;
        }
    return odata_error_refuse(
        err, ODATA_REFUSAL_X_METHOD_INCORRECT_VALUE, "X-HTTP-Method must be MERGE, PUT, DELETE or PATCH");
}

enum status odata_action_find(const struct odata_verb *verb, const struct odata_target *target,
    enum odata_action *out, struct error *err)
{
    const struct row *row;
    struct str method;

    TRY(choose_verb(verb, &method, err));
    if (str_equal(method, STR_LITERAL("OPTIONS"))) {
        *out = ODATA_ACTION_PREFLIGHT;
        return STATUS_OK;
    }
    row = find_row(method, target);
    if (!row)
        return odata_error_refuse(
            err, ODATA_REFUSAL_METHOD_NOT_ALLOWED, "the resource does not know this verb");
    if (target->is_secondary && !str_equal(method, STR_LITERAL("GET")))
        return odata_error_refuse(
            err, ODATA_REFUSAL_INSUFFICIENT_ACCOUNT_PERMISSIONS, "Write operations are not allowed.");
    *out = row->action;
    return STATUS_OK;
}
