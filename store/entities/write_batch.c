/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_batch.c - see the header.
 */
#include "store/entities/write_batch.h"

#include "base/clock.h"
#include "base/failpoint.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "domain/ticks.h"
#include "domain/writes/strong_entries.h"
#include "domain/writes/write_plan.h"
#include "store/entities/batch_intents.h"
#include "store/entities/entry_rows.h"
#include "store/entities/held_blob_rows.h"
#include "store/entities/locked_keys.h"
#include "store/entities/owner_rows.h"
#include "store/entities/part_rows.h"
#include "store/entities/state_rows.h"
#include "store/entities/write_set.h"
#include "store/feed/feed_append.h"
#include "store/session/attempt.h"
#include "store/session/row_arrays.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

enum {
    MAX_ATTEMPTS = 6,
    READS_US = 1000000,   /* microseconds; see read_first */
    CREATES_US = 1000000, /* the same; see may_hold */
    /* of stored properties, for the writes of several callers together */
    MAX_READ_BYTES = 32 << 20,
    /* of properties: a socket buffers this much, so sending does not wait for the server to read */
    MAX_BEGUN_BYTES = 32 * 1024,
};

/* ---- flight 1 ---- */

/*
 * The bound on each stored row, such that all rows stay within MAX_READ_BYTES. The rows of a single
 * operation have no bound.
 */
static int32_t max_of_each(const struct write_set *set)
{
    if (set->planned_count <= 1 || set->row_count == 0)
        return INT32_MAX;
    return MAX_READ_BYTES / (int32_t)set->row_count;
}

/* Lock or create the rows, and read them in a later statement. */
static enum status send_lock_or_create(struct session *session, const struct write_set *set,
    struct key_arrays *keys, struct pg_array *wanted, struct error *err)
{
    struct state_arrays offered;
    struct pg_params params;

    state_arrays_init(&offered, &session->arena);
    for (size_t i = 0; i < set->row_count; i++)
        state_arrays_put(&offered, &set->rows[i].offered);
    pg_params_init(&params, &session->arena);
    key_arrays_add(keys, &params);
    state_arrays_add(&offered, &params);
    TRY(pg_send(&session->pg, &sql_entity_lock, &params, err));

    pg_params_init(&params, &session->arena);
    key_arrays_add(keys, &params);
    pg_add_array(&params, wanted);
    pg_add_int4(&params, max_of_each(set));
    return pg_send(&session->pg, &sql_entity_locked, &params, err);
}

/* Lock and read the rows that exist: one search for each key, where the two statements above need two. */
static enum status send_hold(struct session *session, const struct write_set *set, struct key_arrays *keys,
    struct pg_array *wanted, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    key_arrays_add(keys, &params);
    pg_add_array(&params, wanted);
    pg_add_int4(&params, max_of_each(set));
    return pg_send(&session->pg, &sql_entity_hold, &params, err);
}

static enum status send_rows(struct session *session, const struct write_set *set, struct error *err)
{
    struct key_arrays keys;
    struct pg_array wanted;

    key_arrays_init(&keys, &session->arena);
    pg_array_init(&wanted, &session->arena, PG_BOOL);
    for (size_t i = 0; i < set->row_count; i++) {
        const struct plan_row *row = &set->rows[i];

        key_arrays_put(&keys, row->table->table_id, &row->key, row->bucket);
        pg_array_bool(&wanted, row->reads_properties);
    }
    if (set->are_held)
        return send_hold(session, set, &keys, &wanted, err);
    return send_lock_or_create(session, set, &keys, &wanted, err);
}

static enum status send_locks(struct session *session, const struct write_set *set, struct error *err)
{
    TRY(send_rows(session, set, err));
    TRY(request_rows_send_get(session, &set->requests, err));
    TRY(state_rows_send_hold(session, set, err));
    return part_rows_send_list(session, set, err);
}

enum created_column { CREATED_TABLE, CREATED_PARTITION, CREATED_ROW };

/* Mark the rows that entity_lock has inserted: it returns their keys in the order of the rows. */
static void mark_created(struct write_set *set, const PGresult *result)
{
    size_t next = 0;

    for (int i = 0; i < PQntuples(result); i++) {
        struct entity_key key = { pg_bytes(result, i, CREATED_PARTITION), pg_bytes(result, i, CREATED_ROW) };

        while (
            next < set->row_count && (set->rows[next].table->table_id != pg_int8(result, i, CREATED_TABLE) ||
                                         entity_key_compare(&set->rows[next].key, &key) != 0))
            next++;
        if (next < set->row_count)
            set->rows[next++].created = true;
    }
}

enum locked_column {
    LOCKED_N,
    LOCKED_VERSION,
    LOCKED_TS,
    LOCKED_DEAD,
    LOCKED_PROPERTIES,
    LOCKED_EXPIRES,
    LOCKED_IS_DUE,
    LOCKED_CTID,
};

