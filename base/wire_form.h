/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire_form.h - the stored form of a struct: one table of its fields, from which it is both written
 * and read.
 *
 *     static const struct wire_form_field point_fields[] = {
 *         WIRE_FORM_FIELD(1, INT64, struct point, x),
 *         WIRE_FORM_FIELD(2, TEXT, struct point, label, .optional = true),
 *     };
 *     static const struct wire_form point_form = WIRE_FORM(point_fields, struct point);
 *
 * The form is a message of the protobuf wire format. Fields are written in the order of the table,
 * so equal structs have equal bytes. A field's number and type never change, because rows with it
 * are stored; a new field is optional, so that structs without it keep their bytes.
 */
#ifndef BASE_WIRE_FORM_H
#define BASE_WIRE_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/macros.h"
#include "base/str.h"

/* The type of the struct's member, and how it is written. */
enum wire_form_type {
    WIRE_FORM_TEXT,     /* struct str */
    WIRE_FORM_ZIGZAG32, /* int32_t, small where it is near 0 */
    WIRE_FORM_ZIGZAG64, /* int64_t, small where it is near 0 */
    WIRE_FORM_INT64,    /* int64_t: its 64 bits, so a negative one takes ten bytes */
    WIRE_FORM_UINT32,   /* uint32_t, an enum, or an int32_t that is never negative */
    WIRE_FORM_BOOL,     /* bool */
    WIRE_FORM_MESSAGE,  /* a pointer to a struct with a form of its own; NULL: none */
    WIRE_FORM_MESSAGES, /* a pointer to an array of such structs, and a size_t at count_offset */
    WIRE_FORM_TEXTS,    /* a pointer to an array of struct str, and a size_t at count_offset */
};

struct wire_form_field {
    uint32_t number; /* from 1; not used by packed forms */
    enum wire_form_type type;
    size_t offset;                /* of the member in the struct */
    size_t count_offset;          /* MESSAGES, TEXTS: of the member that counts them */
    const struct wire_form *form; /* MESSAGE, MESSAGES */
    uint64_t min;                 /* UINT32: the smallest value that is accepted */
    /* UINT32: the largest value; MESSAGES, TEXTS: the largest number; 0: no bound */
    uint64_t max;
    bool optional; /* not written if it is 0 or empty */
    bool required; /* bytes in which it is missing, 0 or empty are refused */
};

/* The size of a member of each type; a row whose member has another size does not compile. */
enum {
    WIRE_FORM_BYTES_TEXT = sizeof(struct str),
    WIRE_FORM_BYTES_ZIGZAG32 = sizeof(int32_t),
    WIRE_FORM_BYTES_ZIGZAG64 = sizeof(int64_t),
    WIRE_FORM_BYTES_INT64 = sizeof(int64_t),
    WIRE_FORM_BYTES_UINT32 = sizeof(uint32_t),
    WIRE_FORM_BYTES_BOOL = sizeof(bool),
    WIRE_FORM_BYTES_MESSAGE = sizeof(void *),
    WIRE_FORM_BYTES_MESSAGES = sizeof(void *),
    WIRE_FORM_BYTES_TEXTS = sizeof(void *),
};
#define WIRE_FORM_MEMBER(type, structure, member)                                                            \
    (offsetof(structure, member) +                                                                           \
        0 * sizeof(char[sizeof(((structure *)0)->member) == WIRE_FORM_BYTES_##type ? 1 : -1]))

/* A row of the table; behind the member come further members of struct wire_form_field. */
#define WIRE_FORM_FIELD(field_number, field_type, structure, member, ...)                                    \
    {                                                                                                        \
        .number = (field_number), .type = WIRE_FORM_##field_type,                                            \
        .offset = WIRE_FORM_MEMBER(field_type, structure, member), __VA_ARGS__                               \
    }
/* A row for MESSAGES or TEXTS, which `counter` counts. */
#define WIRE_FORM_ARRAY(field_number, field_type, structure, member, counter, ...)                           \
    WIRE_FORM_FIELD(field_number, field_type, structure, member,                                             \
        .count_offset = offsetof(structure, counter), __VA_ARGS__)

struct wire_form {
    const struct wire_form_field *fields;
    size_t count;
    size_t item_bytes; /* the size of the struct */
    /* true: fields that are not in the table are skipped; false: they are refused */
    bool skips_unknown;
};

/*
 * The form of a struct with this table; behind the struct come further members of struct wire_form.
 */
#define WIRE_FORM(table, structure, ...)                                                                     \
    {                                                                                                        \
        .fields = (table), .count = ARRAY_LEN(table), .item_bytes = sizeof(structure), __VA_ARGS__           \
    }

/* Append the struct to out. */
void wire_form_write(struct buf *out, const struct wire_form *form, const void *item);

/*
 * Set those members of *item that the form has. Members that the bytes do not contain become 0 or
 * empty; members that the form does not have stay as they are, so clear a struct that has such. Structs of MESSAGE and
 * MESSAGES are cleared here. Texts borrow the bytes; arrays and messages lie in the arena. If a field occurs twice, the
 * last one counts. false: the bytes do not have this form, and *item is undefined.
 */
bool wire_form_read(struct str bytes, const struct wire_form *form, struct arena *arena, void *item);

/*
 * The packed form: the values in the order of the table without numbers, texts with their length
 * before them. Every field is there, so the table of a packed form can never change; it has no
 * MESSAGE, MESSAGES and TEXTS. Reading takes one struct from the front of *rest.
 */
void wire_form_write_packed(struct buf *out, const struct wire_form *form, const void *item);
bool wire_form_read_packed(struct str *rest, const struct wire_form *form, void *item);

#endif
