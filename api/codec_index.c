/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_index.c - see the header.
 */
#include "api/codec_index.h"

#include <stdlib.h>

#include "api/codec_copies.h"
#include "api/codec_read.h"
#include "api/codec_report.h"
#include "api/codec_table.h"
#include "domain/catalogue/table_name.h"
#include "domain/filter/filter.h"
#include "domain/indexes/index_codec.h"
#include "domain/indexes/index_shape.h"
#include "domain/keys/entity_key.h"
#include "domain/limits.h"
#include "domain/properties/case_fold.h"
#include "domain/properties/property_name.h"
#include "domain/reason.h"
#include "domain/text.h"

/* ---- the parts of keys ---- */

/* Check a literal. It is written into keys unescaped, so it must be a valid key itself. */
static enum status literal_check(struct str text, const char *key, struct error *err)
{
    struct entity_key ignored;

    if (entity_key_parse(text, STR_EMPTY, &ignored, NULL) == STATUS_OK)
        return STATUS_OK;
    return reason_set(err, REASON_OUT_OF_RANGE_INPUT,
        "%s: a literal is too long or holds a character that is not allowed in keys: / \\ # ? or a control",
        key);
}

static enum status part_text_check(struct str text, const char *key, struct error *err)
{
    size_t units = 0;

    if (!text_check(text, &units, NULL))
        return reason_set(err, REASON_INVALID_INPUT, "%s: a part is not UTF-8", key);
    if (units > LIMIT_PROPERTY_NAME_UNITS)
        return reason_set(err, REASON_INVALID_INPUT, "%s: a part is longer than %d UTF-16 units", key,
            LIMIT_PROPERTY_NAME_UNITS);
    return STATUS_OK;
}

/* PartitionKey, RowKey and Timestamp are accepted as names of properties here. */
static enum status part_property_check(struct str name, const char *key, struct error *err)
{
    if (name.len == 0)
        return reason_set(err, REASON_INVALID_INPUT, "%s: a property's name is empty", key);
    if (str_equal(name, STR_LITERAL("PartitionKey")) || str_equal(name, STR_LITERAL("RowKey")) ||
        str_equal(name, STR_LITERAL("Timestamp")))
        return STATUS_OK;
    return property_name_check(name, err);
}

static enum status part_source_decode(
    const Tavola__V1__KeyPart *message, const char *key, struct key_part *out, struct error *err)
{
    switch (message->source_case) {
    case TAVOLA__V1__KEY_PART__SOURCE_LITERAL:
        out->is_literal = true;
        out->text = codec_str(message->literal);
        if (part_text_check(out->text, key, err) != STATUS_OK ||
            literal_check(out->text, key, err) != STATUS_OK)
            return error_in_field(err, "literal");
        return STATUS_OK;
    case TAVOLA__V1__KEY_PART__SOURCE_PROPERTY:
        out->text = codec_str(message->property);
        if (part_text_check(out->text, key, err) != STATUS_OK ||
            part_property_check(out->text, key, err) != STATUS_OK)
            return error_in_field(err, "property");
        return STATUS_OK;
    case TAVOLA__V1__KEY_PART__SOURCE__NOT_SET:
    case _TAVOLA__V1__KEY_PART__SOURCE__CASE_IS_INT_SIZE:
        break;
    }
    return reason_set(err, REASON_INVALID_INPUT, "%s: each part is a literal or a property", key);
}

/*
 * Refuse fold_case beside a width, inverted or a literal: text has neither width nor inversion, and a literal
 * is constant.
 */
static enum status fold_case_decode(
    const Tavola__V1__KeyPart *message, const char *key, struct key_part *out, struct error *err)
{
    if (!message->fold_case)
        return STATUS_OK;
    if (out->is_literal || out->width != 0 || out->inverted)
        return codec_refuse_field(err, "fold_case",
            "%s: fold_case is for a property without width and inverted, not for %s", key,
            out->is_literal   ? "a literal"
            : out->width != 0 ? "one with width"
                              : "one with inverted");
    out->fold_case = true;
    out->fold_table = CASE_FOLD_TABLE;
    return STATUS_OK;
}

