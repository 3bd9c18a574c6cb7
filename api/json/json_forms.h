/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_forms.h - values that protobuf's JSON mapping writes as text of a special form.
 */
#ifndef API_JSON_JSON_FORMS_H
#define API_JSON_JSON_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * Append a google.protobuf.Timestamp: "2026-11-22T18:30:00.123Z", with 0, 3, 6 or 9 decimal places. false:
 * the time is outside the years 1 to 9999.
 */
MUST_USE bool json_forms_write_timestamp(struct buf *out, int64_t seconds, int32_t nanos);
MUST_USE bool json_forms_read_timestamp(struct str text, int64_t *seconds, int32_t *nanos);

/*
 * Append a google.protobuf.Duration: "-1.500s". false: over 10,000 years, or seconds and nanos have different
 * signs.
 */
MUST_USE bool json_forms_write_duration(struct buf *out, int64_t seconds, int32_t nanos);
MUST_USE bool json_forms_read_duration(struct str text, int64_t *seconds, int32_t *nanos);

/*
 * Convert a path of google.protobuf.FieldMask: "sample_queries.share" is "sampleQueries.share" in JSON.
 * false: the path cannot be converted.
 */
MUST_USE bool json_forms_write_path(struct buf *out, struct str path);
MUST_USE bool json_forms_read_path(struct buf *out, struct str path);

/* Append a number with the fewest digits that read as the same number; NaN and the infinities in quotes. */
void json_forms_write_double(struct buf *out, double number);
void json_forms_write_float(struct buf *out, float number);

/* Read a JSON number, or "NaN", "Infinity", "-Infinity". false: neither. */
MUST_USE bool json_forms_read_double(struct str text, double *out);

/* Append bytes in base64 with padding, without quotes. */
void json_forms_write_bytes(struct buf *out, struct str bytes);

/* Read base64 of either alphabet, with or without padding. false: it is malformed. */
MUST_USE bool json_forms_read_bytes(struct str text, struct arena *arena, struct str *out);

/* Append text in quotes. text: UTF-8. */
void json_forms_write_text(struct buf *out, struct str text);

/* Both as text, with a colon between them. */
void json_forms_write_pair(struct buf *out, struct str name, struct str text);

#endif
