/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entity_json.h - an entity in the form that clients of REST table services know:
 *
 *   {"PartitionKey": "sales", "RowKey": "1", "Age": 36, "Id@odata.type": "Edm.Guid", "Id": "0f...", "Share": 0.5}
 *
 * Without an annotation a string is Edm.String, true and false Edm.Boolean, an integer of 32 bits Edm.Int32, any other
 * number Edm.Double. With one, a value may also be text; Edm.Int64 keeps all of its digits only as text.
 */
#ifndef API_JSON_ENTITY_JSON_H
#define API_JSON_ENTITY_JSON_H

#include "base/buf.h"
#include "domain/entities/entity.h"
#include "domain/properties/datetime.h"

/*
 * Read an entity: its key and its properties, in the arena. Timestamp, null, members that begin with "odata." and
 * annotations without a value are ignored.
 *
 * STATUS_INVALID  INVALID_INPUT: no JSON object, a value that is not of its type, a type that does not exist;
 *                 DUPLICATE_PROPERTIES_SPECIFIED: a member occurs twice;
 *                 PROPERTIES_NEED_VALUE: no PartitionKey or RowKey;
 *                 what entity_key_parse and property_list_parse refuse
 */
MUST_USE enum status entity_json_read(
    struct str text, struct arena *arena, struct entity *out, struct error *err);

/* The same for an entity whose key is given already, so that members PartitionKey and RowKey are ignored. */
MUST_USE enum status entity_json_read_at(struct str text, const struct entity_key *key, struct arena *arena,
    struct entity *out, struct error *err);

/*
 * Read the text that a JSON object has as its member `name`; *out is in the arena.
 * STATUS_INVALID  INVALID_INPUT: no JSON object; PROPERTIES_NEED_VALUE: no such member, or no text
 */
MUST_USE enum status entity_json_read_member(
    struct str text, const char *name, struct arena *arena, struct str *out, struct error *err);

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

/* Append a time, with seven digits of its seconds or as many as it needs, in quotes. */
void entity_json_write_time(struct buf *out, int64_t ticks, enum datetime_digits digits);

/* Whether JSON's own types do not say the type, so that an annotation must. */
bool entity_json_needs_annotation(const struct value *value);

/* Append an entity as one line without its end. etag: as the server gave it; empty: none. */
void entity_json_write(const struct entity *entity, struct str etag, struct buf *out);

#endif