/* STATUS_LIMIT: the stored rows have more bytes than may be in memory at once. */
static enum status fill_stored(
    struct write_set *set, const PGresult *result, struct arena *arena, struct error *err)
{
    set->ctids = ARENA_ARRAY(arena, struct str, set->row_count);
    for (int i = 0; i < PQntuples(result); i++)
        if (PQgetisnull(result, i, LOCKED_PROPERTIES))
            return error_set(err, STATUS_LIMIT, "the rows of these writes are too large to be read together");
    for (int i = 0; i < PQntuples(result); i++) {
        size_t n = (size_t)pg_int8(result, i, LOCKED_N) - 1;
        struct plan_row *row = &set->rows[n];

        set->ctids[n] = arena_copy(arena, pg_bytes(result, i, LOCKED_CTID));
        if (row->created)
            continue;
        row->stored = (struct row_state){
            .live = !pg_bool(result, i, LOCKED_DEAD),
            .version = pg_int8(result, i, LOCKED_VERSION),
            .ts = pg_int8(result, i, LOCKED_TS),
            .properties = { arena_copy(arena, pg_bytes(result, i, LOCKED_PROPERTIES)) },
            .expires = pg_int8(result, i, LOCKED_EXPIRES),
        };
        row->now = write_plan_visible(&row->stored, pg_bool(result, i, LOCKED_IS_DUE));
    }
    return STATUS_OK;
}

/* A row that is missing is not held: another transaction may create it now. */
static enum status check_held(struct write_set *set, const PGresult *stored, struct error *err)
{
    set->lacks_rows = (size_t)PQntuples(stored) < set->row_count;
    return set->lacks_rows ? error_set(err, STATUS_STALE, "an entity of the batch does not exist")
                           : STATUS_OK;
}

static enum status take_rows(
    struct session *session, struct write_set *set, PGresult **stored, struct error *err)
{
    PG_RESULT created = NULL;

    if (set->are_held) {
        TRY(pg_next(&session->pg, stored, err));
        return check_held(set, *stored, err);
    }
    TRY(pg_next(&session->pg, &created, err));
    mark_created(set, created);
    return pg_next(&session->pg, stored, err);
}

static enum status take_locks(struct session *session, struct write_set *set, struct error *err)
{
    PG_RESULT stored = NULL;

    TRY(take_rows(session, set, &stored, err));
    TRY(request_rows_take(session, &set->requests, err));
    TRY(state_rows_take(session, set, err));
    TRY(part_rows_take_list(session, set, err));
    TRY(pg_end(&session->pg, err));
    TRY(fill_stored(set, stored, &session->arena, err));
    TRY(part_rows_read(session, set, err));
    return held_blob_rows_lock(session, set, err);
}

static enum status begin_and_lock(
    struct session *session, struct write_set *set, int64_t *now_us, struct error *err)
{
    TRY(session_send_begin(session, err));
    TRY(send_locks(session, set, err));
    TRY(pg_sync(&session->pg, err));
    TRY(session_take_begin(session, now_us, err));
    return take_locks(session, set, err);
}

enum status write_batch_lock_more(struct session *session, struct write_set *set, struct error *err)
{
    TRY(send_locks(session, set, err));
    TRY(pg_sync(&session->pg, err));
    return take_locks(session, set, err);
}

enum status write_batch_lock_owners(struct session *session, struct write_set *set,
    void (*plan)(void *context), void *context, struct error *err)
{
    struct row_state *before;

    if (!set->owners)
        return STATUS_OK;
    before = ARENA_ARRAY(&session->arena, struct row_state, set->row_count);
    for (size_t i = 0; i < set->row_count; i++)
        before[i] = set->rows[i].now;
    set->owners->is_collecting = true;
    plan(context);
    for (size_t i = 0; i < set->row_count; i++)
        set->rows[i].now = before[i];
    unique_owners_sort(set->owners);
    return owner_rows_lock(session, set->owners, err);
}

/* ---- flight 2 ---- */

enum status write_batch_send_removals(struct session *session, const struct write_set *set, struct error *err)
{
    struct key_arrays keys;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < set->row_count; i++) {
        const struct plan_row *row = &set->rows[i];

        if (write_plan_action(row) == ROW_REMOVE)
            key_arrays_put(&keys, row->table->table_id, &row->key, row->bucket);
    }
    if (keys.tables.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    return pg_send(&session->pg, &sql_entity_remove, &params, err);
}

static enum status send_updates(struct session *session, const struct write_set *set, struct error *err)
{
    struct pg_array ctids;
    struct state_arrays states;
    struct pg_params params;

