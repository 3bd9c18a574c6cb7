/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advisor.c - see the header. A period is six hours. A week of periods has the queries of every day.
 */
#include "service/sampling/advisor.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "domain/sampling/shape_sketch.h"

static const int64_t period_us = INT64_C(6) * 3600 * 1000000;

struct advised_table {
    int64_t table_id; /* 0: the slot is free */
    uint64_t account; /* a hash */
    struct shape_sketch sketch;
};

struct advisor_memory {
    pthread_mutex_t mutex;
    int64_t number; /* number of the period */
    int64_t begun_us;
    struct advised_table tables[MAX_ADVISED_TABLES];
};

void advisor_init(struct advisor *advisor)
{
    atomic_init(&advisor->is_asked, false);
    advisor->memory = xcalloc(1, sizeof(*advisor->memory));
    pthread_mutex_init(&advisor->memory->mutex, NULL);
    advisor->memory->begun_us = clock_monotonic_us();
}

void advisor_cleanup(struct advisor *advisor)
{
    if (!advisor->memory)
        return;
    pthread_mutex_destroy(&advisor->memory->mutex);
    free(advisor->memory);
    advisor->memory = NULL;
}

void advisor_look(struct advisor *advisor, const struct catalogue *catalogue)
{
    atomic_store(&advisor->is_asked, catalogue->sampled_tables > 0);
}

/* ---- counting ---- */

static int64_t activity(const struct advised_table *table)
{
    return table->sketch.queries + table->sketch.writes;
}

static struct advised_table *slot_for(struct advisor_memory *memory, uint64_t account)
{
    struct advised_table *free_slot = NULL, *smallest = NULL, *own = NULL;
    int own_count = 0;

    for (int i = 0; i < MAX_ADVISED_TABLES; i++) {
        struct advised_table *table = &memory->tables[i];

        if (table->table_id == 0) {
            free_slot = table;
            continue;
        }
        if (!smallest || activity(table) < activity(smallest))
            smallest = table;
        if (table->account == account) {
            own_count++;
            if (!own || activity(table) < activity(own))
                own = table;
        }
    }
    if (own_count >= MAX_ADVISED_TABLES / 2)
        return own;
    return free_slot ? free_slot : smallest;
}

static struct advised_table *find_table(struct advisor_memory *memory, const struct table *wanted)
{
    uint64_t account = hash_bytes(HASH_EMPTY, wanted->account);
    struct advised_table *slot;

    for (int i = 0; i < MAX_ADVISED_TABLES; i++)
        if (memory->tables[i].table_id == wanted->table_id)
            return &memory->tables[i];
    slot = slot_for(memory, account);
    *slot = (struct advised_table){ .table_id = wanted->table_id, .account = account };
    return slot;
}

/* What one operation adds to the counts. */
struct note {
    const struct table *table; /* the source table, if an index was read; NULL: count nothing */
    int64_t index_id;          /* the index that was read; 0: none */
    struct str shape;
    int64_t examined, returned, writes;
};

static struct note read_note(
    const struct catalogue *catalogue, const struct table *table, const struct operation *operation)
{
    const struct outcome_page *out = &operation->out.page;
    struct note note = { .table = table };

    if (table->entries_of) {
        note.index_id = table->entries_of->index_id;
        note.table = catalogue_find(catalogue, table->account, table->entries_of->source_name);
    } else if (operation->kind != OPERATION_LOOKUP && out->stats.access_path > ACCESS_INDEX_LOOKUP) {
        note.shape = query_shape_of(operation->in.page.filter, operation->arena);
        note.examined = out->stats.rows_examined;
        note.returned = out->stats.rows_returned;
    }
    return note;
}

static struct note note_of(
    const struct catalogue *catalogue, const struct operation *operation, int64_t weight)
{
    const struct table *table = catalogue_find(catalogue, operation->account, operation->table);
    struct note note = { 0 };

    if (!table)
        return note;
    if (operation->kind == OPERATION_WRITE && weight > 0)
        note = (struct note){ .table = table, .writes = weight * (int64_t)operation->in.write.count };
    else if (operation->kind == OPERATION_PAGE || operation->kind == OPERATION_COUNT ||
             operation->kind == OPERATION_LOOKUP)
        note = read_note(catalogue, table, operation);
    if (note.table && !note.table->samples_queries)
        note.table = NULL;
    return note;
}

void advisor_note(struct advisor *advisor, const struct catalogue *catalogue,
    const struct operation *operation, int64_t weight)
{
    struct note note = note_of(catalogue, operation, weight);
    struct shape_sketch *sketch;

    if (!note.table || pthread_mutex_trylock(&advisor->memory->mutex) != 0)
        return;
    sketch = &find_table(advisor->memory, note.table)->sketch;
    sketch->writes += note.writes;
    if (note.index_id != 0)
        shape_sketch_note_index(sketch, note.index_id, 1);
    else if (note.writes == 0)
        shape_sketch_note(sketch, note.shape, note.examined, note.returned);
    pthread_mutex_unlock(&advisor->memory->mutex);
}

/* ---- storing ---- */

static void end_period(struct advisor_memory *memory, int64_t now_us)
{
    if (now_us - memory->begun_us < period_us)
        return;
    memory->number++;
    memory->begun_us = now_us;
    for (int i = 0; i < MAX_ADVISED_TABLES; i++)
        memory->tables[i].sketch = (struct shape_sketch){ 0 };
}

void advisor_take(struct advisor *advisor, int64_t now_us, int64_t only_table_id, struct arena *arena,
    struct operation_samples *out)
{
    struct advisor_memory *memory = advisor->memory;

    pthread_mutex_lock(&memory->mutex);
    for (int i = 0; i < MAX_ADVISED_TABLES; i++) {
        const struct advised_table *table = &memory->tables[i];

        if (table->table_id == 0 || activity(table) + (int64_t)table->sketch.index_count == 0 ||
            (only_table_id != 0 && table->table_id != only_table_id))
            continue;
        out->reports[out->report_count++] = (struct sample_report){ .table_id = table->table_id,
            .span = SAMPLE_WEEK,
            .period = memory->number,
            .seconds = (int32_t)((now_us - memory->begun_us) / 1000000) + 1,
            .content = shape_sketch_write(&table->sketch, arena) };
    }
    if (only_table_id == 0)
        end_period(memory, now_us);
    pthread_mutex_unlock(&memory->mutex);
}
