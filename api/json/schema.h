/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.h - the messages, enums and methods of the API as its .proto files declare them, read from the
 * descriptors that reflection serves. The generated code is made from derived files, in which text is bytes
 * and maps are lists, but JSON must distinguish these.
 */
#ifndef API_JSON_SCHEMA_H
#define API_JSON_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/wire.h"

struct schema;

/* Types of fields, with the numbers of google.protobuf.FieldDescriptorProto.Type. */
enum schema_type {
    SCHEMA_DOUBLE = 1,
    SCHEMA_FLOAT,
    SCHEMA_INT64,
    SCHEMA_UINT64,
    SCHEMA_INT32,
    SCHEMA_FIXED64,
    SCHEMA_FIXED32,
    SCHEMA_BOOL,
    SCHEMA_STRING,
    SCHEMA_GROUP, /* no file of the API has a group */
    SCHEMA_MESSAGE,
    SCHEMA_BYTES,
    SCHEMA_UINT32,
    SCHEMA_ENUM,
    SCHEMA_SFIXED32,
    SCHEMA_SFIXED64,
    SCHEMA_SINT32,
    SCHEMA_SINT64,
    SCHEMA_TYPES
};

/* The encoding of a field of this type. */
static inline enum wire_type schema_wire_type(enum schema_type type)
{
    switch (type) {
    case SCHEMA_DOUBLE:
    case SCHEMA_FIXED64:
    case SCHEMA_SFIXED64:
        return WIRE_FIXED64;
    case SCHEMA_FLOAT:
    case SCHEMA_FIXED32:
    case SCHEMA_SFIXED32:
        return WIRE_FIXED32;
    case SCHEMA_STRING:
    case SCHEMA_BYTES:
    case SCHEMA_MESSAGE:
        return WIRE_BYTES;
    default:
        return WIRE_VARINT;
    }
}

struct schema_value {
    struct str name;
    int32_t number;
};

struct schema_enum {
    struct str name; /* "tavola.v1.Consistency" */
    struct schema_value *values;
    size_t count;
};

struct schema_message;

struct schema_field {
    struct str name, json_name; /* "row_key", "rowKey" */
    uint32_t number;
    enum schema_type type;
    bool is_repeated;   /* true for maps too */
    bool is_optional;   /* proto3's `optional`: 0 differs from absent */
    int oneof;          /* position of the field's oneof in the message; -1: none */
    struct str of_type; /* name of the field's message or enum */
    const struct schema_message *message;
    const struct schema_enum *values;
};

/* Messages that have a special JSON form. */
enum schema_form {
    SCHEMA_PLAIN,
    SCHEMA_MAP_ENTRY,
    SCHEMA_TIMESTAMP,
    SCHEMA_DURATION,
    SCHEMA_FIELD_MASK,
    SCHEMA_ANY
};

struct schema_message {
    struct str name; /* "tavola.v1.Entity" */
    enum schema_form form;
    struct schema_field *fields; /* in the order of their declaration */
    size_t count;
    size_t oneofs;
};

struct schema_method {
    struct str path; /* "/tavola.v1.EntityService/GetEntity" */
    struct str input_name, output_name;
    const struct schema_message *input, *output;
    bool streams_requests, streams_replies;
};

/* The schema of the API. The first call reads it; any thread may call. It lives as long as the process. */
const struct schema *schema_of_api(void);

/* Find a message by its full name; NULL: there is none. */
const struct schema_message *schema_find_message(const struct schema *schema, struct str name);

/* Find a method by its path; NULL: there is none. */
const struct schema_method *schema_find_method(const struct schema *schema, struct str path);

/* All methods, sorted by path. */
const struct schema_method *schema_methods(const struct schema *schema, size_t *count);

/* Find a field by either of its names; NULL: the message has none. */
const struct schema_field *schema_find_field(const struct schema_message *message, struct str name);

/* The fields of a map's entry: its key and its value. */
static inline const struct schema_field *schema_map_key(const struct schema_field *map)
{
    return &map->message->fields[0];
}

static inline const struct schema_field *schema_map_value(const struct schema_field *map)
{
    return &map->message->fields[1];
}

static inline bool schema_is_map(const struct schema_field *field)
{
    return field->message && field->message->form == SCHEMA_MAP_ENTRY;
}

#endif
