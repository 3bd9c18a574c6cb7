/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_plan.c - from a source entity to its entry: key parts, then the chosen records.
 *
 * It runs for each write and index, so it copies bytes and decodes only the properties that are key
 * parts.
 */
#include "domain/indexes/index_plan.h"

#include <assert.h>

#include "base/wire.h"
#include "domain/digest.h"
#include "domain/entities/entity_value.h"
#include "domain/entities/row_state.h"
#include "domain/filter/filter.h"
#include "domain/indexes/index_shape.h"
#include "domain/properties/property_name.h"
#include "domain/text.h"

enum { MANIFEST_VERSION = 1, RECORD_OVERHEAD = 64 };

/* An odd number that spreads versions over all bits of a digest's seed. */
static const uint64_t SPREAD = UINT64_C(0x9E3779B97F4A7C15);

static const struct key_part source_keys[] = {
    { .text = { "PartitionKey", 12 } },
    { .text = { "RowKey", 6 } },
};

struct source {
    const struct entity_key *key;
    int64_t timestamp;
    struct property_list properties;
};

/* ---- keys ---- */

/*
 * Whether the declaration has the key in its original form. A folded key does not count, since
 * several entities can have it.
 */
static bool declares(const struct key_parts *parts, struct str name)
{
    for (size_t i = 0; i < parts->count; i++) {
        const struct key_part *part = &parts->parts[i];

        if (!part->is_literal && !part->fold_case && str_equal(part->text, name))
            return true;
    }
    return false;
}

/*
 * Whether to append the source's key: always if the declaration has no row key, otherwise if it
 * does not contain that key.
 */
static bool must_append(const struct index *index, struct str name)
{
    if (index->row_key.count == 0 || index_shape_rules(index->shape)->repeats_source_keys)
        return true;
    return !declares(&index->partition_key, name) && !declares(&index->row_key, name);
}

struct index_row_parts index_row_parts(const struct index *index)
{
    struct index_row_parts row = { .declared = index->row_key.count };

    assert(index->row_key.count <= LIMIT_KEY_PARTS && "the declaration was checked");
    for (size_t i = 0; i < index->row_key.count; i++)
        row.parts[row.count++] = &index->row_key.parts[i];
    for (size_t i = 0; i < ARRAY_LEN(source_keys); i++) {
        if (must_append(index, source_keys[i].text))
            row.parts[row.count++] = &source_keys[i];
    }
    return row;
}

int64_t index_plan_home_table(const struct index *index)
{
    return index->place == PLACE_SAME_PARTITION ? index->source_table_id : index->index_id;
}

int16_t index_plan_bucket(const struct table *table, struct str partition)
{
    int64_t home = table->entries_of ? index_plan_home_table(table->entries_of) : table->table_id;

    return entity_key_bucket(home, partition);
}

static bool find_value(const struct source *source, struct str name, struct value *out)
{
    return entity_value_find(source->key, source->timestamp, source->properties, name, out);
}

/*
 * Violations are grouped by the text before the first ':' of their cause, so the details come after
 * it.
 */
static void explain_part(
    const struct key_part *part, const struct value *value, struct arena *arena, const char **why)
{
    if (why)
        *why = arena_format(arena, "a property cannot be part of the entry's key: %.*s %s",
            STR_ARG(part->text), key_part_objection(part, value, arena))
                   .data;
}

static void explain_length(
    const char *which, struct str key, struct str properties, struct arena *arena, const char **why)
{
    if (why)
        *why = arena_format(arena,
            "the entry's %s would be longer than a key may be: %.*s make %zu bytes, allowed are %d bytes "
            "and %d UTF-16 code units",
            which, STR_ARG(properties), key.len, (int)LIMIT_KEY_BYTES, (int)LIMIT_KEY_UNITS)
                   .data;
}

/* Append a part that is a property and the type of its value: "Name (String), Age (Int32)". */
static void append_property(const struct source *source, const struct key_part *part, struct buf *out)
{
    struct value value;

    if (!part->is_literal && find_value(source, part->text, &value))
        buf_format(out, "%s%.*s (%s)", out->len > 0 ? ", " : "", STR_ARG(part->text),
            property_type_short_name(value.type));
}

static enum projection_result append_part(const struct source *source, const struct key_part *part, bool last,
    struct arena *arena, struct buf *out, const char **why)
{
    struct value value = { .type = PROPERTY_NULL };

