/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_operations.h - operations on single entities and groups of them: reads by key, and writes.
 */
#ifndef DOMAIN_OPERATIONS_ENTITY_OPERATIONS_H
#define DOMAIN_OPERATIONS_ENTITY_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "domain/entities/entity.h"
#include "domain/entities/etag.h"
#include "domain/intents/consistency.h"

/* ---- reads by key: GetEntity, BatchGetEntities ---- */

struct operation_get {
    struct entity_key *keys;
    size_t count;
    /* of properties: after this many bytes no further key need be read; 0: all keys must be read */
    size_t enough_bytes;
    /* the properties that the reply will have, so that no others need be read; 0: all */
    const struct str *select;
    size_t select_count;
    bool may_be_large; /* they are for no reply, so a wide entity may have any number of bytes of them */
};

struct outcome_get {
    struct entity *entities; /* in the order of the keys */
    bool *found;
    size_t count; /* the number of keys, from the first, that were read */
};

/* ---- writes: single, entity group transaction, import ---- */

enum write_kind {
    WRITE_INSERT,
    WRITE_REPLACE,
    WRITE_MERGE,
    WRITE_INSERT_OR_REPLACE,
    WRITE_INSERT_OR_MERGE,
    WRITE_DELETE,
    WRITE_DELETE_IF_EXISTS, /* steps only: an absent entity is a success without a precondition */
    WRITE_EXPIRE,           /* the sweeper only: deletes an expired entity, and leaves any other */
};

struct write {
    enum write_kind kind;
    struct entity_key key;
    struct property_list properties; /* canonical; empty for deletes */
    struct property_excess *excess;  /* why most tables refuse the entity; NULL: none does */
    struct condition condition;
    int64_t expires; /* ticks; 0: never or, for merges: unchanged */
};

struct write_result {
    struct etag etag;  /* version 0 after a delete */
    int64_t timestamp; /* ticks, 0 after a delete */
};

struct operation_write {
    struct write *writes;
    size_t count;
    bool atomic;   /* all or nothing, in one partition; false: each on its own (import) */
    bool is_group; /* an entity group transaction: its errors name the operation */
    /* the end of request_id that domain/access/scoped_id.h has added; 0: none */
    size_t id_scope_bytes;
    struct str request_id; /* empty: none. Atomic only: see request_record.h */
    int64_t table_id;      /* the id that the named table must have; 0: any */
    bool may_read;         /* the caller may also read the table, within operation.within */
};

struct outcome_write {
    struct write_result *results;        /* as many as writes; valid where errors[i] is NULL */
    struct error **errors;               /* not atomic only: the writes that were refused */
    bool replayed;                       /* answered from the record of the request */
    int64_t table_id;                    /* not atomic only: of the table that was written to */
    const struct consistency *left_open; /* the intents that the write has made; NULL: none */
    /*
     * Atomic only, if a condition failed: the stored entity if it is small enough for a reply;
     * otherwise NULL.
     */
    const struct entity *current;
};

#endif
