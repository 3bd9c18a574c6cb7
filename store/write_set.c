/*
 * write_set.c - see the header.
 */
#include "store/write_set.h"

#include <stdlib.h>

#include "domain/reason.h"
#include "store/resolve.h"

/* A write on its way to its row: sorted by key, then by arrival. */
struct reference {
    struct plan_row row;
    struct plan_row **slot;
    const struct write *write;
    size_t arrival;
};

int plan_row_compare(const void *a, const void *b)
{
    const struct plan_row *x = a, *y = b;

    if (x->table->table_id != y->table->table_id)
        return x->table->table_id < y->table->table_id ? -1 : 1;
    return entity_key_compare(&x->key, &y->key);
}

static int by_key_then_arrival(const void *a, const void *b)
{
    const struct reference *x = a, *y = b;
    int order = plan_row_compare(&x->row, &y->row);

    return order != 0 ? order : (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

static bool reads_properties(const struct table *table, const struct write *write)
{
    return table->index_count > 0 || write->kind == WRITE_MERGE || write->kind == WRITE_INSERT_OR_MERGE ||
           write->condition.text.len > 0;
}

static bool may_be_blind(const struct table *table, const struct write *write)
{
    return table->index_count == 0 && write->kind == WRITE_INSERT_OR_REPLACE && write->expires == 0 &&
           !condition_is_set(&write->condition);
}

static size_t refer(struct write_set *set, const struct session *session, struct operation *batch,
    struct reference *references, struct arena *arena)
{
    size_t count = 0;

    for (struct operation *operation = batch; operation; operation = operation->next) {
        const struct operation_write *in = &operation->in.write;
        struct planned *planned = &set->planned[set->planned_count];
        const struct table *table;
        struct error err;

        if (resolve_writable(session, operation, &table, &err) != STATUS_OK) {
            operation_fail(operation, &err);
            continue;
        }
        *planned = (struct planned){ operation, ARENA_ARRAY(arena, struct plan_row *, in->count) };
        set->planned_count++;
        requests_add(&set->requests, operation);
        set->is_blind = set->is_blind && in->request_id.len == 0;
        for (size_t i = 0; i < in->count; i++) {
            const struct write *write = &in->writes[i];

            set->is_blind = set->is_blind && may_be_blind(table, write);
            references[count] = (struct reference){
                .row = { .table = table,
                    .bucket = bucket_of(table->table_id, write->key.partition),
                    .key = write->key,
                    .reads_properties = reads_properties(table, write) },
                .slot = &planned->rows[i],
                .write = write,
                .arrival = count,
            };
            count++;
        }
    }
    return count;
}

/* One row per key; the first write on it says what is offered. */
static void unite(struct write_set *set, const struct reference *references, size_t count,
    struct write_clock clock, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const struct reference *reference = &references[i];
        struct plan_row *last = set->row_count > 0 ? &set->rows[set->row_count - 1] : NULL;

        if (last && plan_row_compare(last, &reference->row) == 0) {
            last->reads_properties = last->reads_properties || reference->row.reads_properties;
            set->is_blind = false;
        } else {
            last = &set->rows[set->row_count++];
            *last = reference->row;
            last->offered = write_plan_offer(reference->write, last->table->table_id, clock, arena);
        }
        *reference->slot = last;
    }
}

void write_set_build(struct write_set *set, struct session *session, struct operation *batch)
{
    struct arena *arena = &session->arena;
    struct write_clock clock = { .floor = session->catalogue->floor, .ticks = session->now_ticks };
    struct reference *references;
    size_t operations = 0, writes = 0, count;

    for (struct operation *operation = batch; operation; operation = operation->next) {
        operations++;
        writes += operation->in.write.count;
    }
    *set = (struct write_set){ .is_blind = true };
    set->planned = ARENA_ARRAY(arena, struct planned, operations);
    set->rows = ARENA_ARRAY(arena, struct plan_row, writes);
    set->requests.items = ARENA_ARRAY(arena, struct request, operations);
    references = ARENA_ARRAY(arena, struct reference, writes);
    count = refer(set, session, batch, references, arena);
    qsort(references, count, sizeof(references[0]), by_key_then_arrival);
    unite(set, references, count, clock, arena);
    requests_sort(&set->requests);
}
