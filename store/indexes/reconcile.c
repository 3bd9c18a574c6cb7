/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconcile.c - makes entries agree with their sources, a batch of keys per transaction.
 *
 *   flight 1   BEGIN; fence; catalogue; lock and read the state rows, and insert the missing ones; remove the intents;
 *              dead letters, sources; in one more flight what was not at its ctid
 *   plan       in C, pure: domain/reconcile_plan
 *   flight 2   entries: write the new ones, and remove those whose ctids the manifests tell
 *   flight 3   entries that were not there; state rows; dead letters; marker; COMMIT, which does not wait for the disk
 *
 * The order of the statements of the first flight is essential. The sources are read after the lock (guard G8),
 * so the transaction that locks a key last has also read its source last. The intents are removed
 * before the sources are read (guard G9), so whatever a removed intent stands for has been read.
 * Entries, manifest and the removal of the intents are in one commit (guard G10).
 *
 * Unless the reconcile is forced, its commit does not wait for the disk. If a crash of the database
 * loses the commit, the intents are open again; a later commit that waited for the disk is never
 * kept while this one is lost.
 */
#include "store/indexes/reconcile.h"

#include <stdlib.h>

#include "base/failpoint.h"
#include "store/entities/entry_rows.h"
#include "store/entities/owner_rows.h"
#include "store/indexes/source_keys.h"
#include "store/indexes/source_reads.h"
#include "store/indexes/stored_entries.h"
#include "store/indexes/taken_traces.h"
#include "store/session/row_arrays.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

/*
 * Bytes of properties that a transaction reads and writes. A single source may have more, so every
 * source can be reconciled.
 */
enum { MAX_BYTES = 16 << 20 };

struct reconcile {
    const struct intent *intents;
    size_t count;
    bool force;
    bool doubts; /* the manifests may not name all entries */
    /* one for each intent, if the manifests cannot be relied on; NULL: they can */
    const struct entry_suspect *suspects;
    struct source_keys keys;
    bool is_too_large; /* nothing was done: these sources are too large for one transaction */
    int64_t intents_removed;
    struct reconcile_counts counts; /* of the present attempt */
    struct taken_traces *traces;    /* NULL: they are not wanted */
    size_t first_trace;             /* of this transaction */
};

/* ---- flight 1 ---- */

/*
 * The bound on each source, such that the sources of all keys and their entries stay within
 * MAX_BYTES.
 */
static int32_t max_of_each(const struct source_keys *keys)
{
    size_t copies = 1;

    if (keys->count <= 1)
        return INT32_MAX;
    for (size_t i = 0; i < keys->count; i++)
        if (keys->keys[i].table && keys->keys[i].table->index_count > copies)
            copies = keys->keys[i].table->index_count;
    return MAX_BYTES / (int32_t)(keys->count * copies);
}

/* The caller clears *reads, from which the keys borrow. */
static enum status read_all(
    struct session *session, struct reconcile *work, struct source_reads *reads, struct error *err)
{
    if (work->traces)
        work->traces->count = work->first_trace;
    TRY(source_reads_run(session, &work->keys, max_of_each(&work->keys), work->traces, reads, err));
    if (!work->suspects)
        TRY(source_keys_check(&work->keys, err));
    work->intents_removed = reads->intents_taken;
    work->is_too_large = !reads->is_whole;
    return STATUS_OK;
}

/* ---- unique indexes ---- */

static size_t count_questions(const struct source_keys *keys)
{
    size_t count = 0;

    for (size_t i = 0; i < keys->count; i++)
        if (keys->keys[i].table)
            count += keys->keys[i].table->index_count;
    return count;
}

/*
 * Of the indexes whose value the key does not own, those without manifests: their writers do not
 * need a lock that is held here.
 */
static uint32_t unowned_in_place(const struct source_key *key)
{
    uint32_t out = 0;

    for (size_t k = 0; key->unowned != 0 && k < key->table->index_count; k++)
        if (!index_has_manifest(key->table->indexes[k]))
            out |= key->unowned & UINT32_C(1) << k;
    return out;
}

/*
 * If an entity was written between the two readings, the owner that was read has been compared with
 * a value that the entity does not have any more. In that case the finding is dropped: either the
 * write has left an intent, and the key is reconciled again, or the entity owned its value before
 * the write and owns one after it, and there is no violation.
 */
static enum status confirm_unowned(struct session *session, struct source_keys *keys, struct error *err)
{
    struct pg_params params;
    struct name_arrays none;
    PG_RESULT rows = NULL;
    bool is_asked = false;

