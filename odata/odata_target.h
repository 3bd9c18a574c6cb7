/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_target.h - what the URL of a request names: an account, a resource, and the options of a query.
 *
 *   /devstoreaccount1/Tables('Orders')                      the account in the path
 *   /Orders(PartitionKey='p',RowKey='O''Neil')?$select=A    the account in the host: <account>.table.<domain>
 *
 * Names and keys are decoded but not checked: the reply to an invalid one depends on the action.
 */
#ifndef ODATA_ODATA_TARGET_H
#define ODATA_ODATA_TARGET_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum odata_resource {
    ODATA_RESOURCE_SERVICE,  /* / */
    ODATA_RESOURCE_TABLES,   /* /Tables */
    ODATA_RESOURCE_TABLE,    /* /Tables('T') */
    ODATA_RESOURCE_ENTITIES, /* /T and /T() */
    ODATA_RESOURCE_ENTITY,   /* /T(PartitionKey='p',RowKey='r') */
    ODATA_RESOURCE_BATCH,    /* /$batch */
};

/*
 * Options of the query string, decoded; empty: not given. Other parameters are ignored here: signatures have
 * parameters of their own.
 */
struct odata_options {
    struct str filter, select, top, format; /* $filter and so on */
    struct str timeout, comp, restype;
    struct str next_partition_key, next_row_key, next_table_name;
};

struct odata_target {
    struct str account; /* the account of the URL, without "-secondary" */
    bool is_secondary;
    bool is_path_style;   /* the path contains the account */
    struct str raw_path;  /* as received, without the query string; signatures cover it */
    struct str raw_query; /* behind the '?', as received; empty: none */
    enum odata_resource resource;
    struct str table;          /* set for TABLE, ENTITIES and ENTITY */
    struct str partition, row; /* set for ENTITY */
    struct odata_options options;
};

/*
 * Read the target of a request, "/path?query", and its Host header. The strings borrow from both, or are in
 * the arena.
 *
 * STATUS_INVALID        INVALID_INPUT: not percent-encoded, not UTF-8, none of these forms, or an option given twice
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED: $orderby, $skip, $count, $inlinecount, $expand, $search
 */
MUST_USE enum status odata_target_parse(
    struct str host, struct str target, struct arena *arena, struct odata_target *out, struct error *err);

#endif
