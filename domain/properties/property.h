/* SPDX-License-Identifier: Apache-2.0 */
/*
 * property.h - the properties of an entity in their one form: the bytes of a reply's field 15
 * records, sorted by name (bytes), with shortest varints, no unknown fields and no nulls.
 *
 * These bytes are what is stored, what a read copies into its reply and what projections, filters
 * and indexes walk. Equal content has equal bytes. protocol buffers: Entity.properties = 15,
 * map<string, Value>, Value as in api/tavola/v1/entity.proto.
 *
 * Pure: no I/O, no clock.
 */
#ifndef DOMAIN_PROPERTIES_PROPERTY_H
#define DOMAIN_PROPERTIES_PROPERTY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum property_type { /* the field numbers of Value */
    PROPERTY_NULL = 0,
    PROPERTY_STRING = 1,
    PROPERTY_BOOLEAN = 2,
    PROPERTY_INT32 = 3,
    PROPERTY_INT64 = 4,
    PROPERTY_DOUBLE = 5,
    PROPERTY_DATETIME = 6,
    PROPERTY_GUID = 7,
    PROPERTY_BINARY = 8,
};

struct value {
    enum property_type type;
    struct str bytes; /* STRING, GUID (36 lower-case characters), BINARY; borrowed */
    int64_t integer;  /* BOOLEAN 0 or 1, INT32, INT64, DATETIME in ticks since 1601 */
    double number;    /* DOUBLE */
};

struct property {
    struct str name; /* borrowed */
    struct value value;
    struct str record; /* the whole record: tag 15, length and content; borrowed */
};

/* The canonical list. bytes may be empty. */
struct property_list {
    struct str bytes;
};

/* What an entity has beside a list that is only some of its properties: property_parts.h. */
struct property_rest {
    size_t bytes, count; /* of properties; 0: the list is all of them */
    struct str contents; /* ids of the contents of blobs that they hold: blob_reference_ids */
};

/*
 * Check and canonicalise what a caller sent: count slices, each the content of one field 15 record
 * (a map entry {1: name, 2: Value}). Nulls are dropped. Strings must be UTF-8; Guids are lowered;
 * DateTimes are truncated to ticks; NaNs become one NaN.
 *
 * key is the entity's key: it counts into the entity's size.
 *
 * STATUS_OK
 * STATUS_INVALID       DUPLICATE_PROPERTIES_SPECIFIED, PROPERTY_NAME_INVALID, PROPERTY_NAME_TOO_LONG,
 *                      PROPERTY_VALUE_TOO_LARGE, TOO_MANY_PROPERTIES, ENTITY_TOO_LARGE (tested before the
 *                      single values), INVALID_INPUT (malformed record, bad UTF-8, bad Guid)
 * STATUS_OUT_OF_RANGE  OUT_OF_RANGE_INPUT: a DateTime outside 1601..9999
 *
 * The message and the metadata `property` name the offender. The names PartitionKey, RowKey and
 * Timestamp are refused as PROPERTY_NAME_INVALID: they are fields of the entity.
 */
struct entity_key;
MUST_USE enum status property_list_parse(const struct str *slices, size_t count, const struct entity_key *key,
    struct arena *arena, struct property_list *out, struct error *err);

/*
 * Why an entity that is too large for most tables is refused. The table is not known yet when an
 * entity is parsed.
 */
struct property_excess {
    struct error *in_table;      /* a table whose entities have LIMIT_PROPERTIES */
    struct error *in_wide_table; /* a table whose entities may be wide; NULL: it accepts the entity */
};

/*
 * As property_list_parse, for any table: an entity that exceeds LIMIT_PROPERTIES or
 * LIMIT_ENTITY_BYTES is told in *excess, which is NULL otherwise, and does not fail. More than
 * LIMIT_WIDE_PROPERTIES fail.
 */
struct property_slices {
    const struct str *items;
    size_t count;
    const struct entity_key *key;
};
MUST_USE enum status property_list_parse_wide(const struct property_slices *slices, struct arena *arena,
    struct property_list *out, struct property_excess **excess, struct error *err);

/*
 * Walk a canonical list: start with the list's bytes, stop at false. The bytes come from our own
 * storage; broken ones end the walk.
 */
bool property_next(struct str *rest, struct property *out);

/*
 * Go on in such a walk to the property with this name, over all that come before it. false: it is
 * not there, and the walk stands at what comes after it. So a walk for ascending names passes the
 * list once.
 */
bool property_seek(struct str *rest, struct str name, struct property *out);

/* Find one by name; false when it is not there. */
bool property_find(struct property_list list, struct str name, struct property *out);

/*
 * New values win, the rest of base is kept: MERGE. Both lists and the result are canonical. Where
 * one list is empty the result is the other one, borrowed.
 */
struct property_list property_list_merge(
    struct property_list base, struct property_list changes, struct arena *arena);

/* Only the named properties, in list order, copied; names in ascending order are the quickest. */
struct property_list property_list_select(
    struct property_list list, const struct str *names, size_t count, struct arena *arena);

/*
 * The first properties of a list: as many as have at most max_bytes, but at least one if there is one. Borrowed; the
 * rest of the list lies behind them.
 */
struct property_list property_list_head(struct property_list list, size_t max_bytes);

/*
 * Check a merged list against LIMIT_PROPERTIES and LIMIT_ENTITY_BYTES.
 * STATUS_INVALID  TOO_MANY_PROPERTIES, ENTITY_TOO_LARGE
 */
MUST_USE enum status property_list_check(
    struct property_list list, const struct entity_key *key, struct error *err);

/*
 * The same for a wide entity that has a rest beside the list: LIMIT_WIDE_PROPERTIES, LIMIT_WIDE_BYTES, and
 * PART_MAX_UNDIVIDED_BYTES.
 */
MUST_USE enum status property_list_check_wide(
    struct property_list list, struct property_rest rest, struct error *err);

/*
 * Builds a canonical list; properties must be added in ascending order of their names (asserted),
 * nulls are left out. Begins with last_name empty.
 */
struct property_builder {
    struct buf *out;
    struct str last_name;
};
void property_build(struct property_builder *builder, struct str name, const struct value *value);

/* Read one Value message (no tag, no length). */
MUST_USE enum status value_parse(
    struct str message, struct value *out, struct arena *arena, struct error *err);

/* "Edm.Int32" and so on; for messages and docs. */
const char *property_type_name(enum property_type type);
/* "Int32" and so on. */
const char *property_type_short_name(enum property_type type);

#endif