    pg_array_init(&ctids, &session->arena, PG_TID);
    state_arrays_init(&states, &session->arena);
    for (size_t i = 0; i < set->row_count; i++) {
        if (!write_set_updates(&set->rows[i]))
            continue;
        pg_array_bytes(&ctids, set->ctids[i]);
        state_arrays_put(&states, &set->rows[i].now);
    }
    if (ctids.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &ctids);
    state_arrays_add(&states, &params);
    return pg_send(&session->pg, &sql_entity_update, &params, err);
}

/*
 * Send the entries of strong indexes: planned from the states that the locked rows had before and
 * have after the writes (guards G34, G40).
 */
static enum status send_entries(struct session *session, const struct write_set *set, struct error *err)
{
    struct strong_entries entries;

    strong_entries_plan(set->rows, set->row_count, &session->arena, &entries);
    TRY(state_rows_send(session, set, err));
    TRY(entry_rows_send(session, ENTRY_DELETE, entries.deletes, entries.delete_count, err));
    return entry_rows_send(session, ENTRY_UPSERT, entries.upserts, entries.upsert_count, err);
}

enum status write_batch_send_changes(struct session *session, const struct write_set *set,
    struct intent *intents, size_t *intent_count, struct error *err)
{
    TRY(batch_intents_send(session, set, intents, intent_count, err));
    TRY(send_updates(session, set, err));
    TRY(write_batch_send_removals(session, set, err));
    TRY(part_rows_send(session, set, err));
    if (set->owners)
        TRY(owner_rows_send(session, set->owners, err));
    TRY(send_entries(session, set, err));
    TRY(held_blob_rows_send(session, set, err));
    return feed_append_send(session, set->rows, set->row_count, err);
}

struct planning {
    const struct write_set *set;
    struct write_clock clock;
    int64_t epoch;
    struct arena *arena;
};

/*
 * Plan all operations. A repeated request is answered from its record; a request that is decided
 * here gets a record.
 */
static void plan(void *context)
{
    const struct planning *planning = context;
    const struct write_set *set = planning->set;
    bool is_collecting = set->owners && set->owners->is_collecting;

    for (size_t i = 0; i < set->planned_count; i++) {
        const struct planned *planned = &set->planned[i];
        struct operation *operation = planned->operation;
        struct request *request = request_rows_find(&set->requests, operation);
        struct str digest = STR_EMPTY;

        if (request) {
            digest = request_record_digest(operation, planned->rows[0]->table->table_id, planning->arena);
            request_rows_adopt(request, digest);
        }
        if (request && request->record.response.len > 0) {
            request_record_replay(&request->record, digest, operation);
            continue;
        }
        write_plan_operation(operation, planned->rows, planning->clock);
        if (is_collecting)
            continue;
        operation->out.write.left_open = write_set_left_open(set, planned, planning->epoch, operation->arena);
        if (request)
            request_rows_note(request, operation, digest, planning->arena);
    }
}

static bool changes_anything(const struct write_set *set)
{
    for (size_t i = 0; i < set->requests.count; i++)
        if (set->requests.items[i].is_new)
            return true;
    for (size_t i = 0; i < set->row_count; i++)
        if (set->rows[i].created || write_plan_action(&set->rows[i]) != ROW_KEEP)
            return true;
    return false;
}

static enum status run_planned(
    struct session *session, struct write_set *set, const struct commit_observer *observer, struct error *err)
{
    struct planning planning = { .set = set,
        .clock = { .floor = session->catalogue->floor, .ticks = session->now_ticks },
        .epoch = session->catalogue->epoch,
        .arena = &session->arena };
    struct intent *intents = ARENA_ARRAY(&session->arena, struct intent, set->intent_count);
    size_t intent_count = 0;
    int64_t now_us = 0;

