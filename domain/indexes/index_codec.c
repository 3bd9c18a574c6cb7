/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_codec.c - see the header. The fields carry protobuf tags, so that later versions can add some and
 * old declarations stay readable.
 */
#include "domain/indexes/index_codec.h"

#include "base/wire.h"
#include "domain/limits.h"

enum definition_field {
    DEFINITION_NAME = 1,
    DEFINITION_SOURCE = 2,
    DEFINITION_SHAPE = 3,
    DEFINITION_PLACE = 4,
    DEFINITION_PARTITION_PART = 5, /* repeated */
    DEFINITION_ROW_PART = 6,       /* repeated */
    DEFINITION_PROJECTION = 7,
    DEFINITION_PROJECTED_NAME = 8, /* repeated */
};

enum part_field {
    PART_LITERAL = 1, /* 1: the text is a literal */
    PART_TEXT = 2,
    PART_WIDTH = 3,
    PART_INVERTED = 4,
    PART_FOLD_CASE = 5,
};

static void write_part(struct buf *out, uint32_t number, const struct key_part *part, struct arena *arena)
{
    struct buf body;

    buf_init(&body, arena);
    wire_write_scalar(&body, PART_LITERAL, part->is_literal);
    wire_write_bytes(&body, PART_TEXT, part->text);
    wire_write_scalar(&body, PART_WIDTH, (uint64_t)part->width);
    wire_write_scalar(&body, PART_INVERTED, part->inverted);
    wire_write_scalar(&body, PART_FOLD_CASE, part->fold_case);
    wire_write_bytes(out, number, buf_str(&body));
}

struct str index_codec_encode(const struct index *index, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    wire_write_bytes(&out, DEFINITION_NAME, index->name);
    wire_write_bytes(&out, DEFINITION_SOURCE, index->source_name);
    wire_write_scalar(&out, DEFINITION_SHAPE, (uint64_t)index->shape);
    wire_write_scalar(&out, DEFINITION_PLACE, (uint64_t)index->place);
    for (size_t i = 0; i < index->partition_key.count; i++)
        write_part(&out, DEFINITION_PARTITION_PART, &index->partition_key.parts[i], arena);
    for (size_t i = 0; i < index->row_key.count; i++)
        write_part(&out, DEFINITION_ROW_PART, &index->row_key.parts[i], arena);
    wire_write_scalar(&out, DEFINITION_PROJECTION, (uint64_t)index->projection);
    for (size_t i = 0; i < index->name_count; i++)
        wire_write_bytes(&out, DEFINITION_PROJECTED_NAME, index->names[i]);
    return buf_str(&out);
}

static bool read_part(struct str body, struct key_part *out)
{
    struct key_part part = { .text = STR_EMPTY };
    struct wire_field field;
    enum wire_result result;

    while ((result = wire_read_field(&body, &field)) == WIRE_FIELD) {
        if (field.number == PART_LITERAL)
            part.is_literal = field.scalar != 0;
        else if (field.number == PART_TEXT && field.type == WIRE_BYTES)
            part.text = field.bytes;
        else if (field.number == PART_WIDTH && field.scalar <= INT32_MAX)
            part.width = (int32_t)field.scalar;
        else if (field.number == PART_INVERTED)
            part.inverted = field.scalar != 0;
        else if (field.number == PART_FOLD_CASE)
            part.fold_case = field.scalar != 0;
        else
            return false;
    }
    *out = part;
    return result == WIRE_END;
}

static bool add_part(struct key_parts *parts, struct str body)
{
    return parts->count < LIMIT_KEY_PARTS && read_part(body, &parts->parts[parts->count++]);
}

static bool add_name(struct index *index, struct str name)
{
    if (index->name_count == LIMIT_PROPERTIES)
        return false;
    index->names[index->name_count++] = name;
    return true;
}

static bool read_field(const struct wire_field *field, struct index *out)
{
    switch (field->number) {
    case DEFINITION_NAME:
        out->name = field->bytes;
        return true;
    case DEFINITION_SOURCE:
        out->source_name = field->bytes;
        return true;
    case DEFINITION_SHAPE:
        out->shape = (enum index_shape)field->scalar;
        return field->scalar == INDEX_COPY || field->scalar == INDEX_LIST;
    case DEFINITION_PLACE:
        out->place = (enum index_place)field->scalar;
        return field->scalar == PLACE_SAME_PARTITION || field->scalar == PLACE_OTHER_PARTITION;
    case DEFINITION_PARTITION_PART:
        return add_part(&out->partition_key, field->bytes);
    case DEFINITION_ROW_PART:
        return add_part(&out->row_key, field->bytes);
    case DEFINITION_PROJECTION:
        out->projection = (enum projection_kind)field->scalar;
        return field->scalar <= PROJECT_SOME;
    case DEFINITION_PROJECTED_NAME:
        return add_name(out, field->bytes);
    default:
        return false;
    }
}

static bool field_has_its_type(const struct wire_field *field)
{
    switch (field->number) {
    case DEFINITION_SHAPE:
    case DEFINITION_PLACE:
    case DEFINITION_PROJECTION:
        return field->type == WIRE_VARINT;
    default:
        return field->type == WIRE_BYTES;
    }
}

bool index_codec_decode(struct str bytes, struct arena *arena, struct index *out)
{
    struct wire_field field;
    enum wire_result result;

    out->name = out->source_name = STR_EMPTY;
    out->shape = 0;
    out->place = 0;
    out->projection = PROJECT_ALL;
    out->partition_key = (struct key_parts){ ARENA_ARRAY(arena, struct key_part, LIMIT_KEY_PARTS), 0 };
    out->row_key = (struct key_parts){ ARENA_ARRAY(arena, struct key_part, LIMIT_KEY_PARTS), 0 };
    out->names = ARENA_ARRAY(arena, struct str, LIMIT_PROPERTIES);
    out->name_count = 0;
    while ((result = wire_read_field(&bytes, &field)) == WIRE_FIELD) {
        if (!field_has_its_type(&field) || !read_field(&field, out))
            return false;
    }
    return result == WIRE_END && out->name.len > 0 && out->source_name.len > 0 && out->shape != 0 &&
           out->place != 0 && out->partition_key.count > 0;
}
