/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reflection.c - see the header. The answer does not repeat the request (field 2), so that a caller cannot
 * make the server send back what it was sent. Descriptors are read field by field from their serialized form:
 * nothing is unpacked or kept.
 */
#include "service/probes/reflection.h"

#include "base/wire.h"
#include "domain/reason.h"
#include "proto/public_descriptors.h"

enum { CODE_NOT_FOUND = 5, MAX_FILES = 64 };

enum request_field {
    REQUEST_FILE_BY_FILENAME = 3,
    REQUEST_FILE_CONTAINING_SYMBOL = 4,
    REQUEST_FILE_CONTAINING_EXTENSION = 5,
    REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE = 6,
    REQUEST_LIST_SERVICES = 7,
};

enum response_field {
    RESPONSE_FILE_DESCRIPTOR = 4,
    RESPONSE_ALL_EXTENSION_NUMBERS = 5,
    RESPONSE_LIST_SERVICES = 6,
    RESPONSE_ERROR = 7,
};

/* Numbers of fields in descriptor.proto. */
enum { SET_FILE = 1, ANY_NAME = 1, FILE_PACKAGE = 2, FILE_DEPENDENCY = 3, FILE_SERVICE = 6 };

/* The kinds of descriptors that contain names, and the fields of the names. */
enum scope { SCOPE_LEAF, SCOPE_FILE, SCOPE_MESSAGE, SCOPE_ENUM, SCOPE_SERVICE };
static const struct scope_child {
    enum scope scope;
    uint32_t field;
    enum scope child;
} scope_children[] = {
    { SCOPE_FILE, 4, SCOPE_MESSAGE },
    { SCOPE_FILE, 5, SCOPE_ENUM },
    { SCOPE_FILE, 6, SCOPE_SERVICE },
    { SCOPE_FILE, 7, SCOPE_LEAF },
    { SCOPE_MESSAGE, 2, SCOPE_LEAF },
    { SCOPE_MESSAGE, 3, SCOPE_MESSAGE },
    { SCOPE_MESSAGE, 4, SCOPE_ENUM },
    { SCOPE_MESSAGE, 6, SCOPE_LEAF },
    { SCOPE_MESSAGE, 8, SCOPE_LEAF },
    { SCOPE_ENUM, 2, SCOPE_LEAF },
    { SCOPE_SERVICE, 2, SCOPE_LEAF },
};

struct file {
    struct str name;
    struct str package;
    struct str bytes; /* the serialized FileDescriptorProto */
};

struct files {
    struct file items[MAX_FILES];
    size_t count;
};

static void files_load(struct files *files)
{
    struct str set = str_of_bytes(public_descriptors, public_descriptors_bytes);
    struct wire_field field;

    files->count = 0;
    while (files->count < MAX_FILES && wire_find_field(&set, SET_FILE, &field)) {
        files->items[files->count++] = (struct file){
            .name = wire_find_bytes(field.bytes, ANY_NAME),
            .package = wire_find_bytes(field.bytes, FILE_PACKAGE),
            .bytes = field.bytes,
        };
    }
}

/* The index of the file; files->count if there is none. */
static size_t find_file(const struct files *files, struct str name)
{
    size_t i = 0;

    while (i < files->count && !str_equal(files->items[i].name, name))
        i++;
    return i;
}

/* Append a file and the files that it imports, each once. written: one bit per file that was appended. */
static void write_file(const struct files *files, size_t index, uint64_t *written, struct buf *out)
{
    struct str rest = files->items[index].bytes;
    struct wire_field field;

    if (*written & (UINT64_C(1) << index))
        return;
    *written |= UINT64_C(1) << index;
    wire_write_bytes(out, 1, files->items[index].bytes);
    while (wire_find_field(&rest, FILE_DEPENDENCY, &field)) {
        size_t imported = find_file(files, field.bytes);

        if (imported < files->count)
            write_file(files, imported, written, out);
    }
}

/*
 * Take "b" from the symbol "a.b" in the scope "a". false: the symbol is not in the scope. Every symbol is in
 * an empty scope.
 */
static bool strip_scope(struct str symbol, struct str scope, struct str *rest)
{
    if (scope.len == 0) {
        *rest = symbol;
        return true;
    }
    if (symbol.len <= scope.len || !str_starts_with(symbol, scope) || symbol.data[scope.len] != '.')
        return false;
    *rest = str_from(symbol, scope.len + 1);
    return true;
}

static bool scope_has(struct str message, enum scope scope, struct str symbol);

static bool child_has(struct str message, enum scope scope, struct str symbol)
{
    struct str name = wire_find_bytes(message, ANY_NAME);
    struct str rest;

    if (str_equal(name, symbol))
        return true;
    /* the names of values belong to the scope around their enum */
    if (scope == SCOPE_ENUM && scope_has(message, scope, symbol))
        return true;
    return scope != SCOPE_LEAF && strip_scope(symbol, name, &rest) && scope_has(message, scope, rest);
}

