/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_set.c - see the header.
 */
#include "store/entities/write_set.h"

#include <stdlib.h>

#include "domain/limits.h"
#include "domain/reason.h"
#include "domain/writes/held_blobs.h"
#include "domain/writes/strong_entries.h"
#include "store/session/resolve.h"

/* A write and the row that it writes; sorted by key, then by arrival. */
struct reference {
    struct plan_row row;
    struct plan_row **slot;
    const struct write *write;
    size_t arrival;
};

/* The order in which rows are locked: table id, partition key, row key. */
static int row_compare(const struct plan_row *x, const struct plan_row *y)
{
    if (x->table->table_id != y->table->table_id)
        return x->table->table_id < y->table->table_id ? -1 : 1;
    return entity_key_compare(&x->key, &y->key);
}

static int by_key_then_arrival(const void *a, const void *b)
{
    const struct reference *x = a, *y = b;
    int order = row_compare(&x->row, &y->row);

    return order != 0 ? order : (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

/* What decides the path of a write besides the write itself. */
struct scope {
    const struct table *table;
    bool has_followers; /* copy rules whose sources are in the table */
};

static bool reads_properties(const struct scope *scope, const struct write *write)
{
    const struct table *table = scope->table;

    return table->index_count > 0 || scope->has_followers || table->has_blob_properties ||
           write_plan_merges(write->kind) || write->condition.text.len > 0;
}

/* Whether no index decides about a write, or has entries that are written with it. */
static bool only_follow(const struct table *table)
{
    for (size_t i = 0; i < table->index_count; i++) {
        const struct index *index = table->indexes[i];

        if (index_comes_with_write(index) || index->is_unique || index->copies ||
            index->on_violation == VIOLATION_REJECT)
            return false;
    }
    return table->index_count == 0 || table->feed_id == 0;
}

/* As far as the write and its table decide it; needs_no_read decides the rest. */
static bool may_be_blind(const struct scope *scope, const struct write *write)
{
    const struct table *table = scope->table;

    return only_follow(table) && !scope->has_followers && !table->has_blob_properties && !table->is_wide &&
           !write->excess && write->kind == WRITE_INSERT_OR_REPLACE && write->expires == 0 &&
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
        struct scope scope;
        struct error err;

        if (resolve_writable(session, operation, &table, &err) != STATUS_OK) {
            operation_fail(operation, &err);
            continue;
        }
        scope = (struct scope){ table, catalogue_next_follower(session->catalogue, table->table_id, 0) };
        *planned = (struct planned){ operation, ARENA_ARRAY(arena, struct plan_row *, in->count) };
        set->planned_count++;
        set->is_blind = request_rows_add(&set->requests, operation) && set->is_blind;
        for (size_t i = 0; i < in->count; i++) {
            const struct write *write = &in->writes[i];

            set->is_blind = set->is_blind && may_be_blind(&scope, write);
            set->has_insert = set->has_insert || write->kind == WRITE_INSERT;
            set->has_feed = set->has_feed || table->feed_id != 0;
            set->leaves_intents = set->leaves_intents || table->index_count > 0;
            set->is_wide = set->is_wide || table->is_wide;
            references[count] = (struct reference){
                .row = { .table = table,
                    .bucket = entity_key_bucket(table->table_id, write->key.partition),
                    .key = write->key,
                    .trace = operation->trace,
                    .arena = arena,
                    .reads_properties = reads_properties(&scope, write) },
                .slot = &planned->rows[i],
                .write = write,
                .arrival = count,
            };
            count++;
        }
    }
    return count;
}

/* The owners that a table with unique indexes uses; all rows of such tables share them. */
static struct unique_owners *owners_of(struct write_set *set, const struct table *table, struct arena *arena)
{
    if (!unique_owners_concern(table))
        return NULL;
    if (!set->owners) {
        set->owners = ARENA_NEW(arena, struct unique_owners);
        set->owners->arena = arena;
    }
    return set->owners;
}

static struct held_blobs *blobs_of(struct write_set *set, const struct table *table, struct arena *arena)
{
    if (!table->has_blob_properties)
        return NULL;
    if (!set->blobs) {
        set->blobs = ARENA_NEW(arena, struct held_blobs);
        set->blobs->arena = arena;
    }
    return set->blobs;
}

static struct strong_state *state_of(struct write_set *set, const struct table *table, struct arena *arena)
{
    if (!strong_entries_have_states(table))
        return NULL;
    set->has_states = true;
    return ARENA_NEW(arena, struct strong_state);
}

static void offer_row(
    struct plan_row *row, const struct write *write, struct write_clock clock, struct arena *arena)
{
    row->offered = write_plan_offer(
        write, &(struct write_context){ row->table->table_id, clock, arena, row->table->is_wide });
}

/* Whether each write needs an intent whatever is stored, or needs none because its table has no index. */
static bool needs_no_read(
    struct reference *references, size_t count, struct write_clock clock, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        struct plan_row *row = &references[i].row;

        if (row->table->index_count == 0)
            continue;
        offer_row(row, references[i].write, clock, arena);
        if (!write_plan_always_needs_intent(row, arena))
            return false;
    }
    return true;
}

