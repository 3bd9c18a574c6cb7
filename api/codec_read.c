/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_read.c - see the header.
 */
#include "api/codec_read.h"

#include <stdio.h>
#include <string.h>

#include "api/codec_error.h"
#include "api/codec_transaction.h"
#include "base/wire.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/properties/property_name.h"
#include "domain/reason.h"

enum {
    ROOM_FOR_REST = LIMIT_TOKEN_BYTES + 512, /* room for token, lag and statistics beside the entities */
    MAX_SELECTED = LIMIT_PROPERTIES + 3,     /* properties, both keys and the timestamp */
    BATCH_GET_RESULTS = 1,
    BATCH_GET_ENTITY = 1,
    BATCH_GET_ERROR = 2,
};

/* Whether the name is a valid property name, or the name of a field that every entity has. */
static bool can_be_selected(struct str name)
{
    static const char *const always[] = { "PartitionKey", "RowKey", "Timestamp" };
    struct error ignored;

    for (size_t i = 0; i < ARRAY_LEN(always); i++)
        if (str_equal(name, str_of(always[i])))
            return true;
    return property_name_check(name, &ignored) == STATUS_OK;
}

/* A set of names in ascending order of their bytes, to find duplicates by binary search. */
struct name_set {
    struct str names[MAX_SELECTED];
    size_t count;
};