static enum status part_decode(
    const Tavola__V1__KeyPart *message, const char *key, struct key_part *out, struct error *err)
{
    if (message->width < 0 || message->width > KEY_PART_WIDTH_MAX)
        return codec_refuse_field(
            err, "width", "%s: width is %d, allowed are 0 to %d", key, message->width, KEY_PART_WIDTH_MAX);
    TRY(part_source_decode(message, key, out, err));
    if (out->is_literal && (message->width != 0 || message->inverted))
        return codec_refuse_field(err, message->width != 0 ? "width" : "inverted",
            "%s: width and inverted are for properties, not for literals", key);
    out->width = message->width;
    out->inverted = message->inverted;
    return fold_case_decode(message, key, out, err);
}

/* Decode the parts of one key. key: the path of the key in the request. */
static enum status parts_decode(Tavola__V1__KeyPart *const *messages, size_t count, const char *key,
    struct arena *arena, struct key_parts *out, struct error *err)
{
    if (count > LIMIT_KEY_PARTS)
        return codec_refuse_field(err, key, "%s has %zu parts, allowed are %d", key, count, LIMIT_KEY_PARTS);
    out->parts = ARENA_ARRAY(arena, struct key_part, count);
    out->count = count;
    for (size_t i = 0; i < count; i++)
        if (part_decode(messages[i], key, &out->parts[i], err) != STATUS_OK)
            return error_in_element(err, key, i);
    return STATUS_OK;
}

/* ---- the declaration ---- */

static int name_compare(const void *a, const void *b)
{
    return str_compare(*(const struct str *)a, *(const struct str *)b);
}

#define SOME_NAMES "index.projection.some.names"

static enum status names_decode(
    const Tavola__V1__PropertyNames *message, struct arena *arena, struct index *out, struct error *err)
{
    if (message->n_names == 0 || message->n_names > LIMIT_PROPERTIES)
        return codec_refuse_field(err, SOME_NAMES, SOME_NAMES " has %zu names, allowed are 1 to %d",
            message->n_names, LIMIT_PROPERTIES);
    out->names = ARENA_ARRAY(arena, struct str, message->n_names);
    out->name_count = message->n_names;
    for (size_t i = 0; i < message->n_names; i++) {
        size_t units = 0;

        out->names[i] = codec_str(message->names[i]);
        if (out->names[i].len == 0 || !text_check(out->names[i], &units, NULL) ||
            units > LIMIT_PROPERTY_NAME_UNITS) {
            (void)reason_set(err, REASON_INVALID_INPUT, SOME_NAMES "[%zu] is not a valid property name", i);
            return error_in_element(err, SOME_NAMES, i);
        }
    }
    qsort(out->names, out->name_count, sizeof(*out->names), name_compare);
    for (size_t i = 1; i < out->name_count; i++) {
        if (str_equal(out->names[i - 1], out->names[i]))
            return codec_refuse_field(err, SOME_NAMES, SOME_NAMES " names a property twice");
    }
    return STATUS_OK;
}

static enum status projection_decode(
    const Tavola__V1__Projection *message, struct arena *arena, struct index *out, struct error *err)
{
    const struct index_shape_rules *shape = index_shape_rules(out->shape);

    if (!message || message->columns_case == TAVOLA__V1__PROJECTION__COLUMNS__NOT_SET)
        return STATUS_OK;
    if (!shape->may_project)
        return codec_refuse_field(err, "index.projection",
            "index.projection is not for %s, whose entries hold the keys of their entities alone",
            shape->name);
    if (message->columns_case == TAVOLA__V1__PROJECTION__COLUMNS_SOME) {
        out->projection = PROJECT_SOME;
        return names_decode(message->some, arena, out, err);
    }
    out->projection = PROJECT_KEYS_ONLY;
    if (!message->keys_only)
        return codec_refuse_field(err, "index.projection.keys_only",
            "index.projection.keys_only is false: leave the projection out for every property");
    return STATUS_OK;
}