    if (!part->is_literal && !find_value(source, part->text, &value))
        return PROJECTED_NOTHING;
    if (key_part_encode(part, &value, last, out))
        return PROJECTED;
    explain_part(part, &value, arena, why);
    return PROJECTED_VIOLATION;
}

static bool key_fits(struct str key)
{
    size_t units;

    if (key.len <= LIMIT_KEY_UNITS)
        return true;
    return key.len <= LIMIT_KEY_BYTES && text_check(key, &units, NULL) && units <= LIMIT_KEY_UNITS;
}

static enum projection_result project_partition(const struct index *index, const struct source *source,
    struct arena *arena, struct str *out, const char **why)
{
    struct buf key, properties;

    if (index->place == PLACE_SAME_PARTITION) {
        *out = arena_copy(arena, source->key->partition);
        return PROJECTED;
    }
    buf_init(&key, arena);
    for (size_t i = 0; i < index->partition_key.count; i++) {
        enum projection_result result = append_part(
            source, &index->partition_key.parts[i], i + 1 == index->partition_key.count, arena, &key, why);

        if (result != PROJECTED)
            return result;
    }
    *out = buf_str(&key);
    if (key_fits(*out))
        return PROJECTED;
    buf_init(&properties, arena);
    for (size_t i = 0; why && i < index->partition_key.count; i++)
        append_property(source, &index->partition_key.parts[i], &properties);
    explain_length("PartitionKey", *out, buf_str(&properties), arena, why);
    return PROJECTED_VIOLATION;
}

static enum projection_result project_row(const struct index *index, const struct source *source,
    struct arena *arena, struct str *out, const char **why)
{
    struct index_row_parts row = index_row_parts(index);
    struct buf key, properties;

    buf_init(&key, arena);
    for (size_t i = 0; i < row.count; i++) {
        enum projection_result result =
            append_part(source, row.parts[i], i + 1 == row.count, arena, &key, why);

        if (result != PROJECTED)
            return result;
    }
    *out = buf_str(&key);
    if (key_fits(*out))
        return PROJECTED;
    buf_init(&properties, arena);
    for (size_t i = 0; why && i < row.count; i++)
        append_property(source, row.parts[i], &properties);
    explain_length("RowKey", *out, buf_str(&properties), arena, why);
    return PROJECTED_VIOLATION;
}

/* ---- properties ---- */

static struct str projected_records(
    const struct index *index, struct property_list properties, struct arena *arena)
{
    return index_shape_rules(index->shape)->select_records(index, properties, arena);
}

/* '$' sorts before every character a name can begin with, so the two keys come first. */
static struct property_list project_properties(
    const struct index *index, const struct source *source, struct arena *arena)
{
    struct str records = projected_records(index, source->properties, arena);
    struct value partition = { .type = PROPERTY_STRING, .bytes = source->key->partition };
    struct value row = { .type = PROPERTY_STRING, .bytes = source->key->row };
    struct buf out;
    struct property_builder builder = { .out = &out, .last_name = STR_EMPTY };

    buf_init(&out, arena);
    buf_reserve(&out, records.len + partition.bytes.len + row.bytes.len + 2 * RECORD_OVERHEAD);
    property_build(&builder, PROPERTY_SOURCE_PARTITION, &partition);
    property_build(&builder, PROPERTY_SOURCE_ROW, &row);
    buf_append(&out, records);
    return (struct property_list){ .bytes = buf_str(&out) };
}

uint64_t index_plan_digest(const struct index *index, struct str properties, int64_t version, int64_t expires)
{
    uint64_t kept = index->keeps_versions ? (uint64_t)version * SPREAD : 0;

    return digest_of((uint64_t)expires ^ kept, properties);
}

void index_plan_set_digest(
    const struct index *index, const struct row_state *source, struct index_entry *entry)
{
    if (index->keeps_versions || source->expires != 0)
        entry->digest = index_plan_digest(index, entry->properties.bytes, source->version, source->expires);
}

bool index_plan_may_keep_versions(const struct index *index)
{
    return index->shape == INDEX_COPY && index->projection == PROJECT_ALL;
}

static bool filter_lets_through(const struct index *index, const struct source *source)
{
    const struct entity entity = {
        .key = *source->key, .timestamp = source->timestamp, .properties = source->properties
    };

    return filter_matches(index->filter, &entity);
}

