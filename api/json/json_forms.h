/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_forms.h - the values that protobuf's JSON mapping writes as text of a form of their own.
 */
#ifndef API_JSON_JSON_FORMS_H
#define API_JSON_JSON_FORMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

/*
 * google.protobuf.Timestamp: "2026-11-22T18:30:00.123Z", with 0, 3, 6 or 9 digits. false: outside the years 1 to 9999.
 */
MUST_USE bool json_forms_write_timestamp(struct buf *out, int64_t seconds, int32_t nanos);
MUST_USE bool json_forms_read_timestamp(struct str text, int64_t *seconds, int32_t *nanos);

/* google.protobuf.Duration: "-1.500s". false: over 10,000 years, or seconds and nanos differ in sign. */
MUST_USE bool json_forms_write_duration(struct buf *out, int64_t seconds, int32_t nanos);
MUST_USE bool json_forms_read_duration(struct str text, int64_t *seconds, int32_t *nanos);

/* A path of google.protobuf.FieldMask: "sample_queries.share" and "sampleQueries.share". false: it has no such form. */
MUST_USE bool json_forms_write_path(struct buf *out, struct str path);
MUST_USE bool json_forms_read_path(struct buf *out, struct str path);

/* With the fewest digits that read as the same number; NaN and the infinities in quotes. */
void json_forms_write_double(struct buf *out, double number);
void json_forms_write_float(struct buf *out, float number);

/* A number as JSON writes it, or "NaN", "Infinity", "-Infinity". false: it is none of these. */
MUST_USE bool json_forms_read_double(struct str text, double *out);

/* In base64 with padding, without quotes. */
void json_forms_write_bytes(struct buf *out, struct str bytes);

/* base64 in either alphabet, with padding or without. */
MUST_USE bool json_forms_read_bytes(struct str text, struct arena *arena, struct str *out);

/* In quotes. text: UTF-8. */
void json_forms_write_text(struct buf *out, struct str text);

#endif
