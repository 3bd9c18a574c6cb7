/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_write.h - messages as protobuf's JSON mapping writes them (https://protobuf.dev/programming-guides/json): names
 * in lowerCamelCase, 64-bit integers and not-finite numbers as text, bytes in base64, enums by name, fields that have
 * their default value left out.
 */
#ifndef API_JSON_JSON_WRITE_H
#define API_JSON_JSON_WRITE_H

#include "api/json/schema.h"
#include "base/buf.h"
#include "base/error.h"

/*
 * Append the JSON form of a serialized message.
 *
 * indent  spaces per level; 0: everything on one line
 *
 * STATUS_INTERNAL  the bytes are not such a message, or are nested deeper than 100 levels; out has a part of the text
 */
MUST_USE enum status json_write_message(const struct schema *schema, const struct schema_message *message,
    struct str bytes, int indent, struct buf *out, struct error *err);

#endif
