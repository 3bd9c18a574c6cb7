/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_work.c - see the header.
 *
 *   flight 1   lock the dependents, sorted; read them
 *   flight 2   delete their intents; read the sources that they name
 *   plan       which copies differ (domain/copies), and the writes of those dependents as any write
 *   flight 3   rows, entries, changes, intents; dead letters
 *
 * A source is not locked. It may be written between flight 2 and the commit; then its write has an
 * intent for a visit, which waits for the locks of the dependents and reads the source after it.
 * So of two transactions that copy to one dependent, the one that locks it last has read its source
 * last (guard G69).
 *
 * A commit waits for the disk, because readers may have seen the ETag that a dependent has got.
 */
#include "store/copies/copy_work.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/copies/copy_plan.h"
#include "domain/indexes/index_plan.h"
#include "store/entities/write_batch.h"
#include "store/entities/write_set.h"
#include "store/session/row_arrays.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

/*
 * Of the properties that one transaction copies at most: those of a source count for each of its dependents, which may
 * all get a copy. The source of a single dependent may have more.
 */
enum { MAX_SOURCE_BYTES = 16 << 20 };

/* A source, as it was read. */
struct copied_source {
    struct entity_key key;
    struct row_state state; /* not live: it does not exist */
};

struct dependent {
    struct plan_row *row;
    struct operation *operation;
    bool is_selected; /* it has an open intent, or the batch is forced */
    enum copy_naming naming;
    struct entity_key named;
    struct copy_plan plan;
    bool writes;     /* its copies differ, and are written */
    const char *why; /* it cannot have its copies; NULL: it has them */
};

struct copying {
    struct session *session;
    struct copy_batch *batch;
    const struct index *index;
    struct write_set set;
    struct write_clock clock;
    struct dependent *dependents; /* sorted by key, each once */
    size_t count;
    struct copied_source *sources; /* sorted by key, each once */
    size_t source_count;
};

const struct index *copy_work_rule(const struct session *session, int64_t index_id)
{
    const struct table *entries = catalogue_find_id(session->catalogue, index_id);
    const struct index *index = entries ? entries->entries_of : NULL;

    return index && index->copies && index->state != INDEX_DROPPING ? index : NULL;
}

static int by_key(const void *a, const void *b)
{
    return entity_key_compare(a, b);
}

/* Sort keys and drop repeated ones; returns their number. */
static size_t unite_keys(struct entity_key *keys, size_t count)
{
    size_t kept = 0;

    if (count > 1)
        qsort(keys, count, sizeof(*keys), by_key);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || entity_key_compare(&keys[kept - 1], &keys[i]) != 0)
            keys[kept++] = keys[i];
    return kept;
}

/* ---- flight 1 ---- */

/* A write of each dependent, whose properties are known when its source was read. */
static struct operation *list_operations(struct copying *work, struct entity_key *keys, size_t count)
{
    struct arena *arena = &work->session->arena;
    struct operation *operations = ARENA_ARRAY(arena, struct operation, count);
    struct write *writes = ARENA_ARRAY(arena, struct write, count);

    for (size_t i = 0; i < count; i++) {
        writes[i] = (struct write){ .kind = WRITE_REPLACE, .key = keys[i] };
        operations[i] = (struct operation){
            .kind = OPERATION_WRITE,
            .account = work->index->account,
            .table = work->index->source_name,
            .arena = arena,
            .next = i + 1 < count ? &operations[i + 1] : NULL,
            .in.write = { .writes = &writes[i],
                .count = 1,
                .atomic = true,
                .table_id = work->index->source_table_id },
        };
    }
    return operations;
}

static bool build_set(struct copying *work)
{
    struct arena *arena = &work->session->arena;
    const struct copy_batch *batch = work->batch;
    struct entity_key *keys = ARENA_ARRAY(arena, struct entity_key, batch->count);
    struct operation *operations;

    memcpy(keys, batch->keys, batch->count * sizeof(*keys));
    work->count = unite_keys(keys, batch->count);
    operations = list_operations(work, keys, work->count);
    work->session->now_ticks = clock_ticks();
    write_set_build(&work->set, work->session, operations);
    if (work->set.planned_count < work->count)
        return false;
    work->dependents = ARENA_ARRAY(arena, struct dependent, work->count);
    for (size_t i = 0; i < work->count; i++) {
        struct plan_row *row = work->set.planned[i].rows[0];

        row->copied_by = work->index->index_id;
        work->dependents[i] = (struct dependent){ .row = row, .operation = &operations[i] };
    }
    return true;
}