static enum status check_value(int value, int max, const char *field, struct error *err)
{
    if (value >= 0 && value <= max)
        return STATUS_OK;
    return codec_refuse_field(err, field, "%s: %d is not a value of the enum", field, value);
}

/* Refuse the fields that are not supported yet, by name, and enum values that do not exist. */
static enum status check_honoured(const Tavola__V1__Index *message, struct error *err)
{
    TRY(check_value((int)message->place, PLACE_OTHER_PARTITION, "index.place", err));
    TRY(check_value((int)message->on_violation, TAVOLA__V1__ON_VIOLATION__ON_VIOLATION_REJECT,
        "index.on_violation", err));
    return check_value((int)message->consistency, TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL,
        "index.consistency", err);
}

/* Check the consistency: an entry in the partition of its entity is always written with the entity. */
static enum status index_consistency_decode(
    const Tavola__V1__Index *message, struct index *out, struct error *err)
{
    if (message->place == TAVOLA__V1__INDEX_PLACE__INDEX_PLACE_SAME_PARTITION) {
        out->place = PLACE_SAME_PARTITION;
        out->consistency = INDEX_STRONG;
        if (message->consistency == TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL)
            return codec_refuse_field(err, "index.consistency",
                "index.consistency is EVENTUAL: entries in the partition of their entity are always STRONG");
        return STATUS_OK;
    }
    if (message->consistency == TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG)
        out->consistency = INDEX_STRONG;
    return STATUS_OK;
}

static bool has_property(const struct key_parts *key)
{
    for (size_t i = 0; i < key->count; i++) {
        if (!key->parts[i].is_literal)
            return true;
    }
    return false;
}

/* Check that the partition key of the entries is the unchanged partition key of their entity. */
static enum status same_partition_check(const struct key_parts *key, struct error *err)
{
    const struct key_part *part = &key->parts[0];

    if (key->count == 1 && !part->is_literal && part->width == 0 && !part->inverted && !part->fold_case &&
        str_equal(part->text, STR_LITERAL("PartitionKey")))
        return STATUS_OK;
    return codec_refuse_field(err, "index.partition_key",
        "index.partition_key of an index in the same partition is one part: the property PartitionKey, "
        "without width, inverted and fold_case");
}

static enum status keys_decode(
    const Tavola__V1__Index *message, struct arena *arena, struct index *out, struct error *err)
{
    const struct index_shape_rules *shape = index_shape_rules(out->shape);

    if (message->n_partition_key == 0)
        return codec_missing(err, "index.partition_key", "1 to 16 parts");
    TRY(parts_decode(message->partition_key, message->n_partition_key, "index.partition_key", arena,
        &out->partition_key, err));
    TRY(parts_decode(message->row_key, message->n_row_key, "index.row_key", arena, &out->row_key, err));
    if (shape->needs_property && !has_property(&out->partition_key) && !has_property(&out->row_key))
        return codec_refuse_field(err, "index.partition_key",
            "at least one part of the keys of a %s must be a property, whose values it lists", shape->name);
    return out->place == PLACE_SAME_PARTITION ? same_partition_check(&out->partition_key, err) : STATUS_OK;
}

static enum status unique_decode(const Tavola__V1__Index *message, struct index *out, struct error *err)
{
    const struct index_shape_rules *shape = index_shape_rules(out->shape);

    out->is_unique = message->unique;
    if (!out->is_unique)
        return STATUS_OK;
    if (!shape->may_be_unique)
        return codec_refuse_field(err, "index.unique",
            "index.unique is not for %s, which lists the entities that share a value", shape->name);
    if (!has_property(&out->partition_key) && !has_property(&out->row_key))
        return codec_refuse_field(err, "index.unique",
            "index.unique needs a property among the parts of the keys, whose value has one owner");
    return STATUS_OK;
}

