/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy_visit.c - see the header.
 *
 *   flight 1   BEGIN; fence; catalogue; insert the visit's row unless it is there; lock it
 *   flight 2   the next entries of the source's dependents
 *   copies     copy_work.c: lock the dependents, read the source, write
 *   flight 3   the place, or the end with the intents that the visit covers; COMMIT
 *
 * The row is inserted before the first entry is read, and names the intents that are open then. A
 * write of the source that commits later has an intent which is not named: it stays when the visit
 * ends, and asks for another one (guard G71). The entries of dependents commit with them, so the
 * visit finds every dependent that was there when it began, or the dependent has been changed since
 * and has an intent of its own.
 */
#include "store/copies/copy_visit.h"

#include "base/failpoint.h"
#include "domain/copies/copy_plan.h"
#include "domain/indexes/index_plan.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

struct visit {
    struct worker *store;
    struct copy_turn *turn;
    const struct intent *intent;
    bool is_too_large; /* nothing was done, and the turn's limit was lowered */
};

/* ---- flight 1 ---- */

static void key_params(const struct visit *visit, struct arena *arena, struct pg_params *params)
{
    pg_params_init(params, arena);
    pg_add_int8(params, visit->intent->table_id);
    pg_add_bytes(params, visit->intent->key.partition);
    pg_add_bytes(params, visit->intent->key.row);
}

static enum status send_begin(struct session *session, const struct visit *visit, struct error *err)
{
    struct pg_params with_bucket, params;

    TRY(session_send_begin(session, err));
    key_params(visit, &session->arena, &with_bucket);
    pg_add_int2(&with_bucket, visit->intent->bucket);
    TRY(pg_send(&session->pg, &sql_visit_begin, &with_bucket, err));
    key_params(visit, &session->arena, &params);
    TRY(pg_send(&session->pg, &sql_visit_lock, &params, err));
    return pg_sync(&session->pg, err);
}

/* *is_there: the visit is held, and visited_to is set. Otherwise there is none, or another worker is at it. */
static enum status begin_visit(struct session *session, const struct visit *visit, struct str *visited_to,
    bool *is_there, int64_t *now_us, struct error *err)
{
    PG_RESULT begun = NULL;
    PG_RESULT held = NULL;

    TRY(send_begin(session, visit, err));
    TRY(session_take_begin(session, now_us, err));
    TRY(pg_next(&session->pg, &begun, err));
    TRY(pg_next(&session->pg, &held, err));
    TRY(pg_end(&session->pg, err));
    *is_there = PQntuples(held) > 0;
    if (*is_there)
        *visited_to = arena_copy(&session->arena, pg_bytes(held, 0, PG_ONLY_COLUMN));
    return STATUS_OK;
}

/* ---- flight 2 ---- */

/* The partition key of the entries of a source's dependents. false: no dependent can name it. */
static bool find_partition(
    const struct index *index, const struct entity_key *source, struct arena *arena, struct str *out)
{
    const struct key_parts *parts = &index->partition_key;
    struct str texts[2];
    struct buf key;

    if (!copy_plan_texts(index->copies, source, texts))
        return false;
    buf_init(&key, arena);
    for (size_t i = 0; i < parts->count; i++) {
        const struct value text = { .type = PROPERTY_STRING, .bytes = texts[i] };

        if (!key_part_encode(&parts->parts[i], &text, i + 1 == parts->count, &key))
            return false;
    }
    *out = buf_str(&key);
    return true;
}

/* The dependents behind the visit's place. */
struct found {
    struct entity_key *keys;
    size_t count;
    struct str last; /* the row key of the last entry */
};

enum entry_column { ENTRY_ROW, ENTRY_PROPERTIES };

static enum status take_entries(
    const PGresult *rows, struct arena *arena, struct found *out, struct error *err)
{
    out->count = (size_t)PQntuples(rows);
    out->keys = ARENA_ARRAY(arena, struct entity_key, out->count);
    for (size_t i = 0; i < out->count; i++) {
        const struct property_list properties = { arena_copy(
            arena, pg_bytes(rows, (int)i, ENTRY_PROPERTIES)) };

        if (!index_entry_source(properties, &out->keys[i]))
            return error_set(err, STATUS_INTERNAL, "an entry of the rule's index names no dependent");
    }
    if (out->count > 0)
        out->last = arena_copy(arena, pg_bytes(rows, (int)out->count - 1, ENTRY_ROW));
    return STATUS_OK;
}

static enum status read_entries(struct session *session, const struct visit *visit, const struct index *index,
    struct str visited_to, struct found *out, struct error *err)
{
    struct str partition;
    struct pg_params params;
    PG_RESULT rows = NULL;