    for (size_t i = 0; i < keys->count; i++)
        is_asked = is_asked || unowned_in_place(&keys->keys[i]) != 0;
    if (!is_asked)
        return STATUS_OK;
    source_keys_params(keys, &session->arena, &params);
    pg_add_int4(&params, 0); /* no properties are read */
    name_arrays_init(&none, &session->arena);
    name_arrays_add(&none, &params);
    TRY(pg_query(&session->pg, &sql_source_get, &params, &rows, err));
    for (int i = 0; i < PQntuples(rows); i++) {
        struct source_key *key = &keys->keys[pg_int8(rows, i, SOURCE_N) - 1];

        if (pg_int8(rows, i, SOURCE_VERSION) != key->source.version)
            key->unowned &= ~unowned_in_place(key);
    }
    return STATUS_OK;
}

/*
 * Ask which of the keys own the values that they have. Owners change in the commits of writes. If a
 * write comes between the reading of the sources and this question, it leaves an intent, so that
 * its key is reconciled again, or confirm_unowned notices it.
 */
static enum status ask_owners(struct session *session, struct source_keys *keys, struct error *err)
{
    struct owner_question *questions =
        ARENA_ARRAY(&session->arena, struct owner_question, count_questions(keys));
    size_t count = 0;

    for (size_t i = 0; i < keys->count; i++) {
        struct source_key *key = &keys->keys[i];

        for (size_t k = 0; key->table && k < key->table->index_count; k++)
            questions[count++] =
                owner_rows_question(key->table->indexes[k], &key->key, &key->source, &session->arena);
    }
    TRY(owner_rows_ask(session, questions, count, err));
    count = 0;
    for (size_t i = 0; i < keys->count; i++) {
        struct source_key *key = &keys->keys[i];

        key->unowned = 0;
        for (size_t k = 0; key->table && k < key->table->index_count; k++, count++)
            if (questions[count].index && !questions[count].is_owner)
                key->unowned |= UINT32_C(1) << k;
    }
    return confirm_unowned(session, keys, err);
}

/* ---- plan ---- */

static void plan(struct session *session, struct reconcile *work)
{
    work->counts = (struct reconcile_counts){ .intents_removed = work->intents_removed };
    for (size_t i = 0; i < work->keys.count; i++) {
        struct source_key *key = &work->keys.keys[i];

        key->is_selected = key->is_open || work->force;
        if (!key->is_selected)
            continue;
        source_keys_plan(key, &session->arena, &key->plan);
        work->counts.keys++;
        work->counts.entries_written += (int64_t)key->plan.upsert_count;
        work->counts.entries_deleted += (int64_t)key->plan.delete_count;
        work->counts.violations += (int64_t)key->plan.violation_count;
    }
}

/* ---- flight 2 ---- */

static bool is_named(const struct manifest *manifest, const struct index_entry *entry)
{
    return manifest_find(manifest, entry->index_id, &entry->key) != NULL;
}

/* The changes of one kind, in the order of locks. */
struct change_list {
    struct entry_change *changes;
    size_t count;
};

struct entry_changes {
    struct change_list of[ENTRY_WORK_COUNT];
};

static void add_change(struct entry_changes *out, enum entry_work kind, const struct source_key *key,
    const struct index_entry *entry, struct manifest_item *item)
{
    struct change_list *list = &out->of[kind];

    list->changes[list->count++] = (struct entry_change){ *entry, &key->source, &item->ctid };
}

/* Most entries are new to their source, so they are inserted without checking whether they exist. */
static void add_upserts(const struct reconcile *work, const struct source_key *key, struct entry_changes *out)
{
    for (size_t i = 0; i < key->plan.upsert_count; i++) {
        const struct index_entry *entry = &key->plan.upserts[i];
        bool may_exist = work->doubts || is_named(&key->stored, entry);

        add_change(out, may_exist ? ENTRY_UPSERT : ENTRY_INSERT, key, entry,
            manifest_find(&key->plan.manifest, entry->index_id, &entry->key));
    }
}

static void add_deletes(const struct source_key *key, struct entry_changes *out)
{
    for (size_t i = 0; i < key->plan.delete_count; i++) {
        const struct index_entry *entry = &key->plan.deletes[i];
        struct manifest_item *item = manifest_find(&key->stored, entry->index_id, &entry->key);

        add_change(out, row_ctid_is_known(&item->ctid) ? ENTRY_DELETE_AT : ENTRY_DELETE, key, entry, item);
    }
}