    TRY(begin_and_lock(session, set, &now_us, err));
    set->ids = session_reserve_intents(session, now_us, set->intent_count);
    planning.clock.due = ticks_from_unix_us(now_us);
    TRY(write_batch_lock_owners(session, set, plan, &planning, err));
    plan(&planning);
    if (set->owners && set->owners->is_incomplete && set->planned_count > 1)
        return error_set(
            err, STATUS_LIMIT, "writes of the batch change values that other writes of it depend on");
    if (!changes_anything(set)) {
        /* rolls back: nothing was written, and the locks are released */
        pg_recover(&session->pg);
        return STATUS_OK;
    }
    TRY(write_batch_send_changes(session, set, intents, &intent_count, err));
    TRY(request_rows_send_insert(session, &set->requests, err));
    FAILPOINT_TRY("write.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(batch_intents_take_commit(session, set, intents, intent_count, err));
    FAILPOINT("write.after_commit");
    if (intent_count > 0)
        observer->intents_committed(observer->context, intents, intent_count);
    return STATUS_OK;
}

/* ---- the blind path ---- */

/* The parameters that entity_upsert_change has in addition. The rows are sorted by table. */
static void add_feeds(struct pg_params *params, const struct write_set *set, struct arena *arena)
{
    struct pg_array tables, feeds;
    int64_t last_id = 0;

    pg_array_init(&tables, arena, PG_INT8);
    pg_array_init(&feeds, arena, PG_INT8);
    for (size_t i = 0; i < set->row_count; i++) {
        const struct table *table = set->rows[i].table;

        if (table->feed_id && table->table_id != last_id) {
            pg_array_int8(&tables, table->table_id);
            pg_array_int8(&feeds, table->feed_id);
        }
        last_id = table->table_id;
    }
    pg_add_array(params, &tables);
    pg_add_array(params, &feeds);
}

/* One upsert, without arrays: the same parameters as the statement with arrays. */
static enum status send_upsert(struct session *session, const struct plan_row *row, struct error *err)
{
    struct pg_params params;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, row->table->table_id);
    pg_add_bytes(&params, row->key.partition);
    pg_add_bytes(&params, row->key.row);
    pg_add_int2(&params, row->bucket);
    pg_add_int8(&params, row->offered.ts);
    pg_add_bytes(&params, row->offered.properties.bytes);
    pg_add_int8(&params, session->catalogue->floor);
    pg_add_int8(&params, session->catalogue->version);
    return pg_send(&session->pg, &sql_entity_upsert_one, &params, err);
}

/* The upserts, and the changes of those whose tables have a feed. */
static enum status send_upsert_arrays(struct session *session, const struct write_set *set, struct error *err)
{
    struct key_arrays keys;
    struct pg_array ts, properties, upserts;
    struct pg_params params;

    key_arrays_init(&keys, &session->arena);
    pg_array_init(&upserts, &session->arena, PG_INT8);
    pg_array_init(&ts, &session->arena, PG_INT8);
    pg_array_init(&properties, &session->arena, PG_BYTEA);
    for (size_t i = 0; i < set->row_count; i++) {
        const struct plan_row *row = &set->rows[i];

        key_arrays_put(&keys, row->table->table_id, &row->key, row->bucket);
        pg_array_int8(&ts, row->offered.ts);
        pg_array_bytes(&properties, row->offered.properties.bytes);
        pg_array_int8(&upserts, set->upserts[i]);
    }
    pg_params_init(&params, &session->arena);
    key_arrays_add(&keys, &params);
    pg_add_array(&params, &ts);
    pg_add_array(&params, &properties);
    pg_add_int8(&params, session->catalogue->floor);
    pg_add_int8(&params, session->catalogue->version);
    if (set->has_feed)
        add_feeds(&params, set, &session->arena);
    else
        pg_add_array(&params, &upserts);
    return pg_send(
        &session->pg, set->has_feed ? &sql_entity_upsert_change : &sql_entity_upsert_blind, &params, err);
}

/* Send BEGIN and the fence, and ask for the time of the intents that follow. */
static enum status send_blind_begin(struct session *session, const struct write_set *set, struct error *err)
{
    if (set->leaves_intents)
        return session_send_begin(session, err);
    TRY(pg_send(&session->pg, &sql_begin, NULL, err));
    return pg_send(&session->pg, &sql_fence, NULL, err);
}

static enum status take_blind_begin(
    struct session *session, const struct write_set *set, int64_t *now_us, struct error *err)
{
    if (set->leaves_intents)
        return session_take_begin(session, now_us, err);
    TRY(pg_done(&session->pg, err));
    return pg_done(&session->pg, err);
}

/* Send BEGIN, the fence, and the upserts with their changes. */
static enum status send_upserts(struct session *session, const struct write_set *set, struct error *err)
{
    TRY(send_blind_begin(session, set, err));
    if (set->row_count == 1 && !set->has_feed && !set->is_repeated)
        return send_upsert(session, &set->rows[0], err);
    return send_upsert_arrays(session, set, err);
}

static enum status send_blind(struct session *session, const struct write_set *set, struct error *err)
{
    TRY(send_upserts(session, set, err));
    FAILPOINT_TRY("write.before_blind_commit", err);
    return session_send_guarded_commit(session, err);
}

enum written_column { WRITTEN_N, WRITTEN_VERSION, WRITTEN_TS };

static enum status ask_written(struct session *session, void *context, struct error *err)
{
    struct write_set *set = context;
    struct key_arrays keys;
    struct pg_params params;
    PG_RESULT written = NULL;

    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, session->connection_id);
    pg_add_int8(&params, session->marker_number);
    key_arrays_init(&keys, &session->arena);
    for (size_t i = 0; i < set->row_count; i++)
        key_arrays_put(&keys, set->rows[i].table->table_id, &set->rows[i].key, set->rows[i].bucket);
    key_arrays_add(&keys, &params);
    TRY(pg_query(&session->pg, &sql_entity_written, &params, &written, err));
    for (int i = 0; i < PQntuples(written); i++) {
        struct row_state *now = &set->rows[pg_int8(written, i, WRITTEN_N) - 1].now;

        now->version = pg_int8(written, i, WRITTEN_VERSION);
        now->ts = pg_int8(written, i, WRITTEN_TS);
    }
    return STATUS_OK;
}

