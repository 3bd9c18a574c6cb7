/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_advice.c - see the header.
 */
#include "api/codec_advice.h"

#include "api/codec_index.h"
#include "domain/indexes/index_advice.h"

static void write_advice(struct buf *out, const struct index_advice *advice, struct arena *arena)
{
    Tavola__V1__IndexAdvice message = TAVOLA__V1__INDEX_ADVICE__INIT;

    if (advice->definition.len > 0)
        message.index = codec_index_message(advice->definition, arena);
    message.existing_index = codec_bytes(advice->existing);
    message.n_shapes = advice->shape_count;
    message.shapes = ARENA_ARRAY(arena, ProtobufCBinaryData, advice->shape_count);
    for (size_t i = 0; i < advice->shape_count; i++)
        message.shapes[i] = codec_bytes(advice->shapes[i]);
    message.queries = advice->queries;
    message.rows_examined = advice->examined;
    message.rows_returned = advice->returned;
    message.rows_saved = advice->examined - advice->returned;
    message.entries_written = advice->entries;
    codec_pack(out, 1, &message.base);
}

static void write_unread(struct buf *out, const struct unread_index *unread)
{
    Tavola__V1__UnreadIndex message = TAVOLA__V1__UNREAD_INDEX__INIT;

    message.index = codec_bytes(unread->name);
    message.entries_written = unread->entries;
    codec_pack(out, 2, &message.base);
}

void codec_advice_write(struct buf *out, const struct outcome_samples *samples, struct arena *arena)
{
    Tavola__V1__AdviseIndexesResponse counts = TAVOLA__V1__ADVISE_INDEXES_RESPONSE__INIT;
    const struct index_advices *advices = samples->advices;

    for (size_t i = 0; i < advices->count; i++)
        write_advice(out, &advices->items[i], arena);
    for (size_t i = 0; i < advices->unread_count; i++)
        write_unread(out, &advices->unread[i]);
    if (samples->span_us > 0)
        counts.covered = codec_duration(samples->span_us, arena);
    counts.queries = samples->queries;
    counts.writes = samples->writes;
    codec_pack(out, 0, &counts.base);
}