static void collect_changes(const struct reconcile *work, struct arena *arena, struct entry_changes *out)
{
    size_t max = (size_t)(work->counts.entries_written + work->counts.entries_deleted);

    for (int kind = 0; kind < ENTRY_WORK_COUNT; kind++)
        out->of[kind] = (struct change_list){ ARENA_ARRAY(arena, struct entry_change, max), 0 };
    for (size_t i = 0; i < work->keys.count; i++) {
        add_upserts(work, &work->keys.keys[i], out);
        add_deletes(&work->keys.keys[i], out);
    }
    for (int kind = 0; kind < ENTRY_WORK_COUNT; kind++)
        if (out->of[kind].count > 1)
            qsort(out->of[kind].changes, out->of[kind].count, sizeof(struct entry_change),
                reconcile_plan_compare_entries);
}

static enum status send_kind(
    struct session *session, const struct entry_changes *changes, enum entry_work kind, struct error *err)
{
    return entry_rows_send(session, kind, changes->of[kind].changes, changes->of[kind].count, err);
}

static enum status take_kind(
    struct session *session, struct entry_changes *changes, enum entry_work kind, struct error *err)
{
    return entry_rows_take(session, kind, changes->of[kind].changes, &changes->of[kind].count, err);
}

/* Entries that were not at their ctids are deleted by key, with those that have no ctid, in the order of locks. */
static void add_missed(struct entry_changes *changes)
{
    struct change_list *missed = &changes->of[ENTRY_DELETE_AT], *all = &changes->of[ENTRY_DELETE];

    for (size_t i = 0; i < missed->count; i++)
        all->changes[all->count++] = missed->changes[i];
    if (missed->count > 0 && all->count > 1)
        qsort(all->changes, all->count, sizeof(all->changes[0]), reconcile_plan_compare_entries);
}

/*
 * Write the entries, and delete those that lie at their ctids. Afterwards the planned manifests have the ctids of what
 * was written, and ENTRY_DELETE of *changes has what flight 3 deletes by key.
 */
static enum status write_entries(
    struct session *session, const struct reconcile *work, struct entry_changes *changes, struct error *err)
{
    collect_changes(work, &session->arena, changes);
    if (changes->of[ENTRY_INSERT].count + changes->of[ENTRY_UPSERT].count +
            changes->of[ENTRY_DELETE_AT].count ==
        0)
        return STATUS_OK;
    TRY(send_kind(session, changes, ENTRY_INSERT, err));
    TRY(send_kind(session, changes, ENTRY_UPSERT, err));
    FAILPOINT_TRY("reconcile.between_add_and_remove", err);
    TRY(send_kind(session, changes, ENTRY_DELETE_AT, err));
    TRY(pg_sync(&session->pg, err));
    TRY(take_kind(session, changes, ENTRY_INSERT, err));
    TRY(take_kind(session, changes, ENTRY_UPSERT, err));
    TRY(take_kind(session, changes, ENTRY_DELETE_AT, err));
    TRY(pg_end(&session->pg, err));
    add_missed(changes);
    return STATUS_OK;
}

/* ---- flight 3 ---- */

/*
 * Whether to delete the state row: if the key has no entries, or if this transaction has inserted
 * the row for a key that is not reconciled.
 */
static bool loses_state(const struct source_key *key)
{
    return key->is_selected ? key->plan.manifest.count == 0 : key->applied == 0;
}

static enum status send_states(struct session *session, const struct reconcile *work, struct error *err)
{
    struct manifest_arrays changed;

    manifest_arrays_init(&changed, &session->arena);
    for (size_t i = 0; i < work->keys.count; i++) {
        const struct source_key *key = &work->keys.keys[i];

        if (key->is_selected && !loses_state(key))
            manifest_arrays_put(&changed, key->ctid, key->source.version,
                manifest_encode(&key->plan.manifest, &session->arena),
                manifest_ctids_encode(&key->plan.manifest, &session->arena));
    }
    TRY(source_keys_send_state_delete(session, &work->keys, loses_state, err));
    return manifest_arrays_send(&changed, session, err);
}

static bool is_violated(const struct reconcile_plan *plan, int64_t index_id)
{
    for (size_t i = 0; i < plan->violation_count; i++)
        if (plan->violations[i].index_id == index_id)
            return true;
    return false;
}

enum dead_letter_column { DEAD_LETTER_N, DEAD_LETTER_INDEX };