    if (!find_partition(index, &visit->intent->key, &session->arena, &partition))
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    pg_add_bytes(&params, partition);
    pg_add_int2(&params, entity_key_bucket(index_plan_home_table(index), partition));
    pg_add_bytes(&params, visited_to);
    pg_add_int8(&params, (int64_t)visit->turn->limit);
    TRY(pg_query(&session->pg, &sql_visit_entries, &params, &rows, err));
    return take_entries(rows, &session->arena, out, err);
}

/* ---- flight 3 ---- */

static enum status send_progress(
    struct session *session, const struct visit *visit, const struct found *found, struct error *err)
{
    struct pg_params params, letter;

    key_params(visit, &session->arena, &letter);
    pg_add_int2(&letter, visit->intent->bucket);
    TRY(pg_send(&session->pg, &sql_visit_letter_delete, &letter, err));
    key_params(visit, &session->arena, &params);
    if (visit->turn->is_over)
        return pg_send(&session->pg, &sql_visit_end, &params, err);
    pg_add_bytes(&params, found->last);
    pg_add_int8(&params, (int64_t)found->count);
    return pg_send(&session->pg, &sql_visit_advance, &params, err);
}

static enum status commit_copies(struct session *session, struct visit *visit, const struct found *found,
    const struct copy_batch *batch, struct error *err)
{
    visit->turn->is_over = found->count < visit->turn->limit;
    TRY(send_progress(session, visit, found, err));
    FAILPOINT_TRY("visit.before_commit", err);
    TRY(session_send_commit(session, err));
    TRY(session_take_commit(session, err));
    FAILPOINT("visit.after_commit");
    copy_counts_add(&visit->turn->counts, &batch->counts);
    copy_work_tell(visit->store, batch);
    return STATUS_OK;
}

static enum status forget(struct session *session, struct visit *visit, struct error *err)
{
    struct pg_params params;

    visit->turn->is_over = true;
    key_params(visit, &session->arena, &params);
    pg_add_int2(&params, visit->intent->bucket);
    TRY(pg_send(&session->pg, &sql_visit_forget, &params, err));
    TRY(session_send_commit(session, err));
    return session_take_commit(session, err);
}

/* ---- one commit ---- */

static enum status attempt(struct session *session, void *context, struct error *err)
{
    struct visit *visit = context;
    const struct index *index;
    struct found found = { .last = STR_EMPTY };
    struct copy_batch batch = { .index_id = visit->intent->table_id, .force = true };
    struct str visited_to = STR_EMPTY;
    bool is_there = false;
    int64_t now_us = 0;

    visit->turn->is_over = visit->is_too_large = false;
    TRY(begin_visit(session, visit, &visited_to, &is_there, &now_us, err));
    index = copy_work_rule(session, visit->intent->table_id);
    if (!index)
        return forget(session, visit, err);
    if (!is_there) {
        pg_recover(&session->pg);
        visit->turn->is_over = true;
        return STATUS_OK;
    }
    TRY(read_entries(session, visit, index, visited_to, &found, err));
    batch.keys = found.keys;
    batch.count = found.count;
    TRY(copy_work_run(session, &batch, now_us, err));
    if (batch.is_too_large) {
        pg_recover(&session->pg);
        visit->is_too_large = true;
        visit->turn->limit = (found.count + 1) / 2;
        return STATUS_OK;
    }
    return commit_copies(session, visit, &found, &batch, err);
}

enum status copy_visit_step(struct worker *store, struct copy_turn *turn, struct error *err)
{
    struct visit visit = { .store = store, .turn = turn, .intent = turn->intent };

    do
        TRY(worker_attempt(store, attempt, &visit, err));
    while (visit.is_too_large);
    return STATUS_OK;
}

enum status copy_visit_left(
    struct session *session, const struct intent *intent, int64_t limit, int64_t *out, struct error *err)
{
    const struct index *index = copy_work_rule(session, intent->table_id);
    struct str partition;
    struct pg_params params;
    PG_RESULT rows = NULL;

    *out = 0;
    if (!index || !find_partition(index, &intent->key, &session->arena, &partition))
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_int8(&params, index->index_id);
    pg_add_bytes(&params, intent->key.partition);
    pg_add_bytes(&params, intent->key.row);
    pg_add_bytes(&params, partition);
    pg_add_int2(&params, entity_key_bucket(index_plan_home_table(index), partition));
    pg_add_int8(&params, limit);
    TRY(pg_query(&session->pg, &sql_visit_left, &params, &rows, err));
    *out = pg_int8(rows, 0, PG_ONLY_COLUMN);
    return STATUS_OK;
}