static enum status lost_etag(struct error *err)
{
    return reason_set(err, REASON_OUTCOME_UNKNOWN,
        "the write is committed, but its ETag was lost with the connection to the database: read the entity");
}

enum upsert_column { UPSERT_VERSION, UPSERT_TS, UPSERT_CTID };

/* entity_upsert_change returns no ctids, so in a batch with a feed they are not known. */
static void fill_ctids(struct write_set *set, const PGresult *written, struct arena *arena)
{
    set->written_ctids = arena_calloc(arena, set->row_count, sizeof(*set->written_ctids));
    for (size_t i = 0; i < set->row_count && !set->has_feed; i++)
        set->written_ctids[i] = row_ctid_of(pg_bytes(written, (int)i, UPSERT_CTID));
}

static void fill_written(struct write_set *set, const PGresult *written)
{
    for (size_t i = 0; i < set->row_count; i++)
        write_plan_take_upsert(
            &set->rows[i], pg_int8(written, (int)i, UPSERT_VERSION), pg_int8(written, (int)i, UPSERT_TS));
}

/* What the database has answered to the statements of a blind write. */
struct blind_answer {
    PGresult *written;
    struct error failure; /* of a statement before COMMIT; status STATUS_OK: none */
    struct error lost;    /* why the answer is not that the transaction has committed; the same */
};

/* Take the answer, which has arrived. false: something has failed, and conclude_blind decides what. */
static bool take_blind(struct session *session, struct blind_answer *answer)
{
    answer->failure.status = pg_done(&session->pg, &answer->failure);
    if (answer->failure.status == STATUS_OK)
        answer->failure.status = pg_done(&session->pg, &answer->failure);
    if (answer->failure.status == STATUS_OK)
        answer->failure.status = pg_next(&session->pg, &answer->written, &answer->failure);
    answer->lost.status = session_take_answer(session, &answer->lost);
    return answer->failure.status == STATUS_OK && answer->lost.status == STATUS_OK &&
           PQntuples(answer->written) > 0;
}

static enum status conclude_blind(
    struct session *session, struct write_set *set, const struct blind_answer *answer, struct error *err)
{
    enum status status = answer->failure.status, committed = STATUS_OK;

    if (answer->lost.status != STATUS_OK)
        committed = session_settle_commit(session, &answer->lost, err);
    if (status == STATUS_OK && PQntuples(answer->written) == 0)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    /*
     * The upserts are committed, but the answer with their versions was lost, so the versions are
     * read back. A row that was written again since then gets no version.
     */
    if (status != STATUS_OK && committed == STATUS_OK)
        return session_ask(session, ask_written, set, err) == STATUS_OK ? STATUS_OK : lost_etag(err);
    if (status != STATUS_OK && committed != STATUS_MAYBE_DONE) {
        *err = answer->failure;
        return status;
    }
    TRY(committed);
    fill_written(set, answer->written);
    return STATUS_OK;
}

static enum status run_blind(struct session *session, struct write_set *set, struct error *err)
{
    struct blind_answer answer = { 0 };
    enum status status;

    TRY(send_blind(session, set, err));
    (void)take_blind(session, &answer);
    status = conclude_blind(session, set, &answer, err);
    PQclear(answer.written);
    return status;
}

static bool versions_known(const struct planned *planned)
{
    for (size_t i = 0; i < planned->operation->in.write.count; i++)
        if (planned->rows[i]->now.version == 0)
            return false;
    return true;
}

/* The outcome of an upsert. later: how many of the row's upserts follow; each has raised version and time by 1. */
static struct write_result result_of(const struct plan_row *row, int64_t later)
{
    bool is_known = row->now.version != 0;

    return (struct write_result){
        .etag = { row->table->table_id, is_known ? row->now.version - later : 0, etag_key(&row->key) },
        .timestamp = is_known ? row->now.ts - later : 0,
    };
}