/* After a reconcile the key keeps only the dead letters of its violations, so delete all others. */
static enum status send_dead_letter_deletes(
    struct session *session, const struct reconcile *work, const PGresult *dead_letters, struct error *err)
{
    struct key_arrays keys;
    struct pg_array indexes;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    pg_array_init(&indexes, &session->arena, PG_INT8);
    for (int i = 0; i < PQntuples(dead_letters); i++) {
        const struct source_key *key = &work->keys.keys[pg_int8(dead_letters, i, DEAD_LETTER_N) - 1];
        int64_t index_id = pg_int8(dead_letters, i, DEAD_LETTER_INDEX);

        if (!key->is_selected || is_violated(&key->plan, index_id))
            continue;
        key_arrays_put(&keys, key->table_id, &key->key, key->bucket);
        pg_array_int8(&indexes, index_id);
    }
    if (indexes.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_array(&params, &indexes);
    return pg_send(&session->pg, &sql_dead_letter_delete, &params, err);
}

static enum status send_violations(struct session *session, const struct reconcile *work, struct error *err)
{
    struct key_arrays keys;
    struct pg_array indexes, causes;
    struct pg_params params;

    if (work->counts.violations == 0)
        return STATUS_OK;
    key_arrays_init(&keys, &session->arena);
    pg_array_init(&indexes, &session->arena, PG_INT8);
    pg_array_init(&causes, &session->arena, PG_TEXT);
    for (size_t i = 0; i < work->keys.count; i++) {
        const struct source_key *key = &work->keys.keys[i];

        for (size_t k = 0; k < key->plan.violation_count; k++) {
            key_arrays_put(&keys, key->table_id, &key->key, key->bucket);
            pg_array_int8(&indexes, key->plan.violations[k].index_id);
            pg_array_bytes(&causes, str_of(key->plan.violations[k].why));
        }
    }
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_array(&params, &indexes);
    pg_add_array(&params, &causes);
    return pg_send(&session->pg, &sql_dead_letter_violation, &params, err);
}

static enum status send_changes(
    struct session *session, struct reconcile *work, const PGresult *dead_letters, struct error *err)
{
    struct entry_changes changes;

    TRY(write_entries(session, work, &changes, err));
    TRY(send_kind(session, &changes, ENTRY_DELETE, err));
    TRY(send_states(session, work, err));
    TRY(send_dead_letter_deletes(session, work, dead_letters, err));
    TRY(send_violations(session, work, err));
    /* no intent would be open again after a crash, so this commit waits for the disk */
    if (work->force)
        return STATUS_OK;
    return pg_send(&session->pg, &sql_flush_later, NULL, err);
}

static enum status reconcile(struct session *session, void *context, struct error *err)
{
    struct reconcile *work = context;
    SOURCE_READS_SCOPE reads = { 0 };

    source_keys_build(&work->keys, session, &session->arena, work->intents, work->count);
    work->counts = (struct reconcile_counts){ 0 };
    work->is_too_large = false;
    if (work->keys.count == 0)
        return STATUS_OK;
    TRY(read_all(session, work, &reads, err));
    if (work->is_too_large) {
        pg_recover(&session->pg); /* rolls back, so that the intents stay open */
        return STATUS_OK;
    }
    FAILPOINT_TRY("reconcile.after_source_read", err);
    TRY(ask_owners(session, &work->keys, err));
    if (work->suspects)
        TRY(stored_entries_read(session, &work->keys, work->suspects, work->count, err));
    plan(session, work);
    if (work->traces)
        taken_traces_fill(work->traces, work->first_trace, &work->keys);
    if (work->counts.keys == 0) {
        pg_recover(&session->pg); /* rolls back: the message was a repeated or late one */
        return STATUS_OK;
    }
    TRY(send_changes(session, work, reads.dead_letters, err));
    FAILPOINT_TRY("reconcile.before_commit", err);
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

static void count_difference(const struct source_key *key, struct dead_letter_difference *out)
{
    const struct reconcile_plan *plan = &key->plan;

    *out = (struct dead_letter_difference){ .dangling = (int64_t)plan->delete_count,
        .violations = (int64_t)plan->violation_count };
    for (size_t i = 0; i < plan->upsert_count; i++) {
        if (is_named(&key->stored, &plan->upserts[i]))
            out->mismatched++;
        else
            out->missing++;
    }
}

/* Reads in one snapshot; locks and writes nothing. */
enum status reconcile_preview(struct session *session, const struct intent *intent,
    struct dead_letter_difference *out, struct error *err)
{
    struct reconcile work = { .intents = intent, .count = 1, .force = true };
    struct pg_params params;
    PG_RESULT states = NULL;
    PG_RESULT sources = NULL;

