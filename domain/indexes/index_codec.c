/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_codec.c - see the header. A field that a later version adds is optional, so that
 * declarations without it keep their bytes.
 */
#include "domain/indexes/index_codec.h"

#include "base/wire_form.h"
#include "domain/filter/filter.h"
#include "domain/limits.h"
#include "domain/properties/case_fold.h"

#define PART(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct key_part, member, __VA_ARGS__)
#define INDEX(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct index, member, __VA_ARGS__)

static const struct wire_form_field part_fields[] = {
    PART(1, BOOL, is_literal),
    PART(2, TEXT, text),
    PART(3, UINT32, width, .max = INT32_MAX),
    PART(4, BOOL, inverted),
    PART(5, BOOL, fold_case),
    PART(6, UINT32, fold_table, .max = CASE_FOLD_TABLE, .optional = true),
};
static const struct wire_form part_form = WIRE_FORM(part_fields, struct key_part);

#define PAIR(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct copy_pair, member, __VA_ARGS__)
#define COPY(number, type, member, ...) WIRE_FORM_FIELD(number, type, struct copy_rule, member, __VA_ARGS__)

static const struct wire_form_field pair_fields[] = {
    PAIR(1, TEXT, to, .required = true),
    PAIR(2, TEXT, from, .required = true),
};
static const struct wire_form pair_form = WIRE_FORM(pair_fields, struct copy_pair);

static const struct wire_form_field copy_fields[] = {
    COPY(1, INT64, source_table_id),
    COPY(2, TEXT, source_name, .required = true),
    COPY(3, BOOL, partition_key.is_literal, .optional = true),
    COPY(4, TEXT, partition_key.text, .optional = true),
    COPY(5, BOOL, row_key.is_literal, .optional = true),
    COPY(6, TEXT, row_key.text, .optional = true),
    WIRE_FORM_ARRAY(
        7, MESSAGES, struct copy_rule, pairs, pair_count, .form = &pair_form, .max = LIMIT_COPY_PROPERTIES),
    COPY(8, BOOL, keep, .optional = true),
    COPY(9, TEXT, version_property, .optional = true),
};
static const struct wire_form copy_form = WIRE_FORM(copy_fields, struct copy_rule);

static const struct wire_form_field index_fields[] = {
    INDEX(1, TEXT, name, .required = true),
    INDEX(2, TEXT, source_name, .required = true),
    INDEX(3, UINT32, shape, .min = 1, .max = INDEX_SHAPE_END - 1, .required = true),
    INDEX(4, UINT32, place, .min = PLACE_SAME_PARTITION, .max = PLACE_OTHER_PARTITION, .required = true),
    WIRE_FORM_ARRAY(5, MESSAGES, struct index, partition_key.parts, partition_key.count, .form = &part_form,
        .max = LIMIT_KEY_PARTS, .required = true),
    WIRE_FORM_ARRAY(
        6, MESSAGES, struct index, row_key.parts, row_key.count, .form = &part_form, .max = LIMIT_KEY_PARTS),
    INDEX(7, UINT32, projection, .max = PROJECT_SOME),
    WIRE_FORM_ARRAY(8, TEXTS, struct index, names, name_count, .max = LIMIT_PROPERTIES),
    INDEX(9, UINT32, consistency, .max = INDEX_BECOMING_STRONG, .optional = true),
    INDEX(10, UINT32, on_violation, .max = VIOLATION_REJECT, .optional = true),
    INDEX(11, BOOL, is_unique, .optional = true),
    INDEX(12, TEXT, filter_text, .optional = true),
    INDEX(13, BOOL, keeps_versions, .optional = true),
    INDEX(14, MESSAGE, copies, .form = &copy_form, .optional = true),
};
static const struct wire_form index_form = WIRE_FORM(index_fields, struct index);

struct str index_codec_encode(const struct index *index, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    wire_form_write(&out, &index_form, index);
    return buf_str(&out);
}

bool index_codec_decode(struct str bytes, struct arena *arena, struct index *out)
{
    struct index index = *out;
    struct error ignored = { 0 };

    if (!wire_form_read(bytes, &index_form, arena, &index) ||
        index.filter_text.len > LIMIT_INDEX_FILTER_BYTES ||
        filter_compile(index.filter_text, arena, &index.filter, &ignored) != STATUS_OK)
        return false;
    *out = index;
    return true;
}