/*
 * A dependent that has expired gets its copies until the sweeper deletes it: what a rule asks for depends on no clock.
 * A write that comes before the sweeper's is compared with what is stored, and asks for no copies that should be there.
 */
static void show_expired(struct copying *work)
{
    for (size_t i = 0; i < work->count; i++)
        work->dependents[i].row->now = work->dependents[i].row->stored;
}

/* ---- flight 2 ---- */

static struct copied_source *find_source(const struct copying *work, const struct entity_key *key)
{
    return bsearch(key, work->sources, work->source_count, sizeof(*work->sources), by_key);
}

/* List the sources that the dependents name, each once. */
static void name_sources(struct copying *work)
{
    struct arena *arena = &work->session->arena;
    struct entity_key *keys = ARENA_ARRAY(arena, struct entity_key, work->count);
    size_t count = 0;

    for (size_t i = 0; i < work->count; i++) {
        struct dependent *one = &work->dependents[i];

        if (!one->row->now.live)
            continue;
        one->naming = copy_plan_source(work->index->copies, &one->row->key, &one->row->now, &one->named);
        if (one->naming == COPY_NAMES_KEY)
            keys[count++] = one->named;
    }
    work->source_count = unite_keys(keys, count);
    work->sources = ARENA_ARRAY(arena, struct copied_source, work->source_count);
    for (size_t i = 0; i < work->source_count; i++)
        work->sources[i].key = keys[i];
}

/* The keys of the dependents, under the index's id: of their intents and dead letters. */
static void add_work_keys(const struct copying *work, bool (*is_wanted)(const struct dependent *one),
    struct pg_params *params, size_t *count)
{
    struct arena *arena = &work->session->arena;
    struct key_arrays keys;

    key_arrays_init(&keys, arena);
    for (size_t i = 0; i < work->count; i++) {
        const struct plan_row *row = work->dependents[i].row;

        if (is_wanted(&work->dependents[i]))
            key_arrays_put(&keys, work->index->index_id, &row->key, row->bucket);
    }
    *count = (size_t)keys.tables.count;
    pg_params_init(params, arena);
    key_arrays_add(&keys, params);
}

static bool is_any(const struct dependent *one)
{
    (void)one;
    return true;
}

static enum status send_taking(const struct copying *work, struct error *err)
{
    struct pg_params params;
    size_t count;

    add_work_keys(work, is_any, &params, &count);
    pg_add_int2(&params, INTENT_COPY);
    return pg_send(&work->session->pg, &sql_intent_take, &params, err);
}

/* A source's table that does not exist any more has no rows that count. */
static bool has_source_table(const struct copying *work)
{
    return catalogue_find_id(work->session->catalogue, work->index->copies->source_table_id) != NULL;
}

static enum status send_sources(const struct copying *work, struct error *err)
{
    struct session *session = work->session;
    int64_t table_id = work->index->copies->source_table_id;
    size_t count = has_source_table(work) ? work->source_count : 0;
    int32_t max_bytes = work->count > 1 ? MAX_SOURCE_BYTES / (int32_t)work->count : INT32_MAX;
    struct key_arrays keys;
    struct name_arrays no_names;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < count; i++)
        key_arrays_put(&keys, table_id, &work->sources[i].key,
            entity_key_bucket(table_id, work->sources[i].key.partition));
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_int4(&params, max_bytes);
    name_arrays_init(&no_names, &session->arena);
    name_arrays_add(&no_names, &params);
    return pg_send(&session->pg, &sql_source_get, &params, err);
}

enum taken_column { TAKEN_N };
enum source_column { SOURCE_N, SOURCE_VERSION, SOURCE_TS, SOURCE_DEAD, SOURCE_EXPIRES, SOURCE_PROPERTIES };

static void select_open(struct copying *work, const PGresult *taken)
{
    work->batch->counts.intents_removed = PQntuples(taken);
    for (size_t i = 0; i < work->count; i++)
        work->dependents[i].is_selected = work->batch->force;
    for (int i = 0; i < PQntuples(taken); i++)
        work->dependents[pg_int8(taken, i, TAKEN_N) - 1].is_selected = true;
}