    TRY(session_refresh(session, NULL, err));
    source_keys_build(&work.keys, session, &session->arena, intent, 1);
    source_keys_params(&work.keys, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_begin_snapshot, NULL, err));
    TRY(pg_send(&session->pg, &sql_state_get, &params, err));
    TRY(source_reads_send_by_key(session, &work.keys, max_of_each(&work.keys), err));
    TRY(pg_send(&session->pg, &sql_rollback, NULL, err));
    TRY(pg_sync(&session->pg, err));
    TRY(pg_done(&session->pg, err));
    TRY(pg_next(&session->pg, &states, err));
    TRY(pg_next(&session->pg, &sources, err));
    TRY(pg_end(&session->pg, err));
    source_keys_take_states(&work.keys, states, &session->arena);
    TRY(source_keys_check(&work.keys, err));
    (void)source_reads_fill(&work.keys, sources, &session->arena);
    TRY(ask_owners(session, &work.keys, err));
    plan(session, &work);
    count_difference(&work.keys.keys[0], out);
    return STATUS_OK;
}

static enum status reconcile_at_once(struct worker *store, struct reconcile *work, struct error *err)
{
    struct error failure = { 0 };
    enum status status = worker_attempt(store, reconcile, work, &failure);

    /*
     * A duplicate key: an entry exists that no manifest names, because it or its manifest was
     * changed by hand.
     */
    if (status != STATUS_OK && pg_is_duplicate_key(&failure)) {
        work->doubts = true;
        status = worker_attempt(store, reconcile, work, &failure);
    }
    if (status != STATUS_OK && err)
        *err = failure;
    return status;
}

static void add_counts(struct reconcile_counts *counts, const struct reconcile_counts *more)
{
    counts->keys += more->keys;
    counts->entries_written += more->entries_written;
    counts->entries_deleted += more->entries_deleted;
    counts->intents_removed += more->intents_removed;
    counts->violations += more->violations;
}

static enum status reconcile_in_parts(
    struct worker *store, const struct reconcile *whole, struct reconcile_counts *counts, struct error *err)
{
    struct reconcile work = *whole, rest = *whole;

    work.first_trace = work.traces ? work.traces->count : 0;
    TRY(reconcile_at_once(store, &work, err));
    add_counts(counts, &work.counts);
    if (!work.is_too_large)
        return STATUS_OK;
    if (work.traces)
        work.traces->count = work.first_trace;
    work = *whole;
    work.count = whole->count / 2;
    rest.intents += work.count;
    rest.suspects = whole->suspects ? whole->suspects + work.count : NULL;
    rest.count -= work.count;
    TRY(reconcile_in_parts(store, &work, counts, err));
    return reconcile_in_parts(store, &rest, counts, err);
}

enum status reconcile_keys(struct worker *store, const struct intent *intents, size_t count, bool force,
    struct reconcile_counts *counts, struct error *err)
{
    const struct reconcile work = {
        .intents = intents, .count = count, .force = force, .traces = store->traces
    };

    return reconcile_in_parts(store, &work, counts, err);
}

enum status reconcile_repair(struct worker *store, const struct intent *intents,
    const struct entry_suspect *suspects, size_t count, struct reconcile_counts *counts, struct error *err)
{
    const struct reconcile work = {
        .intents = intents, .count = count, .force = true, .doubts = true, .suspects = suspects
    };

    return reconcile_in_parts(store, &work, counts, err);
}

/*
 * If a key fails when it is alone, its manifest may be undecodable; then the stored entries are
 * used instead.
 */
static enum status reconcile_one(struct worker *store, const struct intent *key, struct error *err)
{
    const struct entry_suspect nothing = { .source = key->key };
    struct reconcile_counts counts = { 0 };
    struct error cause = { 0 };
    enum status status = reconcile_keys(store, key, 1, true, &counts, &cause);

    if (status == STATUS_OK || status == STATUS_MAYBE_DONE || pg_is_transient(&cause)) {
        *err = cause;
        return status;
    }
    status = reconcile_repair(store, key, &nothing, 1, &counts, &cause);
    if (status == STATUS_OK)
        return STATUS_OK;
    return error_set(err, status, "entity (%.*s, %.*s) cannot be indexed: %.200s",
        STR_ARG(key->key.partition), STR_ARG(key->key.row), cause.message);
}

enum status reconcile_each(struct worker *store, const struct intent *keys, size_t count, struct error *err)
{
    struct reconcile_counts counts = { 0 };
    enum status status = reconcile_keys(store, keys, count, true, &counts, err);

    if (status == STATUS_OK || status == STATUS_MAYBE_DONE || pg_is_transient(err))
        return status;
    for (size_t i = 0; i < count; i++)
        TRY(reconcile_one(store, &keys[i], err));
    return STATUS_OK;
}