static enum status filter_decode(
    const Tavola__V1__Index *message, struct arena *arena, struct index *out, struct error *err)
{
    out->filter_text = codec_str(message->filter);
    if (out->filter_text.len > LIMIT_INDEX_FILTER_BYTES)
        return codec_refuse_field(err, "index.filter", "index.filter has %zu bytes, allowed are %d",
            out->filter_text.len, LIMIT_INDEX_FILTER_BYTES);
    if (filter_compile(out->filter_text, arena, &out->filter, err) != STATUS_OK)
        return error_in_field(err, "index.filter");
    if (!out->filter) /* the filter has only spaces */
        out->filter_text = STR_EMPTY;
    return STATUS_OK;
}

static enum status entries_decode(
    const Tavola__V1__Index *message, struct arena *arena, struct index *out, struct error *err)
{
    TRY(index_consistency_decode(message, out, err));
    TRY(keys_decode(message, arena, out, err));
    TRY(unique_decode(message, out, err));
    TRY(projection_decode(message->projection, arena, out, err));
    return filter_decode(message, arena, out, err);
}

/* An index with copies is a COPY, unless it says otherwise, which is refused. */
static enum status shape_decode(
    const Tavola__V1__Index *message, struct arena *arena, enum index_shape *out, struct error *err)
{
    if (message->copies && message->shape == TAVOLA__V1__INDEX_SHAPE__INDEX_SHAPE_UNSPECIFIED) {
        *out = INDEX_COPY;
        return STATUS_OK;
    }
    if (!index_shape_is_known(message->shape))
        return codec_missing(err, "index.shape", index_shape_names(arena));
    *out = (enum index_shape)message->shape;
    return STATUS_OK;
}

static enum status name_check(struct str name, const char *field, struct error *err)
{
    return table_name_check(name, err) == STATUS_OK ? STATUS_OK : error_in_field(err, field);
}

enum status codec_index_decode(
    const Tavola__V1__Index *message, struct arena *arena, struct index *out, struct error *err)
{
    struct index index = { .place = PLACE_OTHER_PARTITION };

    if (!message)
        return codec_missing(err, "index", "the declaration");
    index.name = codec_str(message->name);
    index.source_name = codec_str(message->table);
    TRY(name_check(index.name, "index.name", err));
    TRY(name_check(index.source_name, "index.table", err));
    TRY(check_honoured(message, err));
    TRY(shape_decode(message, arena, &index.shape, err));
    if (message->on_violation == TAVOLA__V1__ON_VIOLATION__ON_VIOLATION_REJECT)
        index.on_violation = VIOLATION_REJECT;
    if (message->copies)
        TRY(codec_copies_decode(message, arena, &index, err));
    else
        TRY(entries_decode(message, arena, &index, err));
    index.definition = index_codec_encode(&index, arena);
    *out = index;
    return STATUS_OK;
}

enum status codec_index_update_decode(
    const Tavola__V1__UpdateIndexRequest *message, enum index_consistency *out, struct error *err)
{
    switch (message->consistency) {
    case TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG:
        *out = INDEX_STRONG;
        return STATUS_OK;
    case TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL:
        *out = INDEX_EVENTUAL;
        return STATUS_OK;
    default:
        return codec_refuse_field(err, "consistency", "consistency is %d, allowed are STRONG and EVENTUAL",
            (int)message->consistency);
    }
}

/* ---- replies ---- */

static Tavola__V1__KeyPart **part_messages(const struct key_parts *parts, struct arena *arena)
{
    Tavola__V1__KeyPart **out = ARENA_ARRAY(arena, Tavola__V1__KeyPart *, parts->count);

    for (size_t i = 0; i < parts->count; i++) {
        const struct key_part *part = &parts->parts[i];

        out[i] = ARENA_NEW(arena, Tavola__V1__KeyPart);
        tavola__v1__key_part__init(out[i]);
        out[i]->width = part->width;
        out[i]->inverted = part->inverted;
        out[i]->fold_case = part->fold_case;
        if (part->is_literal) {
            out[i]->source_case = TAVOLA__V1__KEY_PART__SOURCE_LITERAL;
            out[i]->literal = codec_bytes(part->text);
        } else {
            out[i]->source_case = TAVOLA__V1__KEY_PART__SOURCE_PROPERTY;
            out[i]->property = codec_bytes(part->text);
        }
    }
    return out;
}

