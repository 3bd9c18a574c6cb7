/* SPDX-License-Identifier: Apache-2.0 */
/* taken_traces.c - see the header. */
#include "store/indexes/taken_traces.h"

#include <string.h>

#include "store/indexes/source_keys.h"

/* One call can write many keys: its trace leaves room for those of other calls. */
static bool has_enough_of(const struct taken_traces *traces, const struct trace_context *context)
{
    int count = 0;

    for (size_t i = 0; i < traces->count; i++)
        count += memcmp(traces->items[i].context.trace_id, context->trace_id, TRACE_ID_BYTES) == 0;
    return count >= MAX_TAKEN_OF_A_TRACE;
}

void taken_traces_add(struct taken_traces *traces, const PGresult *intents)
{
    for (int i = 0; i < PQntuples(intents) && traces->count < MAX_TAKEN_TRACES; i++) {
        struct taken_trace *trace = &traces->items[traces->count];

        *trace = (struct taken_trace){ 0 };
        if (PQgetisnull(intents, i, OPEN_INTENT_TRACE) ||
            !trace_context_load(pg_bytes(intents, i, OPEN_INTENT_TRACE), &trace->context) ||
            has_enough_of(traces, &trace->context))
            continue;
        trace->key = (size_t)pg_int8(intents, i, OPEN_INTENT_N) - 1;
        trace->intent_us = intent_id_us(pg_intent_id(intents, i, OPEN_INTENT_ID));
        traces->count++;
    }
}

static int32_t count_of(const struct index_entry *entries, size_t count, int64_t index_id)
{
    int32_t found = 0;

    for (size_t i = 0; i < count; i++)
        found += entries[i].index_id == index_id;
    return found;
}

static void fill_indexes(struct taken_traces *traces, struct taken_trace *trace, const struct source_key *key)
{
    const struct reconcile_plan *plan = &key->plan;

    if (!key->table || !key->is_selected)
        return;
    trace->indexes = ARENA_ARRAY(traces->arena, struct traced_index, key->table->index_count);
    for (size_t i = 0; i < key->table->index_count; i++) {
        const struct index *index = key->table->indexes[i];
        int32_t written = count_of(plan->upserts, plan->upsert_count, index->index_id);
        int32_t deleted = count_of(plan->deletes, plan->delete_count, index->index_id);

        if (written + deleted > 0)
            trace->indexes[trace->index_count++] =
                (struct traced_index){ arena_copy(traces->arena, index->name), written, deleted };
    }
}

void taken_traces_fill(struct taken_traces *traces, size_t first, const struct source_keys *keys)
{
    for (size_t i = first; i < traces->count; i++)
        fill_indexes(traces, &traces->items[i], &keys->keys[traces->items[i].key]);
}
