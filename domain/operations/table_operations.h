/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_operations.h - operations on tables and their settings.
 */
#ifndef DOMAIN_OPERATIONS_TABLE_OPERATIONS_H
#define DOMAIN_OPERATIONS_TABLE_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "domain/catalogue/catalogue.h"
#include "domain/filter/filter.h"

struct table_view {
    struct str name;
    int64_t created;                   /* ticks */
    struct str index;                  /* the index whose entries it holds, or empty */
    enum access_path default_max_plan; /* 0: none */
    struct access_policies policies;
    bool change_feed;
    bool samples_queries;
    struct table_periods periods;
    bool blob_properties;
    bool is_wide;
};

/* What an update changes. */
struct table_change {
    bool sets_default_max_plan;
    enum access_path default_max_plan;
    bool sets_policies;
    struct str policies;   /* as stored: access_policy.h */
    bool sets_change_feed; /* create too */
    bool change_feed;
    bool sets_sample_queries;
    bool samples_queries;
    bool sets_periods;
    struct table_periods periods;
    bool sets_blob_properties; /* create too */
    bool blob_properties;
    bool is_wide; /* create only */
};

struct operation_tables {
    int32_t limit;
    struct str after;            /* folded name; empty: from the start */
    const struct filter *filter; /* list: a filter over entities with one property, TableName */
    struct table_change change;  /* update; create: change_feed, blob_properties, is_wide */
    /* get: the caller sees nothing but the name, so a permission to list tables is enough */
    bool names_only;
};

struct outcome_tables {
    struct table_view *tables; /* create, get: exactly one */
    size_t count;
    bool more;
    struct str position;
};

#endif