/* false: a source was too large, and its properties were left out. */
static bool fill_sources(struct copying *work, const PGresult *rows)
{
    for (int i = 0; i < PQntuples(rows); i++) {
        if (PQgetisnull(rows, i, SOURCE_PROPERTIES))
            return false;
        work->sources[pg_int8(rows, i, SOURCE_N) - 1].state = (struct row_state){
            .live = !pg_bool(rows, i, SOURCE_DEAD),
            .version = pg_int8(rows, i, SOURCE_VERSION),
            .ts = pg_int8(rows, i, SOURCE_TS),
            .properties = { arena_copy(&work->session->arena, pg_bytes(rows, i, SOURCE_PROPERTIES)) },
            .expires = pg_int8(rows, i, SOURCE_EXPIRES),
        };
    }
    return true;
}

static enum status read_sources(struct copying *work, struct error *err)
{
    struct session *session = work->session;
    PG_RESULT taken = NULL;
    PG_RESULT rows = NULL;

    name_sources(work);
    TRY(send_taking(work, err));
    TRY(send_sources(work, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_next(&session->pg, &taken, err));
    TRY(pg_next(&session->pg, &rows, err));
    TRY(pg_end(&session->pg, err));
    select_open(work, taken);
    work->batch->is_too_large = !fill_sources(work, rows);
    return STATUS_OK;
}

/* ---- the plan ---- */

/* A dependent whose entry cannot be made would not be found when its source changes. */
static bool has_no_entry(const struct copying *work, struct dependent *one)
{
    const struct plan_row *row = one->row;
    const char *why;

    if (one->naming != COPY_NAMES_KEY ||
        !index_plan_violates(work->index, &row->key, &row->now, &work->session->arena, &why))
        return false;
    one->why = why;
    return true;
}

static void refuse_copies(struct dependent *one, const struct error *err, struct arena *arena)
{
    one->writes = false;
    one->why = arena_format(arena, "%s", err->message).data;
}

/* Which copies of a dependent differ, and whether it can have them. */
static void plan_copies(struct copying *work, struct dependent *one)
{
    struct arena *arena = &work->session->arena;
    const struct copied_source *source =
        one->naming == COPY_NAMES_KEY ? find_source(work, &one->named) : NULL;
    const struct row_state before = one->row->now;
    const struct copy_case facts = { .key = &one->row->key,
        .dependent = &before,
        .naming = one->naming,
        .source = &one->named,
        .state = source && source->state.live ? &source->state : NULL };
    struct write *write = &one->operation->in.write.writes[0];
    struct error err;

    if (has_no_entry(work, one))
        return;
    copy_plan(work->index->copies, &facts, arena, &one->plan);
    if (one->plan.count == 0)
        return;
    if (property_list_check(one->plan.properties, &one->row->key, &err) != STATUS_OK) {
        refuse_copies(one, &err, arena);
        return;
    }
    one->writes = true;
    write->properties = one->plan.properties;
    write->expires = before.expires;
}

static void plan_all(struct copying *work)
{
    for (size_t i = 0; i < work->count; i++) {
        struct dependent *one = &work->dependents[i];

        if (!one->is_selected)
            continue;
        work->batch->counts.keys++;
        if (one->row->now.live)
            plan_copies(work, one);
    }
}

/* Plan the writes. An index that refuses one refuses the copies of that dependent. */
static void plan_writes(void *context)
{
    struct copying *work = context;

    for (size_t i = 0; i < work->count; i++) {
        struct dependent *one = &work->dependents[i];

        if (one->writes)
            write_plan_operation(one->operation, work->set.planned[i].rows, work->clock);
    }
}

static void take_outcomes(struct copying *work)
{
    for (size_t i = 0; i < work->count; i++) {
        struct dependent *one = &work->dependents[i];

        if (one->writes && one->operation->error)
            refuse_copies(one, one->operation->error, &work->session->arena);
        work->batch->counts.written += one->writes;
        work->batch->counts.refused += one->why != NULL;
    }
}

/* ---- flight 3 ---- */

static bool is_solved(const struct dependent *one)
{
    return one->is_selected && !one->why;
}

static bool is_refused(const struct dependent *one)
{
    return one->why != NULL;
}

static enum status send_letters(const struct copying *work, struct error *err)
{
    struct session *session = work->session;
    struct pg_params params;
    struct pg_array causes;
    size_t count;

