/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_copies.c - see the header.
 */
#include "api/codec_copies.h"

#include <stdlib.h>

#include "base/wire.h"
#include "domain/catalogue/table_name.h"
#include "domain/copies/copy_declaration.h"
#include "domain/copies/copy_plan.h"
#include "domain/keys/entity_key.h"
#include "domain/limits.h"
#include "domain/properties/property_name.h"
#include "domain/reason.h"

/* ---- the rule ---- */

static enum status literal_decode(
    struct str text, const char *field, struct copy_name *out, struct error *err)
{
    struct entity_key ignored;

    *out = (struct copy_name){ .is_literal = true, .text = text };
    if (entity_key_parse(text, STR_EMPTY, &ignored, NULL) == STATUS_OK)
        return STATUS_OK;
    (void)reason_set(err, REASON_OUT_OF_RANGE_INPUT,
        "%s: the literal is not UTF-8, is too long, or holds a character that is not allowed in keys", field);
    return error_in_field(err, field);
}

static enum status property_decode(
    struct str name, const char *field, struct copy_name *out, struct error *err)
{
    *out = (struct copy_name){ .text = name };
    if (str_equal(name, STR_LITERAL("PartitionKey")) || str_equal(name, STR_LITERAL("RowKey")) ||
        property_name_check(name, err) == STATUS_OK)
        return STATUS_OK;
    return error_in_field(err, field);
}

static enum status key_decode(
    const Tavola__V1__CopyKey *message, const char *field, struct copy_name *out, struct error *err)
{
    switch (message ? message->source_case : TAVOLA__V1__COPY_KEY__SOURCE__NOT_SET) {
    case TAVOLA__V1__COPY_KEY__SOURCE_LITERAL:
        return literal_decode(codec_str(message->literal), field, out, err);
    case TAVOLA__V1__COPY_KEY__SOURCE_PROPERTY:
        return property_decode(codec_str(message->property), field, out, err);
    case TAVOLA__V1__COPY_KEY__SOURCE__NOT_SET:
    case _TAVOLA__V1__COPY_KEY__SOURCE__CASE_IS_INT_SIZE:
        break;
    }
    return codec_missing(err, field, "a literal or a property of the dependent");
}

#define PROPERTIES "index.copies.properties"

/* An entry of the map: {1: the dependent's property, 2: the source's}. */
static enum status pair_decode(struct str entry, struct copy_pair *out, struct error *err)
{
    out->to = wire_find_bytes(entry, 1);
    out->from = wire_find_bytes(entry, 2);
    if (property_name_check(out->to, err) != STATUS_OK || property_name_check(out->from, err) != STATUS_OK)
        return error_in_field(err, PROPERTIES);
    return STATUS_OK;
}

static int by_target(const void *a, const void *b)
{
    return str_compare(((const struct copy_pair *)a)->to, ((const struct copy_pair *)b)->to);
}

static enum status pairs_decode(
    const Tavola__V1__CopyRule *message, struct arena *arena, struct copy_rule *out, struct error *err)
{
    if (message->n_properties == 0 || message->n_properties > LIMIT_COPY_PROPERTIES)
        return codec_refuse_field(err, PROPERTIES, PROPERTIES " has %zu properties, allowed are 1 to %d",
            message->n_properties, LIMIT_COPY_PROPERTIES);
    out->pairs = ARENA_ARRAY(arena, struct copy_pair, message->n_properties);
    out->pair_count = message->n_properties;
    for (size_t i = 0; i < message->n_properties; i++)
        TRY(pair_decode(codec_str(message->properties[i]), &out->pairs[i], err));
    qsort(out->pairs, out->pair_count, sizeof(*out->pairs), by_target);
    for (size_t i = 1; i < out->pair_count; i++)
        if (str_equal(out->pairs[i - 1].to, out->pairs[i].to))
            return codec_refuse_field(
                err, PROPERTIES, PROPERTIES " names %.*s twice", STR_ARG(out->pairs[i].to));
    return STATUS_OK;
}

static enum status rule_decode(
    const Tavola__V1__CopyRule *message, struct arena *arena, struct copy_rule *out, struct error *err)
{
    out->source_name = codec_str(message->source_table);
    if (table_name_check(out->source_name, err) != STATUS_OK)
        return error_in_field(err, "index.copies.source_table");
    TRY(key_decode(
        message->source_partition_key, "index.copies.source_partition_key", &out->partition_key, err));
    TRY(key_decode(message->source_row_key, "index.copies.source_row_key", &out->row_key, err));
    TRY(pairs_decode(message, arena, out, err));
    out->keep = message->keep;
    out->version_property = codec_str(message->version_property);
    if (out->version_property.len > 0 && property_name_check(out->version_property, err) != STATUS_OK)
        return error_in_field(err, "index.copies.version_property");
    return copy_declaration_check(out, err);
}

/* ---- the index that finds the dependents ---- */

static bool is_part(const Tavola__V1__KeyPart *message, struct str name)
{
    return message->source_case == TAVOLA__V1__KEY_PART__SOURCE_PROPERTY && message->width == 0 &&
           !message->inverted && !message->fold_case && str_equal(codec_str(message->property), name);
}

