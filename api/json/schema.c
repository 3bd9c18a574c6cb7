/* SPDX-License-Identifier: Apache-2.0 */
/*
 * schema.c - see the header. Descriptors are read field by field from their serialized form, as in
 * reflection: first the items are counted, then read into arrays; then the arrays are sorted and names are
 * replaced by pointers.
 */
#include "api/json/schema.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/macros.h"
#include "base/wire.h"
#include "proto/public_descriptors.h"

/* Numbers of fields in google/protobuf/descriptor.proto. */
enum {
    SET_FILE = 1,
    ANY_NAME = 1,
    FILE_PACKAGE = 2,
    FILE_MESSAGE = 4,
    FILE_ENUM = 5,
    FILE_SERVICE = 6,
    MESSAGE_FIELD = 2,
    MESSAGE_MESSAGE = 3,
    MESSAGE_ENUM = 4,
    MESSAGE_OPTIONS = 7,
    MESSAGE_ONEOF = 8,
    OPTIONS_MAP_ENTRY = 7,
    FIELD_NUMBER = 3,
    FIELD_LABEL = 4,
    FIELD_TYPE = 5,
    FIELD_TYPE_NAME = 6,
    FIELD_ONEOF = 9,
    FIELD_JSON_NAME = 10,
    FIELD_OPTIONAL = 17,
    LABEL_REPEATED = 3,
    ENUM_VALUE = 2,
    VALUE_NUMBER = 2,
    SERVICE_METHOD = 2,
    METHOD_INPUT = 2,
    METHOD_OUTPUT = 3,
    METHOD_STREAMS_REQUESTS = 5,
    METHOD_STREAMS_REPLIES = 6,
};

struct schema {
    struct arena arena;
    struct schema_message *messages;
    struct schema_enum *enums;
    struct schema_method *methods;
    size_t message_count, enum_count, method_count;
};

/* ---- fields of a descriptor ---- */

static uint64_t number_of(struct str descriptor, uint32_t number)
{
    struct wire_field field;

    return wire_find_field(&descriptor, number, &field) ? field.scalar : 0;
}

static size_t count_of(struct str descriptor, uint32_t number)
{
    struct wire_field field;
    size_t count = 0;

    while (wire_find_field(&descriptor, number, &field))
        count++;
    return count;
}

/* Remove the dot with which names of types begin. */
static struct str without_dot(struct str name)
{
    return name.len > 0 ? str_of_bytes(name.data + 1, name.len - 1) : name;
}

static struct str join(struct arena *arena, struct str scope, struct str name)
{
    return arena_format(arena, "%.*s.%.*s", STR_ARG(scope), STR_ARG(name));
}

/* ---- reading ---- */

static enum schema_form form_of(struct str name, struct str descriptor)
{
    static const struct {
        const char *name;
        enum schema_form form;
    } forms[] = {
        { "google.protobuf.Timestamp", SCHEMA_TIMESTAMP },
        { "google.protobuf.Duration", SCHEMA_DURATION },
        { "google.protobuf.FieldMask", SCHEMA_FIELD_MASK },
        { "google.protobuf.Any", SCHEMA_ANY },
    };

    for (size_t i = 0; i < ARRAY_LEN(forms); i++)
        if (str_equal(name, str_of(forms[i].name)))
            return forms[i].form;
    return number_of(wire_find_bytes(descriptor, MESSAGE_OPTIONS), OPTIONS_MAP_ENTRY) ? SCHEMA_MAP_ENTRY
                                                                                      : SCHEMA_PLAIN;
}

static struct schema_field read_schema_field(struct str descriptor)
{
    bool is_optional = number_of(descriptor, FIELD_OPTIONAL) != 0;
    bool in_oneof = !is_optional && count_of(descriptor, FIELD_ONEOF) > 0;

    return (struct schema_field){
        .name = wire_find_bytes(descriptor, ANY_NAME),
        .json_name = wire_find_bytes(descriptor, FIELD_JSON_NAME),
        .number = (uint32_t)number_of(descriptor, FIELD_NUMBER),
        .type = (enum schema_type)number_of(descriptor, FIELD_TYPE),
        .is_repeated = number_of(descriptor, FIELD_LABEL) == LABEL_REPEATED,
        .is_optional = is_optional,
        .oneof = in_oneof ? (int)number_of(descriptor, FIELD_ONEOF) : -1,
        .of_type = without_dot(wire_find_bytes(descriptor, FIELD_TYPE_NAME)),
    };
}

static void add_enum(struct schema *schema, struct str scope, struct str descriptor)
{
    struct schema_enum *out = &schema->enums[schema->enum_count++];
    struct wire_field value;

    out->name = join(&schema->arena, scope, wire_find_bytes(descriptor, ANY_NAME));
    out->values = ARENA_ARRAY(&schema->arena, struct schema_value, count_of(descriptor, ENUM_VALUE));
    while (wire_find_field(&descriptor, ENUM_VALUE, &value))
        out->values[out->count++] = (struct schema_value){ wire_find_bytes(value.bytes, ANY_NAME),
            (int32_t)number_of(value.bytes, VALUE_NUMBER) };
}

static void add_enums(struct schema *schema, struct str scope, struct str descriptor, uint32_t number)
{
    struct wire_field field;

    while (wire_find_field(&descriptor, number, &field))
        add_enum(schema, scope, field.bytes);
}

static void add_messages(struct schema *schema, struct str scope, struct str descriptor, uint32_t number);