/*
 * Whether a descriptor contains this name. The recursion is as deep as the descriptors are nested; the build
 * has made them.
 */
static bool scope_has(struct str message, enum scope scope, struct str symbol)
{
    struct wire_field field;

    while (wire_read_field(&message, &field) == WIRE_FIELD) {
        for (size_t i = 0; i < ARRAY_LEN(scope_children); i++) {
            const struct scope_child *child = &scope_children[i];

            if (child->scope == scope && child->field == field.number &&
                child_has(field.bytes, child->child, symbol))
                return true;
        }
    }
    return false;
}

static size_t find_symbol(const struct files *files, struct str symbol)
{
    for (size_t i = 0; i < files->count; i++) {
        struct str rest;

        if (strip_scope(symbol, files->items[i].package, &rest) &&
            scope_has(files->items[i].bytes, SCOPE_FILE, rest))
            return i;
    }
    return files->count;
}

static void write_error(struct buf *out, const char *message, struct arena *arena)
{
    struct buf body;

    buf_init(&body, arena);
    wire_write_scalar(&body, 1, CODE_NOT_FOUND);
    wire_write_bytes(&body, 2, str_of(message));
    wire_write_bytes(out, RESPONSE_ERROR, buf_str(&body));
}

static void answer_file(const struct files *files, size_t index, struct arena *arena, struct buf *out)
{
    struct buf body;
    uint64_t written = 0;

    if (index == files->count) {
        write_error(out, "no file or symbol of this name", arena);
        return;
    }
    buf_init(&body, arena);
    write_file(files, index, &written, &body);
    wire_write_bytes(out, RESPONSE_FILE_DESCRIPTOR, buf_str(&body));
}

/* Answer with an empty list if the type exists: there are no extensions. */
static void answer_extension_numbers(
    const struct files *files, struct str type, struct arena *arena, struct buf *out)
{
    struct buf body;

    if (find_symbol(files, type) == files->count) {
        write_error(out, "no type of this name", arena);
        return;
    }
    buf_init(&body, arena);
    wire_write_bytes(&body, 1, type);
    wire_write_bytes(out, RESPONSE_ALL_EXTENSION_NUMBERS, buf_str(&body));
}

static void write_service(struct buf *out, struct str package, struct str service, struct arena *arena)
{
    struct buf body;

    buf_init(&body, arena);
    wire_write_bytes(&body, 1,
        arena_format(arena, "%.*s.%.*s", STR_ARG(package), STR_ARG(wire_find_bytes(service, ANY_NAME))));
    wire_write_bytes(out, 1, buf_str(&body));
}

static void answer_services(const struct files *files, struct arena *arena, struct buf *out)
{
    struct buf body;

    buf_init(&body, arena);
    for (size_t i = 0; i < files->count; i++) {
        struct str rest = files->items[i].bytes;
        struct wire_field field;

        while (wire_find_field(&rest, FILE_SERVICE, &field))
            write_service(&body, files->items[i].package, field.bytes, arena);
    }
    wire_write_bytes(out, RESPONSE_LIST_SERVICES, buf_str(&body));
}

static bool is_question(const struct wire_field *field)
{
    return field->type == WIRE_BYTES && field->number >= REQUEST_FILE_BY_FILENAME &&
           field->number <= REQUEST_LIST_SERVICES;
}

static void write_answer(const struct wire_field *question, struct arena *arena, struct buf *out)
{
    struct files *files = ARENA_NEW(arena, struct files);

    files_load(files);
    switch ((enum request_field)question->number) {
    case REQUEST_FILE_BY_FILENAME:
        answer_file(files, find_file(files, question->bytes), arena, out);
        return;
    case REQUEST_FILE_CONTAINING_SYMBOL:
        answer_file(files, find_symbol(files, question->bytes), arena, out);
        return;
    case REQUEST_FILE_CONTAINING_EXTENSION:
        write_error(out, "there are no extensions", arena);
        return;
    case REQUEST_ALL_EXTENSION_NUMBERS_OF_TYPE:
        answer_extension_numbers(files, question->bytes, arena, out);
        return;
    case REQUEST_LIST_SERVICES:
        answer_services(files, arena, out);
        return;
    }
}

enum status reflection_answer(struct str request, struct arena *arena, struct buf *out, struct error *err)
{
    struct str rest = request;
    struct wire_field field, question = { 0 };
    enum wire_result result;

    while ((result = wire_read_field(&rest, &field)) == WIRE_FIELD) {
        if (is_question(&field))
            question = field;
    }
    if (result == WIRE_MALFORMED)
        return reason_set(err, REASON_INVALID_INPUT, "the reflection request is malformed");
    if (question.number == 0)
        return reason_set(err, REASON_INVALID_INPUT, "the reflection request has no message_request");
    write_answer(&question, arena, out);
    return STATUS_OK;
}
