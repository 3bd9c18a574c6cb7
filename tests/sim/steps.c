/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steps.c - the store's part of the two steps of a worker, statement by statement: reconcile keys, and carry a
 * transaction on. The plan functions are those of the product. Guards can be left out by name, to show that the
 * simulation detects it.
 */
#include <string.h>

#include "store/indexes/reconcile.h"
#include "store/transactions/transaction_work.h"
#include "tests/sim/database.h"
#include "workers/steps/steps.h"
#include "workers/worker.h"

/* ---- reconcile ---- */

struct reading {
    bool intents[MAX_INTENTS];
    int value;
    int64_t version;
};

static void read_intents(int key, struct reading *out)
{
    sim_point("read intents");
    for (int i = 0; i < db.intent_count; i++)
        out->intents[i] =
            db.intents[i].open && db.intents[i].intent.kind == INTENT_RECONCILE && db.intents[i].what == key;
    sim_step(about_key(key), "notes the open intents, to remove them");
}

static void read_source(int key, struct reading *out)
{
    sim_point("read source");
    out->value = db.rows[key].value;
    out->version = db.rows[key].version;
    sim_step(
        about_key(key), "reads the entity: %s, version %lld", city_of(out->value), (long long)out->version);
}

static bool has_key(const struct sim_entry *entry, const struct entity_key *key)
{
    return entry->there && str_equal(str_of_bytes(entry->partition, entry->partition_len), key->partition) &&
           str_equal(str_of_bytes(entry->row, entry->row_len), key->row);
}

static struct sim_entry *find_entry(const struct entity_key *key)
{
    struct sim_entry *room = NULL;

    for (int i = 0; i < MAX_ENTRIES; i++) {
        if (has_key(&db.entries[i], key))
            return &db.entries[i];
        if (!db.entries[i].there)
            room = &db.entries[i];
    }
    return room;
}

static void write_entries(int key, const struct reconcile_plan *plan, int64_t version)
{
    for (size_t i = 0; i < plan->upsert_count; i++) {
        const struct entity_key *at = &plan->upserts[i].key;
        struct sim_entry *entry = find_entry(at);

        *entry = (struct sim_entry){ .there = true, .source = key, .version = version };
        entry->partition_len = at->partition.len;
        entry->row_len = at->row.len;
        memcpy(entry->partition, at->partition.data, at->partition.len);
        memcpy(entry->row, at->row.data, at->row.len);
    }
    for (size_t i = 0; i < plan->delete_count; i++)
        find_entry(&plan->deletes[i].key)->there = false;
}

static void settle_key(
    int key, const struct reconcile_plan *plan, const struct reading *read, struct arena *arena)
{
    struct str manifest = manifest_encode(&plan->manifest, arena);

    memcpy(db.states[key].manifest, manifest.data ? manifest.data : "", manifest.len);
    db.states[key].manifest_len = manifest.len;
    if (read->version < db.states[key].applied)
        sim_fail("I3: key %d was applied at version %lld, now at %lld", key,
            (long long)db.states[key].applied, (long long)read->version);
    db.states[key].applied = read->version;
    for (int i = 0; i < db.intent_count; i++)
        db.intents[i].open = db.intents[i].open && !read->intents[i];
    db.key_dead_letters[key] = (struct sim_dead_letter){ 0 };
}

static enum status commit_key(int key, const struct reading *read, struct arena *arena, struct error *err)
{
    struct row_state source = db_row_state(key, read->value, read->version);
    struct manifest stored = { 0 };
    struct reconcile_plan plan;

    (void)manifest_decode(str_of_bytes(db.states[key].manifest, db.states[key].manifest_len), arena, &stored);
    reconcile_plan(
        &(struct reconcile_case){
            .table = &sim_table, .key = &db.rows[key].key, .source = &source, .stored = &stored },
        arena, &plan);
    if (!db_may_commit_unflushed("commit of a reconcile", err))
        return STATUS_UNAVAILABLE;
    if (sim_without("G10")) {
        settle_key(key, &plan, read, arena);
        sim_step(about_key(key), "commits the manifest and the end of the intents");
        trace_key(key);
        sim_point("between two commits");
        if (!db.in_transaction[sim_actor()])
            return error_set(err, STATUS_UNAVAILABLE, "the connection was lost");
        write_entries(key, &plan, read->version);
    } else {
        write_entries(key, &plan, read->version);
        settle_key(key, &plan, read, arena);
    }
    sim_step(about_key(key), "commits the entry of %s, version %lld", city_of(read->value),
        (long long)read->version);
    trace_key(key);
    return db_committed_unflushed(err);
}

static enum status reconcile_key(int key, struct arena *arena, struct error *err)
{
    struct reading read = { 0 };

    if (!db_is_open(INTENT_RECONCILE, key))
        return STATUS_OK;
    TRY(db_begin("begin reconcile", err));
    sim_step(about_key(key), "begins a reconcile");
    if (sim_without("G8"))
        read_source(key, &read);
    TRY(db_lock(&db.states[key].lock, "lock state", err));
    sim_step(about_key(key), "locks the state row");
    if (!sim_without("G9"))
        read_intents(key, &read);
    if (!sim_without("G8"))
        read_source(key, &read);
    if (sim_without("G9"))
        read_intents(key, &read);
    if (db.poison == key && db.poison_left > 0) {
        db.poison_left--;
        db_rollback();
        return error_set(err, STATUS_INTERNAL, "this key fails");
    }
    return commit_key(key, &read, arena, err);
}