/* Give the operations their outcomes. Imports do not return versions. */
static void answer_blind(struct write_set *set)
{
    for (size_t i = 0; i < set->planned_count; i++) {
        struct operation *operation = set->planned[i].operation;
        size_t count = operation->in.write.count;

        operation->out.write = (struct outcome_write){
            .results = ARENA_ARRAY(operation->arena, struct write_result, count),
            .errors = ARENA_ARRAY(operation->arena, struct error *, count),
            .table_id = count > 0 ? set->planned[i].rows[0]->table->table_id : 0,
        };
        for (size_t k = 0; k < count; k++) {
            const struct plan_row *row = set->planned[i].rows[k];

            operation->out.write.results[k] = result_of(row, --set->upserts[row - set->rows]);
        }
        operation->status = STATUS_OK;
        operation->error = NULL;
        if (operation->in.write.atomic && !versions_known(&set->planned[i])) {
            struct error err;

            (void)lost_etag(&err);
            operation_fail(operation, &err);
        }
    }
}

/*
 * Record the outcomes of requests. The upserts are done, and will be committed together with these
 * records.
 */
static void note_requests(const struct write_set *set, struct arena *arena)
{
    for (size_t i = 0; i < set->planned_count; i++) {
        const struct planned *planned = &set->planned[i];
        struct request *request = request_rows_find(&set->requests, planned->operation);

        if (request)
            request_rows_note(request, planned->operation,
                request_record_digest(planned->operation, planned->rows[0]->table->table_id, arena), arena);
    }
}

/*
 * An attempt without reads has failed: a request was recorded, a row of a table with a feed is dead,
 * or the connection was lost, after which requests come again. More such batches may follow, so for
 * READS_US the session reads what is stored before it writes.
 */
static void read_first(struct session *session)
{
    session->reads_until_us = clock_monotonic_us() + READS_US;
}

/* Send the upserts, and take their versions and the time of their intents. */
static enum status upsert_and_lock(
    struct session *session, struct write_set *set, int64_t *now_us, struct error *err)
{
    PG_RESULT written = NULL;

    TRY(send_upserts(session, set, err));
    TRY(pg_sync(&session->pg, err));
    TRY(take_blind_begin(session, set, now_us, err));
    TRY(pg_next(&session->pg, &written, err));
    TRY(pg_end(&session->pg, err));
    if (PQntuples(written) == 0)
        return error_set(err, STATUS_STALE, "the catalogue has changed");
    fill_written(set, written);
    if (set->leaves_intents)
        fill_ctids(set, written, &session->arena);
    return STATUS_OK;
}

/* Give the operations the tokens of their intents, whose ids are reserved once the rows are locked. */
static void reserve_intents(struct session *session, struct write_set *set, int64_t now_us)
{
    set->ids = session_reserve_intents(session, now_us, set->intent_count);
    for (size_t i = 0; i < set->planned_count; i++) {
        struct operation *operation = set->planned[i].operation;

        operation->out.write.left_open =
            write_set_left_open(set, &set->planned[i], session->catalogue->epoch, operation->arena);
    }
}

/*
 * The blind path for batches with request ids or intents, which have what the upserts return, so they
 * follow in a second flight. Records are not read; if one exists already, its primary key fails the
 * transaction (guard G5).
 */
static enum status run_blind_in_two_flights(
    struct session *session, struct write_set *set, const struct commit_observer *observer, struct error *err)
{
    struct intent *intents = ARENA_ARRAY(&session->arena, struct intent, set->intent_count);
    size_t intent_count;
    int64_t now_us = 0;

    TRY(upsert_and_lock(session, set, &now_us, err));
    answer_blind(set);
    if (set->leaves_intents)
        reserve_intents(session, set, now_us);
    note_requests(set, &session->arena);
    TRY(batch_intents_send(session, set, intents, &intent_count, err));
    TRY(request_rows_send_insert(session, &set->requests, err));
    FAILPOINT_TRY("write.before_second_commit", err);
    TRY(session_send_commit(session, err));
    TRY(batch_intents_take_commit(session, set, intents, intent_count, err));
    FAILPOINT("write.after_second_commit");
    if (intent_count > 0)
        observer->intents_committed(observer->context, intents, intent_count);
    return STATUS_OK;
}

static bool needs_two_flights(const struct write_set *set)
{
    return set->requests.count > 0 || set->leaves_intents;
}

/* ---- attempts ---- */

/* A batch as a unit of work. */
struct batch_unit {
    struct operation *batch;
    const struct commit_observer *observer;
};

/* A request may be recorded already, and a row that is to be told to a feed may be dead. */
static bool may_need_reads(const struct write_set *set)
{
    return set->requests.count > 0 || set->has_feed;
}

static enum status run_blindly(
    struct session *session, struct write_set *set, const struct commit_observer *observer, struct error *err)
{
    enum status status;

    if (needs_two_flights(set))
        status = run_blind_in_two_flights(session, set, observer, err);
    else
        status = run_blind(session, set, err);
    if (status == STATUS_OK && !needs_two_flights(set))
        answer_blind(set);
    if (status != STATUS_OK && may_need_reads(set))
        read_first(session);
    if (status != STATUS_OK && set->has_feed && pg_is_division_by_zero(err))
        return error_set(err, STATUS_STALE, "a row of the batch is dead, so the batch reads what is stored");
    return status;
}

