/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_read.h - messages from JSON, by protobuf's JSON mapping
 * (https://protobuf.dev/programming-guides/json).
 *
 * A field has its JSON name or its name in the .proto file; null means that it is absent. 64-bit integers are
 * text or numbers (above 2^63 - 1 only text); bytes are base64 of either alphabet. Input that no message can
 * hold is refused: unknown names, names given twice, two fields of one oneof, numbers out of range, text that
 * is not UTF-8. A key of a map must not have a NUL.
 */
#ifndef API_JSON_JSON_READ_H
#define API_JSON_JSON_READ_H

#include "api/json/schema.h"
#include "base/buf.h"
#include "base/error.h"

/*
 * Append the serialized message that the text describes. The values of the text take some 60 bytes of memory
 * each, so a caller that does not trust the text must bound its length.
 *
 * STATUS_INVALID  INVALID_INPUT: the text is not JSON (the message says where), or not such a message (the error begins
 *                 with the field's path, such as "equals[1].stringValue")
 */
MUST_USE enum status json_read_message(const struct schema *schema, const struct schema_message *message,
    struct str text, struct buf *out, struct error *err);

#endif
