/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_members.h - a JSON object as a list of its members. An entity is such an object, and its values are
 * texts and numbers.
 *
 * Nearly every entity that a client sends is in plain form: no escapes, no nested values, no number beyond 64
 * bits. That form is read in one pass over the text. Everything else, and every text that is refused, goes to
 * Jansson, so Jansson alone decides what JSON is. A fuzz target compares the two.
 */
#ifndef API_JSON_JSON_MEMBERS_H
#define API_JSON_JSON_MEMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum json_kind {
    JSON_KIND_TEXT,
    JSON_KIND_INTEGER, /* a number without fraction and exponent that fits 64 bits */
    JSON_KIND_REAL,
    JSON_KIND_BOOLEAN,
    JSON_KIND_NULL,
    JSON_KIND_NESTED, /* an object or an array; its contents are not kept */
};

struct json_scalar {
    enum json_kind kind;
    struct str text; /* of a text: UTF-8, without escapes */
    union {
        int64_t integer; /* of an integer; of a Boolean 1 or 0 */
        double real;
    };
};

struct json_member {
    struct str name;
    struct json_scalar value;
};

/* In the order of the text. Names are different. Texts lie in the arena or in the text that was read. */
struct json_members {
    struct json_member *list;
    size_t count;
};

/*
 * Read an object.
 *
 * STATUS_INVALID  INVALID_INPUT: not a JSON object; DUPLICATE_PROPERTIES_SPECIFIED: a name occurs twice
 */
MUST_USE enum status json_members_read(
    struct str text, struct arena *arena, struct json_members *out, struct error *err);

/* Read an object in plain form. false: the text has another form, or is not JSON. */
MUST_USE bool json_members_scan(struct str text, struct arena *arena, struct json_members *out);

/* Read any object, as json_members_read, but without looking for the plain form first. */
MUST_USE enum status json_members_parse(
    struct str text, struct arena *arena, struct json_members *out, struct error *err);

/* The member with this name; NULL: there is none. */
const struct json_member *json_members_find(const struct json_members *members, struct str name);

#endif