/*
 * Whether the rows are expected to exist. A batch that inserts creates rows; and if a row was missing lately, more
 * batches with new keys may follow.
 */
static bool may_hold(const struct session *session, const struct write_set *set)
{
    return !set->has_insert && clock_monotonic_us() >= session->creates_until_us;
}

/*
 * If a row is missing, the transaction rolls back and locks or creates all rows in one statement (guard G4): to create
 * some behind locks on others would be another order of locks, in which two servers could deadlock.
 */
static enum status run_reading(
    struct session *session, struct write_set *set, const struct batch_unit *unit, struct error *err)
{
    enum status status;

    set->are_held = may_hold(session, set);
    status = run_planned(session, set, unit->observer, err);
    if (!set->lacks_rows)
        return status;
    pg_recover(&session->pg);
    session->creates_until_us = clock_monotonic_us() + CREATES_US;
    write_set_build(set, session, unit->batch);
    return run_planned(session, set, unit->observer, err);
}

static enum status attempt(struct session *session, void *context, struct error *err)
{
    const struct batch_unit *unit = context;
    struct write_set set;

    session->now_ticks = clock_ticks();
    write_set_build(&set, session, unit->batch);
    if (set.planned_count == 0)
        return session_confirm(session, operation_times_latest_us(unit->batch), err);
    if (!set.is_blind || (may_need_reads(&set) && clock_monotonic_us() < session->reads_until_us))
        return run_reading(session, &set, unit, err);
    TRY(run_blindly(session, &set, unit->observer, err));
    FAILPOINT("write.after_blind_commit");
    return STATUS_OK;
}

/*
 * A duplicate key is temporary: another server has just decided a request of this batch, or a
 * worker has inserted an index state row.
 */
static bool is_temporary(const struct error *err)
{
    return pg_is_transient(err) || pg_is_duplicate_key(err);
}

/* For sessions with locked_keys, which do not wait for a lock again. */
static bool is_temporary_without_lock(const struct error *err)
{
    return is_temporary(err) && !pg_is_lock_timeout(err);
}

/*
 * Attempt the batch until it is decided. STATUS_OK: every operation has its outcome. If the last
 * attempt too met a duplicate key, nothing was done, and the callers may try again.
 */
static enum status decide(struct session *session, struct operation *batch,
    const struct commit_observer *observer, struct error *err)
{
    struct batch_unit batch_unit = { batch, observer };
    const struct unit_of_work unit = { .attempt = attempt,
        .context = &batch_unit,
        .max_attempts = MAX_ATTEMPTS,
        .is_temporary = session->locked_keys ? is_temporary_without_lock : is_temporary };

    if (unit_of_work_run(session, &unit, err) == STATUS_OK)
        return STATUS_OK;
    if (pg_is_duplicate_key(err))
        err->status = STATUS_UNAVAILABLE;
    return err->status;
}

/*
 * If the outcome of a write with a request id is unknown, the caller may learn it by repeating the
 * request; without an id, only by reading the entities.
 */
static void fail_write(struct operation *operation, const struct error *err)
{
    attempt_fail(operation, err);
    if (err->status != STATUS_MAYBE_DONE || operation->in.write.request_id.len == 0)
        return;
    operation->error->meta_count = 0;
    error_add_meta(operation->error, "retry", STR_LITERAL("same-request-id"));
}

/* Whether the session does not wait for locks, and these writes met one: then they get no outcome here. */
static bool is_set_aside(const struct session *session, const struct error *err, struct operation *batch)
{
    if (!session->locked_keys || !pg_is_lock_timeout(err))
        return false;
    for (; batch; batch = batch->next)
        operation_times_set_detour(batch, DETOUR_LOCKED);
    return true;
}

static void run(struct session *session, struct operation *batch, const struct commit_observer *observer);

/* As run_part, for one operation. */
static enum status decide_alone(struct session *session, struct operation *operation,
    const struct commit_observer *observer, struct error *err)
{
    struct arena whole = session->arena;
    enum status status;

    arena_init(&session->arena);
    status = decide(session, operation, observer, err);
    arena_cleanup(&session->arena);
    session->arena = whole;
    return status;
}

static void run_one_by_one(struct session *session, struct operation *batch,
    const struct commit_observer *observer, const struct error *err)
{
    for (struct operation *operation = batch, *next; operation; operation = next) {
        struct error own = { 0 };

        next = operation->next;
        /*
         * After an unknown outcome nothing is repeated: a write that took effect must not be made
         * twice.
         */
        if (err->status == STATUS_MAYBE_DONE || !pg_is_open(&session->pg) || !batch->next) {
            fail_write(operation, err);
            continue;
        }
        operation->next = NULL;
        if (decide_alone(session, operation, observer, &own) != STATUS_OK &&
            !is_set_aside(session, &own, operation))
            fail_write(operation, &own);
        operation->next = next;
    }
}