/* Nothing is traced. */
struct taken_traces *traces_begin(struct worker_ctx *ctx)
{
    (void)ctx;
    return NULL;
}

void traces_end(struct worker_ctx *ctx, const struct taken_traces *taken, size_t keys, int64_t begun_ticks)
{
    (void)ctx, (void)taken, (void)keys, (void)begun_ticks;
}

struct step_trace *traces_begin_step(struct worker_ctx *ctx)
{
    (void)ctx;
    return NULL;
}

void traces_end_step(struct worker_ctx *ctx, struct step_trace *trace, int64_t begun_ticks)
{
    (void)ctx, (void)trace, (void)begun_ticks;
}

/* One key after another: a batch shares one transaction, so a worker that dies in it has done nothing. */
enum status reconcile_keys(struct worker *store, const struct intent *intents, size_t count, bool force,
    struct reconcile_counts *counts, struct error *err)
{
    (void)store, (void)force, (void)counts;
    for (size_t i = 0; i < count; i++) {
        struct arena arena = { 0 };
        enum status status;

        arena_init(&arena);
        status = reconcile_key(db_key_of(&intents[i]), &arena, err);
        arena_cleanup(&arena);
        TRY(status);
    }
    return STATUS_OK;
}

/* ---- transactions ---- */

static void drop_intents(int number)
{
    for (int i = 0; i < db.intent_count; i++) {
        if (db.intents[i].intent.kind == INTENT_TRANSACTION && db.intents[i].what == number)
            db.intents[i].open = false;
    }
}

static void apply_step(
    struct sim_step *step, int number, struct intent_id id, int read_value, int64_t read_version)
{
    struct intent intent;

    if (++step->effects > 1)
        sim_fail("G14: a step of transaction %d was done %d times", number, step->effects);
    if (db.rows[step->key].version != read_version)
        sim_fail("I8: key %d was read at version %lld and is at %lld", step->key, (long long)read_version,
            (long long)db.rows[step->key].version);
    if (step->moves && read_value == 0)
        return; /* its source is absent */
    db_write(step->key, step->moves ? 0 : step->value);
    db_add_intent(id, INTENT_RECONCILE, step->key, &intent);
    if (!step->moves)
        return;
    db_write(step->to, read_value);
    db_add_intent(id, INTENT_RECONCILE, step->to, &intent);
}

static enum status lock_rows(const struct sim_step *step, struct error *err)
{
    int first = step->moves && step->to < step->key ? step->to : step->key;

    TRY(db_lock(&db.rows[first].lock, "lock row", err));
    if (step->moves)
        TRY(db_lock(&db.rows[step->to + step->key - first].lock, "lock row", err));
    return STATUS_OK;
}

static void read_row(int number, const struct sim_step *step, int *value, int64_t *version)
{
    *value = db.rows[step->key].value;
    *version = db.rows[step->key].version;
    sim_step(about_transaction(number, step), "reads the entity: %s, version %lld", city_of(*value),
        (long long)*version);
}

static void trace_step(int number, const struct sim_step *step)
{
    trace_transaction(number);
    trace_key(step->key);
    if (step->moves)
        trace_key(step->to);
}

enum status transaction_work_step(struct worker *store, const struct intent *intent, struct step_trace *trace,
    bool *finished, struct error *err)
{
    int number = db_key_of(intent), value = 0;
    struct sim_transaction *transaction = &db.transactions[number];
    struct sim_step *step;
    int64_t version = 0;
    struct intent_id id;

    (void)store, (void)trace;
    TRY(db_begin("begin step", err));
    id = db_draw_id();
    if (!sim_without("G14"))
        TRY(db_lock(&transaction->lock, "lock transaction", err));
    *finished = transaction->steps_done == STEPS;
    if (*finished) {
        if (!db_may_commit("commit of nothing", err))
            return STATUS_UNAVAILABLE;
        drop_intents(number);
        return db_committed(err);
    }
    step = &transaction->steps[transaction->steps_done];
    sim_step(about_transaction(number, step), "begins step %d", transaction->steps_done + 1);
    if (sim_without("I8"))
        read_row(number, step, &value, &version);
    TRY(lock_rows(step, err));
    sim_step(about_transaction(number, step), "locks the entity");
    sim_point("read rows");
    if (!sim_without("I8"))
        read_row(number, step, &value, &version);
    if (!db_may_commit("commit of a step", err))
        return STATUS_UNAVAILABLE;
    sim_step(about_transaction(number, step), "commits step %d", (int)(step - transaction->steps) + 1);
    apply_step(step, number, id, value, version);
    transaction->steps_done = (int)(step - transaction->steps) + 1;
    trace_step(number, step);
    *finished = transaction->steps_done == STEPS;
    if (*finished)
        drop_intents(number);
    db.transaction_dead_letters[number] = (struct sim_dead_letter){ 0 };
    return db_committed(err);
}

/* ---- copy rules, of which the simulation has none ---- */

enum status step_copy(struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err)
{
    (void)ctx, (void)intents, (void)count;
    return error_set(err, STATUS_INTERNAL, "there is no copy rule");
}

enum status step_visit(struct worker_ctx *ctx, const struct intent *intents, size_t count, struct error *err)
{
    return step_copy(ctx, intents, count, err);
}
