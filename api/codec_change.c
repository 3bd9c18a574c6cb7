/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_change.c - see the header.
 */
#include "api/codec_change.h"

#include "base/wire.h"
#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/reason.h"

enum {
    CHANGE_ENTITY = 1,
    CHANGE_IS_DELETED = 2,
    CHANGE_IS_INSERTED = 3,
    CHANGE_IS_LEFT_OUT = 4,
    FLAG_BYTES = 2,
    ROOM_FOR_REST = LIMIT_TOKEN_BYTES + 64,
};

enum status codec_change_watch_decode(const Tavola__V1__WatchEntitiesRequest *request, struct arena *arena,
    struct operation *out, struct error *err)
{
    struct operation_changes *changes = &out->in.changes;
    struct key_plan plan;

    out->table = codec_str(request->table);
    if (table_name_check(out->table, err) != STATUS_OK)
        return error_in_field(err, "table");
    if (filter_compile(codec_str(request->filter), arena, &changes->filter, err) != STATUS_OK)
        return error_in_field(err, "filter");
    filter_key_plan(changes->filter, arena, &plan);
    changes->range = plan.range;
    if (filter_asks_keys_only(changes->filter))
        return STATUS_OK;
    (void)reason_set(err, REASON_NOT_IMPLEMENTED,
        "the filter of a watch may name PartitionKey and RowKey only: nothing else is known of deleted "
        "entities");
    return error_in_field(err, "filter");
}

struct str codec_change_watch_identity(
    const struct operation *operation, struct str filter, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    wire_write_bytes(&out, 1, operation->account);
    wire_write_bytes(&out, 2, table_name_fold(operation->table, arena));
    wire_write_bytes(&out, 3, filter);
    return buf_str(&out);
}

size_t codec_change_write(struct buf *out, uint32_t field, const struct change *changes, size_t count,
    const struct selection *selection, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        struct entity entity = codec_read_select(&changes[i].entity, selection, arena);
        enum feed_change_kind kind = changes[i].kind;
        size_t bytes = codec_entity_bytes(&entity) + (kind == CHANGE_UPDATED ? 0 : FLAG_BYTES) +
                       (changes[i].is_left_out ? FLAG_BYTES : 0);

        if (i > 0 && out->len + bytes + ROOM_FOR_REST > LIMIT_REPLY_BYTES)
            return i;
        wire_write_tag(out, field, WIRE_BYTES);
        wire_write_varint(out, bytes);
        codec_entity_write(out, CHANGE_ENTITY, &entity);
        if (kind == CHANGE_DELETED)
            wire_write_scalar(out, CHANGE_IS_DELETED, 1);
        if (kind == CHANGE_INSERTED)
            wire_write_scalar(out, CHANGE_IS_INSERTED, 1);
        if (changes[i].is_left_out)
            wire_write_scalar(out, CHANGE_IS_LEFT_OUT, 1);
    }
    return count;
}