/* The part has an arena of its own, which is released when the part is decided. */
static void run_part(struct session *session, struct operation *part, const struct commit_observer *observer)
{
    struct arena whole = session->arena;

    arena_init(&session->arena);
    run(session, part, observer);
    arena_cleanup(&session->arena);
    session->arena = whole;
}

/* Run a batch that has too much to read in two halves, whose rows may be twice as large. */
static void run_halves(
    struct session *session, struct operation *batch, const struct commit_observer *observer)
{
    struct operation *last = batch, *second;

    for (struct operation *end = batch->next->next; end && end->next; end = end->next->next)
        last = last->next;
    second = last->next;
    last->next = NULL;
    run_part(session, batch, observer);
    run_part(session, second, observer);
    last->next = second;
}

static void run(struct session *session, struct operation *batch, const struct commit_observer *observer)
{
    struct error err = { 0 };

    if (decide(session, batch, observer, &err) == STATUS_OK || is_set_aside(session, &err, batch))
        return;
    if (err.status == STATUS_LIMIT && batch->next)
        run_halves(session, batch, observer);
    else
        run_one_by_one(session, batch, observer, &err);
}

void write_batch_run(struct session *session, struct operation *batch, void *context)
{
    /* clears what a failed write_batch_begin or write_batch_finish has left */
    pg_recover(&session->pg);
    run(session, batch, context);
}

/* ---- in steps ---- */

/* A blind write that was sent by the thread that has submitted it. */
struct begun {
    struct write_set set;
    struct blind_answer answer;
    bool has_failed;
};

static bool may_meet_lock(const struct session *session, const struct operation *operation)
{
    struct locked_keys *keys = session->locked_keys;

    return keys && (locked_keys_met_lately(keys, clock_monotonic_us()) || locked_keys_has(keys, operation));
}

static bool may_begin(const struct session *session, const struct operation *batch)
{
    const struct operation_write *in = &batch->in.write;

    return session_is_ready(session) && !batch->next && in->count == 1 &&
           in->writes[0].properties.bytes.len <= MAX_BEGUN_BYTES && !may_meet_lock(session, batch);
}

void *write_batch_begin(struct session *session, struct operation *batch)
{
    struct begun *begun;
    struct error ignored;

    if (!may_begin(session, batch))
        return NULL;
    begun = arena_calloc(&session->arena, 1, sizeof(*begun));
    session->now_ticks = clock_ticks();
    write_set_build(&begun->set, session, batch);
    if (begun->set.planned_count != 1 || !begun->set.is_blind || may_need_reads(&begun->set) ||
        needs_two_flights(&begun->set))
        return NULL;
    return send_blind(session, &begun->set, &ignored) == STATUS_OK ? begun : NULL;
}

bool write_batch_waits(const void *begun)
{
    return ((const struct begun *)begun)->has_failed;
}

/*
 * Give the operation its outcome. It stays in the batch, to be run again, if it had no effect and may be attempted
 * once more.
 */
static void decide_begun(
    struct session *session, struct begun *begun, struct operation **batch, struct operation **decided)
{
    struct error err = { 0 };
    enum status status = STATUS_OK;

    if (begun->has_failed)
        status = conclude_blind(session, &begun->set, &begun->answer, &err);
    else
        fill_written(&begun->set, begun->answer.written);
    if (session->locked_keys && status != STATUS_OK && pg_is_lock_timeout(&err))
        locked_keys_note_met(session->locked_keys, clock_monotonic_us());
    if (status != STATUS_OK && status != STATUS_MAYBE_DONE && !err.reason)
        return;
    if (status == STATUS_OK)
        answer_blind(&begun->set);
    else
        attempt_fail(*batch, &err);
    FAILPOINT("write.after_blind_commit");
    *decided = *batch;
    *batch = NULL;
}

bool write_batch_finish(
    struct session *session, void *begun_write, struct operation **batch, struct operation **decided)
{
    struct begun *begun = begun_write;

    *decided = NULL;
    if (!begun->has_failed && !take_blind(session, &begun->answer)) {
        begun->has_failed = true;
        return true;
    }
    decide_begun(session, begun, batch, decided);
    PQclear(begun->answer.written);
    return false;
}

/* ---- writes of workers ---- */

static void ignore_intents(void *context, const struct intent *intents, size_t count)
{
    (void)context;
    (void)intents;
    (void)count;
}

void write_batch_for_worker(struct worker *store, struct session *session, struct operation *batch)
{
    struct commit_observer observer = store->observer;

    if (!observer.intents_committed)
        observer.intents_committed = ignore_intents;
    write_batch_run(session, batch, &observer);
}