static void add_message(struct schema *schema, struct str scope, struct str descriptor)
{
    struct schema_message *out = &schema->messages[schema->message_count++];
    struct str rest = descriptor;
    struct wire_field field;

    out->name = join(&schema->arena, scope, wire_find_bytes(descriptor, ANY_NAME));
    out->form = form_of(out->name, descriptor);
    out->oneofs = count_of(descriptor, MESSAGE_ONEOF);
    out->fields = ARENA_ARRAY(&schema->arena, struct schema_field, count_of(descriptor, MESSAGE_FIELD));
    while (wire_find_field(&rest, MESSAGE_FIELD, &field))
        out->fields[out->count++] = read_schema_field(field.bytes);
    add_enums(schema, out->name, descriptor, MESSAGE_ENUM);
    add_messages(schema, out->name, descriptor, MESSAGE_MESSAGE);
}

static void add_messages(struct schema *schema, struct str scope, struct str descriptor, uint32_t number)
{
    struct wire_field field;

    while (wire_find_field(&descriptor, number, &field))
        add_message(schema, scope, field.bytes);
}

static void add_service(struct schema *schema, struct str package, struct str descriptor)
{
    struct str name = join(&schema->arena, package, wire_find_bytes(descriptor, ANY_NAME));
    struct wire_field field;

    while (wire_find_field(&descriptor, SERVICE_METHOD, &field))
        schema->methods[schema->method_count++] = (struct schema_method){
            .path = arena_format(
                &schema->arena, "/%.*s/%.*s", STR_ARG(name), STR_ARG(wire_find_bytes(field.bytes, ANY_NAME))),
            .input_name = without_dot(wire_find_bytes(field.bytes, METHOD_INPUT)),
            .output_name = without_dot(wire_find_bytes(field.bytes, METHOD_OUTPUT)),
            .streams_requests = number_of(field.bytes, METHOD_STREAMS_REQUESTS) != 0,
            .streams_replies = number_of(field.bytes, METHOD_STREAMS_REPLIES) != 0,
        };
}

static void add_file(struct schema *schema, struct str descriptor)
{
    struct str package = wire_find_bytes(descriptor, FILE_PACKAGE), rest = descriptor;
    struct wire_field field;

    add_messages(schema, package, descriptor, FILE_MESSAGE);
    add_enums(schema, package, descriptor, FILE_ENUM);
    while (wire_find_field(&rest, FILE_SERVICE, &field))
        add_service(schema, package, field.bytes);
}

/* ---- counting ---- */

struct counts {
    size_t messages, enums, methods;
};

static void count_messages(struct counts *counts, struct str descriptor, uint32_t number)
{
    struct wire_field field;

    while (wire_find_field(&descriptor, number, &field)) {
        counts->messages++;
        counts->enums += count_of(field.bytes, MESSAGE_ENUM);
        count_messages(counts, field.bytes, MESSAGE_MESSAGE);
    }
}

static struct counts count_all(struct str set)
{
    struct counts counts = { 0 };
    struct wire_field file, service;

    while (wire_find_field(&set, SET_FILE, &file)) {
        struct str rest = file.bytes;

        count_messages(&counts, file.bytes, FILE_MESSAGE);
        counts.enums += count_of(file.bytes, FILE_ENUM);
        while (wire_find_field(&rest, FILE_SERVICE, &service))
            counts.methods += count_of(service.bytes, SERVICE_METHOD);
    }
    return counts;
}

/* ---- finding; the three kinds of items begin with their name ---- */

static int compare_names(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

static const void *find(const void *items, size_t count, size_t size, struct str name)
{
    return count > 0 ? bsearch(&name, items, count, size, compare_names) : NULL;
}

const struct schema_message *schema_find_message(const struct schema *schema, struct str name)
{
    return find(schema->messages, schema->message_count, sizeof(schema->messages[0]), name);
}

const struct schema_method *schema_find_method(const struct schema *schema, struct str path)
{
    return find(schema->methods, schema->method_count, sizeof(schema->methods[0]), path);
}

const struct schema_method *schema_methods(const struct schema *schema, size_t *count)
{
    *count = schema->method_count;
    return schema->methods;
}

const struct schema_field *schema_find_field(const struct schema_message *message, struct str name)
{
    for (size_t i = 0; i < message->count; i++)
        if (str_equal(message->fields[i].json_name, name) || str_equal(message->fields[i].name, name))
            return &message->fields[i];
    return NULL;
}

static void resolve(struct schema *schema)
{
    for (size_t i = 0; i < schema->message_count; i++)
        for (size_t k = 0; k < schema->messages[i].count; k++) {
            struct schema_field *field = &schema->messages[i].fields[k];

            field->message = schema_find_message(schema, field->of_type);
            field->values = find(schema->enums, schema->enum_count, sizeof(schema->enums[0]), field->of_type);
        }
    for (size_t i = 0; i < schema->method_count; i++) {
        schema->methods[i].input = schema_find_message(schema, schema->methods[i].input_name);
        schema->methods[i].output = schema_find_message(schema, schema->methods[i].output_name);
    }
}

/* ---- the API's ---- */

static struct schema api;

static void read_api(void)
{
    struct str set = str_of_bytes(public_descriptors, public_descriptors_bytes);
    struct counts counts = count_all(set);
    struct wire_field file;

    arena_init(&api.arena);
    api.messages = arena_calloc(&api.arena, counts.messages, sizeof(api.messages[0]));
    api.enums = arena_calloc(&api.arena, counts.enums, sizeof(api.enums[0]));
    api.methods = arena_calloc(&api.arena, counts.methods, sizeof(api.methods[0]));
    while (wire_find_field(&set, SET_FILE, &file))
        add_file(&api, file.bytes);
    qsort(api.messages, api.message_count, sizeof(api.messages[0]), compare_names);
    qsort(api.enums, api.enum_count, sizeof(api.enums[0]), compare_names);
    qsort(api.methods, api.method_count, sizeof(api.methods[0]), compare_names);
    resolve(&api);
}

const struct schema *schema_of_api(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_api);
    return &api;
}