/* An entry is one row, also that of a wide entity. */
static enum projection_result check_records(
    const struct index *index, const struct source *source, struct arena *arena, const char **why)
{
    struct str records;

    if (source->properties.bytes.len <= LIMIT_ENTRY_BYTES)
        return PROJECTED;
    records = projected_records(index, source->properties, arena);
    if (records.len <= LIMIT_ENTRY_BYTES)
        return PROJECTED;
    if (why)
        *why = arena_format(arena,
            "the properties of the entry are too large: they have %zu bytes, allowed are %d", records.len,
            LIMIT_ENTRY_BYTES)
                   .data;
    return PROJECTED_VIOLATION;
}

/* Whether there is an entry is decided by its key, unless its properties are too large. */
static enum projection_result project_key(const struct index *index, const struct source *source,
    struct arena *arena, struct entity_key *out, const char **why)
{
    enum projection_result result;

    if (index->filter && !filter_lets_through(index, source))
        return PROJECTED_NOTHING;
    result = project_partition(index, source, arena, &out->partition, why);
    if (result == PROJECTED)
        result = project_row(index, source, arena, &out->row, why);
    return result == PROJECTED ? check_records(index, source, arena, why) : result;
}

enum projection_result index_plan_project(const struct index *index, const struct entity *entity,
    struct arena *arena, struct index_entry *out, const char **why)
{
    struct source source = {
        .key = &entity->key, .timestamp = entity->timestamp, .properties = entity->properties
    };
    struct index_entry entry = { .index_id = index->index_id };
    enum projection_result result = project_key(index, &source, arena, &entry.key, why);

    if (result != PROJECTED)
        return result;
    entry.bucket = entity_key_bucket(index_plan_home_table(index), entry.key.partition);
    entry.properties = project_properties(index, &source, arena);
    entry.digest = digest_of(0, entry.properties.bytes);
    *out = entry;
    return PROJECTED;
}

enum projection_result index_plan_project_state(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, struct index_entry *out)
{
    const struct entity entity = { .key = *key, .timestamp = state->ts, .properties = state->properties };
    enum projection_result result =
        state->live ? index_plan_project(index, &entity, arena, out, NULL) : PROJECTED_NOTHING;

    if (result == PROJECTED)
        index_plan_set_digest(index, state, out);
    return result;
}

/* ---- whether a write changes an entry ---- */

enum projection_result index_plan_key(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, struct entity_key *out)
{
    struct source source = { .key = key, .timestamp = state->ts, .properties = state->properties };

    return state->live ? project_key(index, &source, arena, out, NULL) : PROJECTED_NOTHING;
}

bool index_plan_violates(const struct index *index, const struct entity_key *key,
    const struct row_state *state, struct arena *arena, const char **why)
{
    struct source source = { .key = key, .timestamp = state->ts, .properties = state->properties };
    struct entity_key ignored;

    return state->live && project_key(index, &source, arena, &ignored, why) == PROJECTED_VIOLATION;
}

/* If neither the source nor the entry's key changes, only the records and the expiry can change. */
struct index_change index_plan_change(const struct index *index, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after, struct arena *arena)
{
    struct index_change change = { .was = index_plan_key(index, key, before, arena, &change.old) };

    change.is = index_plan_key(index, key, after, arena, &change.new);
    change.moves = change.was == PROJECTED && change.is == PROJECTED &&
                   entity_key_compare(&change.old, &change.new) != 0;
    change.changes =
        change.was != change.is || change.moves ||
        (change.is == PROJECTED && (before->expires != after->expires ||
                                       (index->keeps_versions && before->version != after->version) ||
                                       !str_equal(projected_records(index, before->properties, arena),
                                           projected_records(index, after->properties, arena))));
    return change;
}

bool index_plan_affects(const struct index *index, const struct entity_key *key,
    const struct row_state *before, const struct row_state *after, struct arena *arena)
{
    struct index_change change = index_plan_change(index, key, before, after, arena);
    bool is_violated = change.was == PROJECTED_VIOLATION || change.is == PROJECTED_VIOLATION;

    return is_violated || (change.changes && !index_comes_with_write(index));
}

/*
 * ---- manifests: a version byte, then per entry varint id, two counted keys and eight bytes of
 * digest ----
 */

static void write_counted(struct buf *out, struct str text)
{
    wire_write_varint(out, text.len);
    buf_append(out, text);
}

static void write_digest(struct buf *out, uint64_t digest)
{
    char *bytes = buf_extend(out, 8);

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(uint8_t)(digest >> (8 * i));
}