/*
 * Whether several upserts of one key may become one row that is written without reading it. Each counts as a version,
 * and its outcome follows from that of the last. A feed and a record of a request would need the row between them.
 */
static bool may_repeat(const struct write_set *set, const struct operation *batch)
{
    if (!set->is_blind || set->requests.count > 0 || set->has_feed)
        return false;
    for (; batch; batch = batch->next)
        if (batch->in.write.count > 1)
            return false;
    return true;
}

static const struct index **list_followers(
    const struct catalogue *catalogue, const struct table *table, size_t *count, struct arena *arena)
{
    const struct index **followers = ARENA_ARRAY(arena, const struct index *, LIMIT_COPY_FOLLOWERS);

    for (const struct index *index = catalogue_next_follower(catalogue, table->table_id, 0);
         index && *count < LIMIT_COPY_FOLLOWERS;
         index = catalogue_next_follower(catalogue, table->table_id, index->index_id))
        followers[(*count)++] = index;
    return followers;
}

/* last: the row before, whose table is often the same. */
static struct row_rules *rules_of(const struct catalogue *catalogue, const struct plan_row *row,
    const struct plan_row *last, struct arena *arena)
{
    struct row_rules *out = ARENA_NEW(arena, struct row_rules);

    if (last && last->table == row->table) {
        if (!last->rules)
            return NULL;
        *out = *last->rules;
        return out;
    }
    out->followers = list_followers(catalogue, row->table, &out->follower_count, arena);
    for (size_t i = 0; i < row->table->index_count; i++)
        if (row->table->indexes[i]->copies)
            return out;
    return out->follower_count > 0 ? out : NULL;
}

/* Give the rows ids for the intents of copy rules, behind those of the rows. */
static void place_rules(struct write_set *set, const struct catalogue *catalogue, struct arena *arena)
{
    set->intent_count = set->row_count;
    for (size_t i = 0; catalogue->copy_rules > 0 && i < set->row_count; i++) {
        struct plan_row *row = &set->rows[i];

        row->rules = rules_of(catalogue, row, i > 0 ? row - 1 : NULL, arena);
        if (!row->rules)
            continue;
        row->rules->first_intent = (uint32_t)set->intent_count;
        set->intent_count += write_plan_rule_slots(row);
    }
}

/*
 * Make one row for each key. The first write to the key decides what the lock statement inserts if
 * the row is absent.
 */