static Tavola__V1__Projection *projection_message(const struct index *index, struct arena *arena)
{
    Tavola__V1__Projection *out;

    if (index->projection == PROJECT_ALL)
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__Projection);
    tavola__v1__projection__init(out);
    if (index->projection == PROJECT_KEYS_ONLY) {
        out->columns_case = TAVOLA__V1__PROJECTION__COLUMNS_KEYS_ONLY;
        out->keys_only = true;
        return out;
    }
    out->columns_case = TAVOLA__V1__PROJECTION__COLUMNS_SOME;
    out->some = ARENA_NEW(arena, Tavola__V1__PropertyNames);
    tavola__v1__property_names__init(out->some);
    out->some->n_names = index->name_count;
    out->some->names = ARENA_ARRAY(arena, ProtobufCBinaryData, index->name_count);
    for (size_t i = 0; i < index->name_count; i++)
        out->some->names[i] = codec_bytes(index->names[i]);
    return out;
}

Tavola__V1__Index *codec_index_message(struct str definition, struct arena *arena)
{
    Tavola__V1__Index *out;
    struct index index = { 0 };

    if (!index_codec_decode(definition, arena, &index))
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__Index);
    tavola__v1__index__init(out);
    out->name = codec_bytes(index.name);
    out->table = codec_bytes(index.source_name);
    out->shape = (Tavola__V1__IndexShape)index.shape;
    out->place = (Tavola__V1__IndexPlace)index.place;
    out->n_partition_key = index.partition_key.count;
    out->partition_key = part_messages(&index.partition_key, arena);
    out->n_row_key = index.row_key.count;
    out->row_key = part_messages(&index.row_key, arena);
    out->projection = projection_message(&index, arena);
    out->filter = codec_bytes(index.filter_text);
    out->on_violation = index.on_violation == VIOLATION_REJECT ? TAVOLA__V1__ON_VIOLATION__ON_VIOLATION_REJECT
                                                               : TAVOLA__V1__ON_VIOLATION__ON_VIOLATION_SKIP;
    out->unique = index.is_unique;
    out->copies = codec_copies_message(index.copies, arena);
    out->consistency = index_is_strong(&index) ? TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG
                                               : TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL;
    return out;
}

Tavola__V1__Lag *codec_index_lag_message(const struct lag *lag, struct arena *arena)
{
    Tavola__V1__Lag *out = ARENA_NEW(arena, Tavola__V1__Lag);

    tavola__v1__lag__init(out);
    out->age = codec_duration(lag->age_us, arena);
    out->open_intents = lag->open_intents > 0 ? lag->open_intents : 0;
    out->as_of = codec_timestamp(lag->as_of, arena);
    if (lag->per_second < 0)
        return out;
    out->applied_per_second = lag->per_second;
    out->time_to_fresh =
        codec_duration(queue_control_time_to_fresh_us(out->open_intents, lag->per_second), arena);
    return out;
}

static void causes_encode(struct str lines, struct arena *arena, Tavola__V1__IndexStatus *out)
{
    size_t max = 0;

    for (size_t i = 0; i < lines.len; i++)
        max += lines.data[i] == '\n';
    out->violation_causes = ARENA_ARRAY(arena, ProtobufCBinaryData, max + 1);
    while (lines.len > 0)
        out->violation_causes[out->n_violation_causes++] = codec_bytes(str_take(&lines, '\n'));
}

static Tavola__V1__IndexConsistency becoming_of(const struct index *index)
{
    return index->consistency == INDEX_BECOMING_STRONG
               ? TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_STRONG
               : TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_UNSPECIFIED;
}