    add_work_keys(work, is_solved, &params, &count);
    if (count > 0)
        TRY(pg_send(&session->pg, &sql_copy_letter_delete, &params, err));
    add_work_keys(work, is_refused, &params, &count);
    if (count == 0)
        return STATUS_OK;
    pg_array_init(&causes, &session->arena, PG_TEXT);
    for (size_t i = 0; i < work->count; i++)
        if (is_refused(&work->dependents[i]))
            pg_array_bytes(&causes, str_of(work->dependents[i].why));
    pg_add_array(&params, &causes);
    return pg_send(&session->pg, &sql_copy_letter_violation, &params, err);
}

/* Plan what the writes change, with the locks on owners of unique values that this takes. */
static enum status plan_changes(struct copying *work, int64_t now_us, struct error *err)
{
    struct copy_batch *batch = work->batch;
    struct session *session = work->session;

    plan_all(work);
    work->set.ids = session_reserve_intents(session, now_us, work->set.intent_count);
    work->clock = (struct write_clock){ .floor = session->catalogue->floor, .ticks = session->now_ticks };
    TRY(write_batch_lock_owners(session, &work->set, plan_writes, work, err));
    plan_writes(work);
    if (work->set.owners && work->set.owners->is_incomplete && work->count > 1) {
        batch->is_too_large = true; /* values depend on those of other dependents: fewer at a time */
        return STATUS_OK;
    }
    take_outcomes(work);
    return STATUS_OK;
}

static enum status send_changes(struct copying *work, struct error *err)
{
    struct copy_batch *batch = work->batch;
    struct session *session = work->session;

    batch->intents = ARENA_ARRAY(&session->arena, struct intent, work->set.intent_count);
    TRY(write_batch_send_changes(session, &work->set, batch->intents, &batch->intent_count, err));
    return send_letters(work, err);
}

/* ---- a batch ---- */

/* Lock, read and plan. Nothing is to be sent if the batch is gone, too large or empty. */
static enum status prepare(struct copying *work, int64_t now_us, struct error *err)
{
    struct copy_batch *batch = work->batch;
    enum status status;

    work->index = copy_work_rule(work->session, batch->index_id);
    batch->counts = (struct copy_counts){ 0 };
    batch->is_too_large = false;
    batch->intent_count = 0;
    batch->is_gone = !work->index || (batch->count > 0 && !build_set(work));
    if (batch->is_gone || batch->count == 0)
        return STATUS_OK;
    status = write_batch_lock_more(work->session, &work->set, err);
    batch->is_too_large = status == STATUS_LIMIT;
    if (status != STATUS_OK)
        return batch->is_too_large ? STATUS_OK : status;
    FAILPOINT_TRY("copy.after_lock", err);
    show_expired(work);
    TRY(read_sources(work, err));
    if (batch->is_too_large)
        return STATUS_OK;
    FAILPOINT_TRY("copy.after_source_read", err);
    return plan_changes(work, now_us, err);
}

enum status copy_work_run(
    struct session *session, struct copy_batch *batch, int64_t now_us, struct error *err)
{
    struct copying work = { .session = session, .batch = batch };

    TRY(prepare(&work, now_us, err));
    if (batch->is_gone || batch->is_too_large || batch->count == 0)
        return STATUS_OK;
    return send_changes(&work, err);
}

enum status copy_work_preview(struct session *session, int64_t index_id, const struct entity_key *key,
    struct copy_counts *counts, struct error *err)
{
    struct copy_batch batch = { .index_id = index_id, .keys = key, .count = 1, .force = true };
    struct copying work = { .session = session, .batch = &batch };
    int64_t now_us = 0;
    enum status status = session_begin(session, &now_us, err);

    if (status == STATUS_OK)
        status = prepare(&work, now_us, err);
    if (status == STATUS_OK)
        pg_recover(&session->pg); /* rolls back */
    *counts = batch.counts;
    return status;
}

void copy_work_tell(const struct worker *store, const struct copy_batch *batch)
{
    const struct commit_observer *observer = &store->observer;

    if (batch->intent_count > 0 && observer->intents_committed)
        observer->intents_committed(observer->context, batch->intents, batch->intent_count);
}

/* ---- transactions ---- */

struct copy_attempt {
    struct worker *store;
    struct copy_batch batch;
};

static enum status attempt(struct session *session, void *context, struct error *err)
{
    struct copy_attempt *work = context;
    struct copy_batch *batch = &work->batch;
    int64_t now_us = 0;

    TRY(session_begin(session, &now_us, err));
    TRY(copy_work_run(session, batch, now_us, err));
    if (batch->is_gone || batch->is_too_large || batch->counts.keys == 0) {
        pg_recover(&session->pg); /* rolls back: nothing was written */
        return STATUS_OK;
    }
    FAILPOINT_TRY("copy.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("copy.after_commit");
    copy_work_tell(work->store, batch);
    return STATUS_OK;
}

/* One transaction or, if the entities are too large for it, two halves. */
static enum status copy_in_parts(struct worker *store, const struct copy_batch *whole,
    struct copy_counts *counts, bool *is_gone, struct error *err)
{
    struct copy_attempt work = { .store = store, .batch = *whole };
    struct copy_batch first = *whole, rest = *whole;