static enum status partition_key_decode(
    const Tavola__V1__Index *message, struct arena *arena, struct index *out, struct error *err)
{
    const struct copy_naming_properties naming = copy_plan_naming(out->copies);
    bool is_same = message->n_partition_key == naming.count;

    out->partition_key.parts = ARENA_ARRAY(arena, struct key_part, naming.count);
    out->partition_key.count = naming.count;
    for (size_t i = 0; i < naming.count; i++) {
        out->partition_key.parts[i] = (struct key_part){ .text = naming.names[i] };
        is_same = is_same && is_part(message->partition_key[i], naming.names[i]);
    }
    if (message->n_partition_key == 0 || is_same)
        return STATUS_OK;
    return codec_refuse_field(err, "index.partition_key",
        "index.partition_key of an index with copies is the properties that name the source, in the order of "
        "the source's keys: leave it out, and they are filled in");
}

/* What an index without copies may declare. */
static enum status refuse_others(
    const Tavola__V1__Index *message, const struct index *index, struct error *err)
{
    const Tavola__V1__Projection *projection = message->projection;
    const struct {
        bool is_there;
        const char *field, *allowed;
    } others[] = {
        { index->shape != INDEX_COPY, "index.shape", "COPY" },
        { message->place == TAVOLA__V1__INDEX_PLACE__INDEX_PLACE_SAME_PARTITION, "index.place",
            "OTHER_PARTITION" },
        { message->consistency == TAVOLA__V1__INDEX_CONSISTENCY__INDEX_CONSISTENCY_EVENTUAL,
            "index.consistency", "STRONG" },
        { message->n_row_key > 0, "index.row_key", "none" },
        { message->unique, "index.unique", "false" },
        { message->filter.len > 0, "index.filter", "none" },
        { projection && projection->columns_case == TAVOLA__V1__PROJECTION__COLUMNS_SOME, "index.projection",
            "keys_only" },
    };

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (others[i].is_there)
            return codec_refuse_field(err, others[i].field, "%s of an index with copies: allowed is %s",
                others[i].field, others[i].allowed);
    return STATUS_OK;
}

enum status codec_copies_decode(
    const Tavola__V1__Index *message, struct arena *arena, struct index *out, struct error *err)
{
    struct copy_rule *rule = ARENA_NEW(arena, struct copy_rule);

    TRY(rule_decode(message->copies, arena, rule, err));
    TRY(refuse_others(message, out, err));
    out->copies = rule;
    out->place = PLACE_OTHER_PARTITION;
    out->consistency = INDEX_STRONG;
    out->projection = PROJECT_KEYS_ONLY;
    return partition_key_decode(message, arena, out, err);
}

/* ---- replies ---- */

static Tavola__V1__CopyKey *key_message(const struct copy_name *name, struct arena *arena)
{
    Tavola__V1__CopyKey *out = ARENA_NEW(arena, Tavola__V1__CopyKey);

    tavola__v1__copy_key__init(out);
    if (name->is_literal) {
        out->source_case = TAVOLA__V1__COPY_KEY__SOURCE_LITERAL;
        out->literal = codec_bytes(name->text);
    } else {
        out->source_case = TAVOLA__V1__COPY_KEY__SOURCE_PROPERTY;
        out->property = codec_bytes(name->text);
    }
    return out;
}

static ProtobufCBinaryData pair_bytes(const struct copy_pair *pair, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    wire_write_bytes(&out, 1, pair->to);
    wire_write_bytes(&out, 2, pair->from);
    return codec_bytes(buf_str(&out));
}

Tavola__V1__CopyRule *codec_copies_message(const struct copy_rule *rule, struct arena *arena)
{
    Tavola__V1__CopyRule *out;

    if (!rule)
        return NULL;
    out = ARENA_NEW(arena, Tavola__V1__CopyRule);
    tavola__v1__copy_rule__init(out);
    out->source_table = codec_bytes(rule->source_name);
    out->source_partition_key = key_message(&rule->partition_key, arena);
    out->source_row_key = key_message(&rule->row_key, arena);
    out->properties = ARENA_ARRAY(arena, ProtobufCBinaryData, rule->pair_count);
    out->n_properties = rule->pair_count;
    for (size_t i = 0; i < rule->pair_count; i++)
        out->properties[i] = pair_bytes(&rule->pairs[i], arena);
    out->keep = rule->keep;
    out->version_property = codec_bytes(rule->version_property);
    return out;
}

Tavola__V1__CopyStatus *codec_copies_status_message(const struct copies_view *view, struct arena *arena)
{
    Tavola__V1__CopyStatus *out = ARENA_NEW(arena, Tavola__V1__CopyStatus);

    tavola__v1__copy_status__init(out);
    out->waiting_sources = view->waiting_sources;
    out->waiting_dependents = view->waiting_dependents;
    out->visited = view->visited;
    out->refused = view->refused;
    return out;
}