struct str manifest_encode(const struct manifest *manifest, struct arena *arena)
{
    struct buf out;

    if (manifest->count == 0)
        return STR_EMPTY;
    buf_init(&out, arena);
    buf_append_byte(&out, MANIFEST_VERSION);
    for (size_t i = 0; i < manifest->count; i++) {
        const struct manifest_item *item = &manifest->items[i];

        wire_write_varint(&out, (uint64_t)item->index_id);
        write_counted(&out, item->key.partition);
        write_counted(&out, item->key.row);
        write_digest(&out, item->digest);
    }
    return buf_str(&out);
}

static bool read_counted(struct str *input, struct str *out)
{
    uint64_t len;

    if (!wire_read_varint(input, &len) || len > LIMIT_KEY_BYTES || len > input->len)
        return false;
    *out = str_of_bytes(input->data, (size_t)len);
    *input = str_from(*input, (size_t)len);
    return true;
}

static bool read_item(struct str *input, struct manifest_item *out)
{
    uint64_t index_id;

    if (!wire_read_varint(input, &index_id) || index_id > INT64_MAX)
        return false;
    if (!read_counted(input, &out->key.partition) || !read_counted(input, &out->key.row))
        return false;
    if (input->len < 8)
        return false;
    out->index_id = (int64_t)index_id;
    out->ctid = (struct row_ctid){ { 0 } };
    out->digest = 0;
    for (int i = 0; i < 8; i++)
        out->digest |= (uint64_t)(uint8_t)input->data[i] << (8 * i);
    *input = str_from(*input, 8);
    return true;
}

bool manifest_decode(struct str bytes, struct arena *arena, struct manifest *out)
{
    struct manifest manifest = { 0 };
    struct manifest_item item;
    struct str rest;

    if (bytes.len == 0) {
        *out = manifest;
        return true;
    }
    rest = str_from(bytes, 1);
    if (bytes.data[0] != MANIFEST_VERSION || rest.len == 0)
        return false;
    while (rest.len > 0) {
        if (!read_item(&rest, &item))
            return false;
        manifest.count++;
    }
    manifest.items = ARENA_ARRAY(arena, struct manifest_item, manifest.count);
    rest = str_from(bytes, 1);
    for (size_t i = 0; i < manifest.count; i++) {
        bool whole = read_item(&rest, &manifest.items[i]);

        assert(whole && "it was read a moment ago");
        (void)whole;
    }
    *out = manifest;
    return true;
}

struct manifest_item *manifest_find(
    const struct manifest *manifest, int64_t index_id, const struct entity_key *key)
{
    for (size_t i = 0; i < manifest->count; i++) {
        struct manifest_item *item = &manifest->items[i];

        if (item->index_id == index_id && entity_key_compare(&item->key, key) == 0)
            return item;
    }
    return NULL;
}

struct str manifest_ctids_encode(const struct manifest *manifest, struct arena *arena)
{
    bool is_any_known = false;
    struct buf out;

    buf_init(&out, arena);
    for (size_t i = 0; i < manifest->count; i++) {
        is_any_known = is_any_known || row_ctid_is_known(&manifest->items[i].ctid);
        buf_append(&out, row_ctid_bytes(&manifest->items[i].ctid));
    }
    return is_any_known ? buf_str(&out) : STR_EMPTY;
}

void manifest_ctids_decode(struct str bytes, struct manifest *manifest)
{
    bool are_known = bytes.len == manifest->count * ROW_CTID_BYTES;

    for (size_t i = 0; i < manifest->count; i++)
        manifest->items[i].ctid =
            are_known ? row_ctid_of(str_of_bytes(bytes.data + i * ROW_CTID_BYTES, ROW_CTID_BYTES))
                      : (struct row_ctid){ { 0 } };
}

/* ---- the source of an entry ---- */

bool index_entry_source(struct property_list properties, struct entity_key *out)
{
    return index_entry_take_source(&properties, out);
}

bool index_entry_take_source(struct property_list *properties, struct entity_key *out)
{
    struct property partition, row;

    if (!property_seek(&properties->bytes, PROPERTY_SOURCE_PARTITION, &partition) ||
        !property_seek(&properties->bytes, PROPERTY_SOURCE_ROW, &row))
        return false;
    if (partition.value.type != PROPERTY_STRING || row.value.type != PROPERTY_STRING)
        return false;
    *out = (struct entity_key){ .partition = partition.value.bytes, .row = row.value.bytes };
    return true;
}