static void unite(struct write_set *set, const struct reference *references, size_t count,
    struct write_clock clock, bool may_be_repeated, struct arena *arena)
{
    for (size_t i = 0; i < count; i++) {
        const struct reference *reference = &references[i];
        struct plan_row *last = set->row_count > 0 ? &set->rows[set->row_count - 1] : NULL;

        if (last && row_compare(last, &reference->row) == 0) {
            last->reads_properties = last->reads_properties || reference->row.reads_properties;
            last->trace = last->trace ? last->trace : reference->row.trace;
            if (may_be_repeated)
                offer_row(last, reference->write, clock, arena);
            set->is_blind = may_be_repeated;
            set->is_repeated = true;
        } else {
            last = &set->rows[set->row_count++];
            *last = reference->row;
            last->owners = owners_of(set, last->table, arena);
            last->state = state_of(set, last->table, arena);
            last->blobs = blobs_of(set, last->table, arena);
            offer_row(last, reference->write, clock, arena);
        }
        set->upserts[set->row_count - 1]++;
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
    set->upserts = ARENA_ARRAY(arena, int64_t, writes);
    set->requests.items = ARENA_ARRAY(arena, struct request, operations);
    references = ARENA_ARRAY(arena, struct reference, writes);
    count = refer(set, session, batch, references, arena);
    set->is_blind = set->is_blind && needs_no_read(references, count, clock, arena);
    qsort(references, count, sizeof(references[0]), by_key_then_arrival);
    unite(set, references, count, clock, may_repeat(set, batch), arena);
    place_rules(set, session->catalogue, arena);
    set->is_blind = request_rows_sort(&set->requests) && set->is_blind;
}

/* ---- what is left open ---- */

/* List the buckets whose bit is set, in ascending order. */
static void list_buckets(const uint64_t marks[BUCKETS / 64], struct intent_block *block, struct arena *arena)
{
    for (size_t i = 0; i < BUCKETS / 64; i++)
        block->bucket_count += (size_t)__builtin_popcountll(marks[i]);
    block->buckets = ARENA_ARRAY(arena, int16_t, block->bucket_count);
    for (size_t i = 0, next = 0; next < block->bucket_count; i++)
        for (uint64_t left = marks[i]; left != 0; left &= left - 1)
            block->buckets[next++] = (int16_t)(i * 64 + (size_t)__builtin_ctzll(left));
}

static void mark_intent(const struct write_set *set, const struct plan_row *row, uint32_t counter,
    uint64_t marks[BUCKETS / 64], struct intent_block *block)
{
    uint32_t id = set->ids.first + counter;

    marks[row->bucket / 64] |= 1ull << (row->bucket % 64);
    block->first = id < block->first ? id : block->first;
    block->last = id > block->last ? id : block->last;
}

static void mark_rule_work(const struct write_set *set, const struct plan_row *row,
    uint64_t marks[BUCKETS / 64], struct intent_block *block)
{
    struct rule_work work[MAX_RULE_WORK];
    size_t count = row->rules ? write_plan_rule_work(row, work) : 0;

    for (size_t i = 0; i < count; i++)
        mark_intent(set, row, row->rules->first_intent + work[i].slot, marks, block);
}

bool write_set_updates(const struct plan_row *row)
{
    return !row->table->is_wide && write_plan_action(row) == ROW_UPDATE;
}

const struct consistency *write_set_left_open(
    const struct write_set *set, const struct planned *planned, int64_t epoch, struct arena *arena)
{
    uint64_t marks[BUCKETS / 64] = { 0 };
    struct intent_block block = { .us = set->ids.us, .origin = set->ids.origin, .first = UINT32_MAX };
    struct consistency *out;

    if (planned->operation->error || (planned->rows[0]->table->index_count == 0 && !planned->rows[0]->rules))
        return NULL;
    for (size_t i = 0; i < planned->operation->in.write.count; i++) {
        struct plan_row *row = planned->rows[i];

        if (write_plan_needs_intent(row, arena))
            mark_intent(set, row, (uint32_t)(row - set->rows), marks, &block);
        mark_rule_work(set, row, marks, &block);
    }
    if (block.first == UINT32_MAX)
        return NULL;
    list_buckets(marks, &block, arena);
    out = ARENA_NEW(arena, struct consistency);
    *out = (struct consistency){ .epoch = epoch,
        .table_id = planned->rows[0]->table->table_id,
        .account = STR_EMPTY,
        .id = STR_EMPTY,
        .blocks = ARENA_NEW(arena, struct intent_block),
        .block_count = 1 };
    out->blocks[0] = block;
    return out;
}