Tavola__V1__IndexStatus *codec_index_status_message(const struct index_view *view, struct arena *arena)
{
    Tavola__V1__IndexStatus *out = ARENA_NEW(arena, Tavola__V1__IndexStatus);
    struct index index = { 0 };

    tavola__v1__index_status__init(out);
    out->state = (Tavola__V1__IndexState)view->state;
    out->lag = codec_index_lag_message(&view->lag, arena);
    out->entries = view->entries;
    out->violations = view->violations;
    out->keys_behind = view->keys_behind;
    out->discarded = view->discarded;
    causes_encode(view->causes, arena, out);
    if (view->build.operation_id.len > 0)
        out->build = codec_table_job_message(&view->build, arena);
    if (view->replacement.operation_id.len > 0)
        out->replacement = codec_table_job_message(&view->replacement, arena);
    if (view->verified.operation_id.len > 0)
        out->verified = codec_report_message(&view->verified, arena);
    if (!index_codec_decode(view->definition, arena, &index))
        return out;
    out->becoming = becoming_of(&index);
    if (index.copies)
        out->copies = codec_copies_status_message(&view->copies, arena);
    return out;
}

/* ---- look-ups ---- */

static enum status bound_decode(const Tavola__V1__Value *message, const char *field, struct arena *arena,
    struct value *out, struct error *err)
{
    if (codec_entity_value_decode(message, field, arena, out, err) != STATUS_OK)
        return error_in_field(err, field);
    return STATUS_OK;
}

enum status codec_index_range_decode(const Tavola__V1__ValueRange *message, const char *field,
    struct arena *arena, struct value_range *out, struct error *err)
{
    const char *at_least = arena_format(arena, "%s.at_least", field).data;
    const char *below = arena_format(arena, "%s.below", field).data;

    if (!message)
        return STATUS_OK;
    if (message->at_least) {
        out->has_at_least = true;
        TRY(bound_decode(message->at_least, at_least, arena, &out->at_least, err));
    }
    if (message->below) {
        out->has_below = true;
        TRY(bound_decode(message->below, below, arena, &out->below, err));
    }
    if (out->has_at_least && out->has_below && out->at_least.type != out->below.type)
        return codec_refuse_field(err, field, "%s is %s and %s is %s: both must have the same type", at_least,
            property_type_name(out->at_least.type), below, property_type_name(out->below.type));
    return STATUS_OK;
}

enum status codec_index_equals_decode(Tavola__V1__Value *const *equals, size_t count, struct arena *arena,
    struct operation_lookup *out, struct error *err)
{
    if (count > 2 * LIMIT_KEY_PARTS)
        return codec_refuse_field(err, "equals", "equals has %zu values, an index has at most %d parts",
            count, 2 * LIMIT_KEY_PARTS);
    out->equals = ARENA_ARRAY(arena, struct value, count);
    out->equal_count = count;
    for (size_t i = 0; i < count; i++)
        if (codec_entity_value_decode(equals[i], "equals", arena, &out->equals[i], err) != STATUS_OK)
            return error_in_element(err, "equals", i);
    return STATUS_OK;
}

enum status codec_index_lookup_decode(const Tavola__V1__LookupIndexRequest *request, struct arena *arena,
    struct operation_lookup *out, struct error *err)
{
    struct operation_lookup lookup = { .trust_index = request->trust_index,
        .read_sources = request->read_sources,
        .keys_only = request->keys_only,
        .descending = request->descending };
    struct selection selection;

    if (lookup.trust_index && lookup.read_sources)
        return codec_refuse_field(
            err, "read_sources", "read_sources and trust_index are both set, allowed is one of them");
    TRY(codec_index_equals_decode(request->equals, request->n_equals, arena, &lookup, err));
    TRY(codec_index_range_decode(request->range, "range", arena, &lookup.range, err));
    TRY(codec_read_names_decode(request->select, request->n_select, arena, &selection, err));
    lookup.select = selection.names;
    lookup.select_count = selection.count;
    *out = lookup;
    return STATUS_OK;
}

struct str codec_index_lookup_identity(const Tavola__V1__LookupIndexRequest *request, struct arena *arena)
{
    Tavola__V1__LookupIndexRequest identity = *request;
    struct buf out;

    identity.base.n_unknown_fields = 0;
    identity.index = identity.page_token = (ProtobufCBinaryData){ 0 };
    identity.freshness = NULL;
    identity.page_size = 0;
    buf_init(&out, arena);
    codec_pack(&out, 0, &identity.base);
    return buf_str(&out);
}