    TRY(worker_attempt(store, attempt, &work, err));
    *is_gone = work.batch.is_gone;
    if (!work.batch.is_too_large) {
        copy_counts_add(counts, &work.batch.counts);
        return STATUS_OK;
    }
    first.count = whole->count / 2;
    rest.keys += first.count;
    rest.count -= first.count;
    TRY(copy_in_parts(store, &first, counts, is_gone, err));
    return copy_in_parts(store, &rest, counts, is_gone, err);
}

static enum status copy_all(struct worker *store, struct copy_batch whole, struct copy_counts *counts,
    bool *is_gone, struct error *err)
{
    struct copy_batch part = whole;

    *is_gone = false;
    for (size_t done = 0; done < whole.count && !*is_gone; done += part.count) {
        part.keys = whole.keys + done;
        part.count = whole.count - done < COPY_BATCH_KEYS ? whole.count - done : COPY_BATCH_KEYS;
        TRY(copy_in_parts(store, &part, counts, is_gone, err));
    }
    return STATUS_OK;
}

enum status copy_work_force(struct worker *store, int64_t index_id, const struct entity_key *keys,
    size_t count, struct copy_counts *counts, struct error *err)
{
    const struct copy_batch whole = { .index_id = index_id, .keys = keys, .count = count, .force = true };
    bool is_gone;

    return copy_all(store, whole, counts, &is_gone, err);
}

/* ---- intents of several rules ---- */

static int by_rule(const void *a, const void *b)
{
    const struct intent *x = a, *y = b;

    return (x->table_id > y->table_id) - (x->table_id < y->table_id);
}

/* Intents of one rule, which does not exist any more. */
struct orphans {
    const struct intent *intents;
    size_t count;
    int64_t removed;
};

static enum status delete_orphans(struct session *session, void *context, struct error *err)
{
    struct orphans *orphans = context;
    struct key_arrays keys;
    struct pg_params params;
    PG_RESULT taken = NULL;

    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < orphans->count; i++)
        key_arrays_put(
            &keys, orphans->intents[i].table_id, &orphans->intents[i].key, orphans->intents[i].bucket);
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_int2(&params, INTENT_COPY);
    TRY(session_begin_statement(session, &sql_intent_take, &params, &taken, err));
    orphans->removed = PQntuples(taken);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static enum status copy_of_rule(struct worker *store, const struct intent *intents, size_t count,
    struct arena *arena, struct copy_counts *counts, struct error *err)
{
    struct entity_key *keys = ARENA_ARRAY(arena, struct entity_key, count);
    struct orphans orphans = { .intents = intents, .count = count };
    bool is_gone;

    for (size_t i = 0; i < count; i++)
        keys[i] = intents[i].key;
    TRY(copy_all(store, (struct copy_batch){ .index_id = intents[0].table_id, .keys = keys, .count = count },
        counts, &is_gone, err));
    if (!is_gone)
        return STATUS_OK;
    TRY(worker_attempt(store, delete_orphans, &orphans, err));
    counts->intents_removed += orphans.removed;
    return STATUS_OK;
}

static enum status copy_each_rule(struct worker *store, struct intent *sorted, size_t count,
    struct arena *arena, struct copy_counts *counts, struct error *err)
{
    for (size_t begin_at = 0, end; begin_at < count; begin_at = end) {
        for (end = begin_at + 1; end < count && sorted[end].table_id == sorted[begin_at].table_id; end++)
            ;
        TRY(copy_of_rule(store, sorted + begin_at, end - begin_at, arena, counts, err));
    }
    return STATUS_OK;
}

enum status copy_work_keys(struct worker *store, const struct intent *intents, size_t count,
    struct copy_counts *counts, struct error *err)
{
    struct arena arena;
    struct intent *sorted;
    enum status status;

    if (count == 0)
        return STATUS_OK;
    arena_init(&arena);
    sorted = ARENA_ARRAY(&arena, struct intent, count);
    memcpy(sorted, intents, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_rule);
    status = copy_each_rule(store, sorted, count, &arena, counts, err);
    arena_cleanup(&arena);
    return status;
}
