/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_operations.h - operations that look up entities by an index, and operations on indexes
 * themselves.
 */
#ifndef DOMAIN_OPERATIONS_INDEX_OPERATIONS_H
#define DOMAIN_OPERATIONS_INDEX_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "domain/catalogue/catalogue.h"
#include "domain/intents/consistency.h"
#include "domain/operations/job_operations.h"
#include "domain/operations/query_operations.h"
#include "domain/operations/report_operations.h"

/* ---- index look-up ---- */

struct value_range {
    bool has_at_least, has_below;
    struct value at_least, below;
};

struct operation_lookup {
    struct value *equals; /* bind the property parts in order, partition key first */
    size_t equal_count;
    struct value_range range; /* of the next part */
    struct freshness freshness;
    bool trust_index;  /* the entries are returned as they are */
    bool read_sources; /* not with trust_index: every hit is compared with its source, whatever is known */
    bool keys_only;
    struct str *select;  /* of the entities only these properties are wanted */
    size_t select_count; /* 0: all */
    bool descending;
    bool has_after;
    struct entity_key after; /* an entry's key */
    int32_t limit;
};

struct lag {
    int64_t age_us;
    int64_t open_intents; /* -1: not counted */
    int64_t as_of;        /* ticks */
    double per_second;    /* intents applied per second in recent time; below 0: unknown */
};

struct outcome_lookup {
    struct entity *entities; /* with the source's keys */
    /* as many as entities: the key of the entry by which each was found, at which a page can end */
    struct entity_key *entries;
    size_t count;
    bool more;
    struct entity_key position;
    int64_t table_id;
    struct lag lag;
    struct query_stats stats;
};

/* ---- indexes ---- */

struct operation_index {
    /* create, replace: name, source_name, shape, place, keys, projection, definition */
    struct index definition;
    enum index_consistency consistency; /* update: INDEX_EVENTUAL or INDEX_STRONG */
    int32_t limit;                      /* list */
    struct str after;                   /* folded name; empty: from the start */
};

/* What the workers have to do for a copy rule; of many intents about 10,000 are counted. */
struct copies_view {
    int64_t waiting_sources;
    int64_t waiting_dependents;
    int64_t visited; /* dependents that open visits have looked at */
    int64_t refused; /* dependents that cannot have their copies */
};

struct index_view {
    struct str definition; /* the declaration as bytes: index_codec.h */
    enum index_state state;
    struct lag lag;
    int64_t entries; /* exact up to 100,000, then an estimate */
    int64_t violations;
    int64_t keys_behind; /* source keys that have a dead letter */
    int64_t discarded;   /* violations whose dead letters were discarded */
    struct str causes;   /* causes of some violations, without duplicates, one per line */
    struct job_view build;
    /* the operation that builds its replacement; operation_id empty: there is none */
    struct job_view replacement;
    /* the last verification of the whole index; operation_id empty: none */
    struct report_view verified;
    struct copies_view copies; /* all 0 without a rule */
};

struct outcome_index {
    struct index_view *indexes;
    size_t count;
    bool more;
    struct str position;
    /* update: the operation that makes the index a strong one; operation_id empty: none */
    struct job_view update;
};

#endif
