/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_json.h - an entity in the JSON form of REST table services:
 *
 *   {"PartitionKey": "sales", "RowKey": "1", "Age": 36, "Id@odata.type": "Edm.Guid", "Id": "0f...", "Share": 0.5}
 *
 * Without an annotation a string is Edm.String, true and false are Edm.Boolean, an integer of up to 32 bits
 * is Edm.Int32, and any other number is Edm.Double. With an annotation, a value may also be text; Edm.Int64
 * keeps all its digits only as text.
 *
 * The time at which the entity expires is the member "tavola.expires": "2026-01-31T12:00:00Z". No property can have
 * this name, and versions before it refuse such an entity.
 */
#ifndef API_JSON_ENTITY_JSON_H
#define API_JSON_ENTITY_JSON_H

#include "base/buf.h"
#include "domain/entities/entity.h"
#include "domain/properties/datetime.h"

/* The member that has the time at which the entity expires. */
#define ENTITY_JSON_EXPIRES STR_LITERAL("tavola.expires")

/*
 * Read a time at which an entity expires.
 *
 * STATUS_INVALID       INVALID_INPUT: not a time
 * STATUS_OUT_OF_RANGE  OUT_OF_RANGE_INPUT: not in the years 1601 to 9999
 */
MUST_USE enum status entity_json_read_expires(struct str text, int64_t *out, struct error *err);

/*
 * Read an entity: its key, its properties, in the arena, and when it expires. Timestamp, null, members that begin with
 * "odata." and annotations without a value are ignored.
 *
 * STATUS_INVALID  INVALID_INPUT: no JSON object, a value that is not of its type, a type that does not exist,
 *                 a tavola.expires that is not a time;
 *                 DUPLICATE_PROPERTIES_SPECIFIED: a member occurs twice;
 *                 PROPERTIES_NEED_VALUE: no PartitionKey or RowKey;
 *                 what entity_key_parse and property_list_parse refuse
 * STATUS_OUT_OF_RANGE  OUT_OF_RANGE_INPUT: as of property_list_parse and of entity_json_read_expires
 *
 * excess: as of property_list_parse_wide, for any table; NULL: what is too large for most tables is refused
 */
MUST_USE enum status entity_json_read(struct str text, struct arena *arena, struct entity *out,
    struct property_excess **excess, struct error *err);

/* Read an entity whose key is known. Members PartitionKey and RowKey are ignored. Errors: as above. */
MUST_USE enum status entity_json_read_at(struct str text, const struct entity_key *key, struct arena *arena,
    struct entity *out, struct property_excess **excess, struct error *err);

/*
 * Read the text of the member `name` of a JSON object into the arena.
 *
 * STATUS_INVALID  INVALID_INPUT: not a JSON object; PROPERTIES_NEED_VALUE: no such member, or it is not text
 */
MUST_USE enum status entity_json_read_member(
    struct str text, const char *name, struct arena *arena, struct str *out, struct error *err);

/* The type with this name, in any case: "int32", "Int32" or "Edm.Int32". PROPERTY_NULL: there is no such type. */
enum property_type entity_json_find_type(struct str name);

/*
 * Read a value of a type from text. type: "int32", "Int32" or "Edm.Int32"; "string", "boolean", "int64", "double",
 * "datetime", "guid", "binary" (base64). Appends the property to the slices that property_list_parse takes.
 *
 * STATUS_INVALID  INVALID_INPUT, as above
 */
MUST_USE enum status entity_json_read_text(struct str name, struct str type, struct str text,
    struct arena *arena, struct str *slice, struct error *err);

/* Append a value as JSON; PROPERTY_NULL: null. */
void entity_json_write_value(struct buf *out, const struct value *value);

/* Append a time in quotes, with seven decimal places of the seconds or with as many as it needs. */
void entity_json_write_time(struct buf *out, int64_t ticks, enum datetime_digits digits);

/* Whether the value needs an annotation, because its JSON type does not determine its type. */
bool entity_json_needs_annotation(const struct value *value);

/* Append an entity as one line, without the line end. etag: from the server; empty: none. A time of 0 is left out. */
void entity_json_write(const struct entity *entity, struct str etag, struct buf *out);

#endif
