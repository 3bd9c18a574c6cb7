/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.h - messages from JSON, by protobuf's JSON mapping (https://protobuf.dev/programming-guides/json).
 *
 * Fields by their JSON name or the name in the .proto file; null is an absent field; 64-bit integers as text or as
 * numbers (above 2^63 - 1 only as text); bytes in base64 of either alphabet. What no message can hold is refused:
 * unknown names, names given twice, two fields of one oneof, numbers out of range, text that is not UTF-8. A key of a
 * map has no NUL.
 */
#ifndef API_JSON_JSON_READ_H
#define API_JSON_JSON_READ_H

#include "api/json/schema.h"
#include "base/buf.h"
#include "base/error.h"

/*
 * Append the serialized message that the text describes. Memory for its values is some 60 bytes for each, so a caller
 * that does not trust the text bounds its length.
 *
 * STATUS_INVALID  INVALID_INPUT: the text is no JSON (the message says where), or no such message (the error begins
 *                 with the field's path, such as "equals[1].stringValue")
 */
MUST_USE enum status json_read_message(const struct schema *schema, const struct schema_message *message,
    struct str text, struct buf *out, struct error *err);

#endif
