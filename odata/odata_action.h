/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_action.h - the action of a request, which follows from its verb and from the resource that its URL
 * names.
 */
#ifndef ODATA_ODATA_ACTION_H
#define ODATA_ODATA_ACTION_H

#include "base/error.h"
#include "odata/odata_target.h"

enum odata_action {
    ODATA_ACTION_QUERY_TABLES,
    ODATA_ACTION_GET_TABLE,
    ODATA_ACTION_CREATE_TABLE,
    ODATA_ACTION_DELETE_TABLE,
    ODATA_ACTION_GET_ACL,
    ODATA_ACTION_SET_ACL,
    ODATA_ACTION_QUERY_ENTITIES,
    ODATA_ACTION_GET_ENTITY,
    ODATA_ACTION_INSERT_ENTITY,
    ODATA_ACTION_REPLACE_ENTITY, /* without If-Match: insert or replace */
    ODATA_ACTION_MERGE_ENTITY,   /* without If-Match: insert or merge */
    ODATA_ACTION_DELETE_ENTITY,
    ODATA_ACTION_BATCH,
    ODATA_ACTION_GET_SERVICE_PROPERTIES,
    ODATA_ACTION_SET_SERVICE_PROPERTIES,
    ODATA_ACTION_GET_SERVICE_STATS,
    ODATA_ACTION_PREFLIGHT,
    ODATA_ACTION_COUNT
};

/* A verb, and the header X-HTTP-Method, which may replace it. */
struct odata_verb {
    struct str method;
    struct str tunnelled;   /* value of the header; empty: not sent */
    size_t tunnelled_count; /* how many times the header was sent */
};

/*
 * Find the action of a request.
 *
 * STATUS_UNIMPLEMENTED  METHOD_NOT_ALLOWED: the resource does not have this verb
 * STATUS_INVALID        X_METHOD_NOT_USING_POST, X_METHOD_INCORRECT_COUNT, X_METHOD_INCORRECT_VALUE
 * STATUS_DENIED         INSUFFICIENT_ACCOUNT_PERMISSIONS: a write to the secondary endpoint
 */
MUST_USE enum status odata_action_find(const struct odata_verb *verb, const struct odata_target *target,
    enum odata_action *out, struct error *err);

#endif