/* The index of the name in the sorted set, or the index at which to insert it. *found: whether the set has it. */
static size_t find_name(const struct name_set *set, struct str name, bool *found)
{
    size_t low = 0, high = set->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (str_compare(set->names[middle], name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < set->count && str_equal(set->names[low], name);
    return low;
}

static enum status select_name(
    struct name_set *set, struct str name, size_t number, struct selection *out, struct error *err)
{
    bool found;
    size_t at = find_name(set, name, &found);

    if (found)
        return STATUS_OK;
    if (!can_be_selected(name)) {
        (void)reason_set(err, REASON_INVALID_INPUT, "select[%zu] is not a valid property name", number);
        return error_in_element(err, "select", number);
    }
    if (set->count == MAX_SELECTED) {
        (void)reason_set(err, REASON_INVALID_INPUT,
            "select names more than %d properties, the most that an entity has with its keys and its "
            "timestamp",
            MAX_SELECTED);
        return error_in_element(err, "select", number);
    }
    memmove(&set->names[at + 1], &set->names[at], (set->count - at) * sizeof(set->names[0]));
    set->names[at] = name;
    set->count++;
    out->names[out->count++] = name;
    return STATUS_OK;
}

enum status codec_read_names_decode(const ProtobufCBinaryData *names, size_t count, struct arena *arena,
    struct selection *out, struct error *err)
{
    struct selection selection = { 0 };
    struct name_set *set;

    *out = selection;
    if (count == 0)
        return STATUS_OK;
    set = ARENA_NEW(arena, struct name_set);
    selection.names = ARENA_ARRAY(arena, struct str, MAX_SELECTED);
    for (size_t i = 0; i < count; i++)
        TRY(select_name(set, codec_str(names[i]), i, &selection, err));
    *out = selection;
    return STATUS_OK;
}

enum status codec_read_selection_decode(
    const Tavola__V1__ReadOptions *options, struct arena *arena, struct selection *out, struct error *err)
{
    *out = (struct selection){ 0 };
    if (!options || codec_read_names_decode(options->select, options->n_select, arena, out, err) == STATUS_OK)
        return STATUS_OK;
    return error_in_field(err, "options");
}

enum status codec_read_wait_decode(const Tavola__V1__ReadOptions *options, struct str *out, struct error *err)
{
    if (!options || options->wait_for_transaction.len == 0)
        return STATUS_OK;
    *out = codec_str(options->wait_for_transaction);
    return codec_transaction_id_check(*out, err);
}

enum status codec_read_page_size(int32_t page_size, int32_t *out, struct error *err)
{
    if (page_size < 0) {
        (void)reason_set(err, REASON_INVALID_INPUT,
            "page_size is negative; allowed are 0, which means %d, and more", LIMIT_PAGE_ROWS);
        return error_in_field(err, "page_size");
    }
    *out = page_size == 0 || page_size > LIMIT_PAGE_ROWS ? LIMIT_PAGE_ROWS : page_size;
    return STATUS_OK;
}

enum status codec_read_query_decode(
    const Tavola__V1__Query *query, struct arena *arena, struct operation *out, struct error *err)
{
    struct operation_page *page = &out->in.page;

    if (!query)
        return codec_missing(err, "query", "which entities are wanted");
    if ((uint32_t)query->max_plan > ACCESS_TABLE_SCAN) {
        (void)reason_set(err, REASON_INVALID_INPUT, "query.max_plan is not an access path");
        return error_in_field(err, "query.max_plan");
    }
    out->table = codec_str(query->table);
    if (table_name_check(out->table, err) != STATUS_OK)
        return error_in_field(err, "query.table");
    if (filter_compile(codec_str(query->filter), arena, &page->filter, err) != STATUS_OK)
        return error_in_field(err, "query.filter");
    filter_key_plan(page->filter, arena, &page->plan);
    page->descending = query->descending;
    page->max_plan = (enum access_path)query->max_plan;
    return STATUS_OK;
}

struct str codec_read_query_identity(
    const Tavola__V1__Query *query, const struct selection *selection, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    wire_write_bytes(&out, 2, codec_str(query->filter));
    wire_write_scalar(&out, 3, query->descending ? 1 : 0);
    for (size_t i = 0; i < selection->count; i++)
        wire_write_bytes(&out, 1, selection->names[i]);
    return buf_str(&out);
}

enum status codec_read_keys_decode(Tavola__V1__EntityKey *const *keys, size_t count, struct arena *arena,
    struct operation_get *out, struct error *err)
{
    struct entity_key *parsed;

    if (count == 0)
        return codec_missing(err, "keys", "1 to 1,000 keys");
    if (count > LIMIT_BATCH_GET_KEYS) {
        (void)reason_set(
            err, REASON_INVALID_INPUT, "keys has %zu entries, allowed are %d", count, LIMIT_BATCH_GET_KEYS);
        error_add_meta_int(err, "limit", LIMIT_BATCH_GET_KEYS);
        error_add_meta_int(err, "actual", (int64_t)count);
        return STATUS_INVALID;
    }
    parsed = ARENA_ARRAY(arena, struct entity_key, count);
    for (size_t i = 0; i < count; i++) {
        char field[32];

        snprintf(field, sizeof(field), "keys[%zu]", i);
        if (codec_entity_key_decode(keys[i], field, &parsed[i], err) != STATUS_OK) {
            error_add_meta_int(err, "operation_index", (int64_t)i);
            return err->status;
        }
    }
    *out = (struct operation_get){ .keys = parsed, .count = count, .enough_bytes = LIMIT_REPLY_BYTES };
    return STATUS_OK;
}

struct entity codec_read_select(
    const struct entity *entity, const struct selection *selection, struct arena *arena)
{
    struct entity out = *entity;

    if (selection->count > 0)
        out.properties = property_list_select(out.properties, selection->names, selection->count, arena);
    return out;
}

/* Whether a reply of this size may grow by this many bytes. */
static bool has_room(const struct buf *reply, size_t more)
{
    return reply->len + more + ROOM_FOR_REST <= LIMIT_REPLY_BYTES;
}

static void forget_entities(struct entity_sink *sink)
{
    struct entity_writer *writer = CONTAINER_OF(sink, struct entity_writer, sink);

    writer->out->len = writer->begin;
    writer->written = (struct written){ 0 };
    if (writer->rest)
        writer->rest->len = 0;
}

/* Leave the first part of a large entity, and keep the rest. */
static void cut_entity(struct entity_writer *writer, struct entity *entity)
{
    struct property_list head = property_list_head(entity->properties, ENTITY_PART_BYTES);

    writer->large = *entity;
    writer->large.key.partition = arena_copy(writer->arena, entity->key.partition);
    writer->large.key.row = arena_copy(writer->arena, entity->key.row);
    buf_append(writer->rest, str_from(entity->properties.bytes, head.bytes.len));
    writer->large.properties.bytes = buf_str(writer->rest);
    entity->properties = head;
}

static bool add_entity(struct entity_sink *sink, const struct entity *entity)
{
    struct entity_writer *writer = CONTAINER_OF(sink, struct entity_writer, sink);
    struct entity selected = codec_read_select(entity, &writer->selection, writer->arena);

    bool is_large = writer->rest && selected.properties.bytes.len > LIMIT_REPLY_BYTES;

    if (writer->written.count > 0 && (is_large || (writer->rest && writer->rest->len > 0) ||
                                         !has_room(writer->out, codec_entity_bytes(&selected))))
        return false;
    writer->written.property_bytes += (int64_t)selected.properties.bytes.len;
    if (is_large)
        cut_entity(writer, &selected);
    codec_entity_write(writer->out, writer->field, &selected);
    writer->written.count++;
    return true;
}

void entity_writer_init(struct entity_writer *writer, struct buf *out, uint32_t field,
    const struct selection *selection, struct arena *arena)
{
    *writer = (struct entity_writer){
        .sink = { forget_entities, add_entity },
        .out = out,
        .begin = out->len,
        .field = field,
        .selection = *selection,
        .arena = arena,
    };
}

struct written codec_read_entities_write(struct buf *out, uint32_t field, const struct entity *entities,
    size_t count, const struct selection *selection, struct arena *arena)
{
    struct entity_writer writer;

    entity_writer_init(&writer, out, field, selection, arena);
    for (size_t i = 0; i < count && add_entity(&writer.sink, &entities[i]); i++)
        continue;
    return writer.written;
}

struct written codec_read_keys_write(
    struct buf *out, uint32_t field, const struct entity *entities, size_t count)
{
    struct written written = { 0 };

    for (size_t i = 0; i < count && has_room(out, codec_entity_key_bytes(&entities[i].key) + 8); i++) {
        codec_entity_key_write(out, field, &entities[i].key);
        written.count++;
    }
    return written;
}

static void write_absent(struct buf *out, const struct entity_key *key, struct arena *arena)
{
    struct error *err = ARENA_NEW(arena, struct error);
    struct buf result;

    (void)reason_set(err, REASON_RESOURCE_NOT_FOUND, "the entity does not exist");
    error_add_meta(err, "partition_key", key->partition);
    error_add_meta(err, "row_key", key->row);
    buf_init(&result, arena);
    codec_pack(&result, BATCH_GET_ERROR, &codec_error_message(err, arena)->base);
    wire_write_bytes(out, BATCH_GET_RESULTS, buf_str(&result));
}

void codec_read_batch_get_write(struct buf *out, const struct operation *operation,
    const struct selection *selection, struct arena *arena)
{
    const struct operation_get *in = &operation->in.get;
    enum { MAX_ERROR_BYTES = 1024 };

    for (size_t i = 0; i < operation->out.get.count; i++) {
        struct entity entity;
        size_t bytes;

        if (!operation->out.get.found[i]) {
            if (!has_room(out, MAX_ERROR_BYTES))
                return;
            write_absent(out, &in->keys[i], arena);
            continue;
        }
        entity = codec_read_select(&operation->out.get.entities[i], selection, arena);
        bytes = codec_entity_bytes(&entity);
        if (i > 0 && !has_room(out, bytes))
            return;
        wire_write_tag(out, BATCH_GET_RESULTS, WIRE_BYTES);
        wire_write_varint(out, bytes);
        codec_entity_write(out, BATCH_GET_ENTITY, &entity);
    }
}

void codec_read_stats_write(struct buf *out, uint32_t field, const struct query_stats *stats,
    struct str index, const struct written *written)
{
    Tavola__V1__QueryStats message = TAVOLA__V1__QUERY_STATS__INIT;

    message.access_path = (Tavola__V1__AccessPath)stats->access_path;
    message.index = codec_bytes(index);
    message.rows_examined = stats->rows_examined;
    message.bytes_examined = stats->bytes_examined;
    message.rows_returned = (int64_t)written->count;
    message.bytes_returned = written->property_bytes;
    codec_pack(out, field, &message.base);
}
