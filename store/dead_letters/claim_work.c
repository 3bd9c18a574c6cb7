/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim_work.c - the claims of consumers that poll, and the clean-up of dead consumers' claims.
 *
 * Each key of a dead consumer's batch is marked as a suspect under the key's own lock; the claim's
 * row is deleted last. If the worker dies in between, the next worker repeats all of it. A mark is
 * not a count, so repeating it does no harm.
 */
#include "store/dead_letters/claim_work.h"

#include "store/dead_letters/dead_letter_work.h"
#include "store/session/worker_attempt.h"
#include "store/sql.h"

struct claim_request {
    const struct claim_owner *owner;
    const struct intent *intents;
    size_t count;
    bool *marks; /* the answer, one for each intent */
};

static void owner_params(const struct claim_owner *owner, struct arena *arena, struct pg_params *params)
{
    pg_params_init(params, arena);
    pg_add_bytes(params, str_of(owner->consumer));
    pg_add_bytes(params, str_of(owner->start_id));
}

static void intent_params(
    const struct claim_request *work, bool with_ids, struct arena *arena, struct pg_params *params)
{
    struct pg_array buckets, ids, kinds, tables, partitions, rows;

    pg_array_init(&buckets, arena, PG_INT2);
    pg_array_init(&ids, arena, PG_UUID);
    pg_array_init(&kinds, arena, PG_INT2);
    pg_array_init(&tables, arena, PG_INT8);
    pg_array_init(&partitions, arena, PG_TEXT);
    pg_array_init(&rows, arena, PG_TEXT);
    for (size_t i = 0; i < work->count; i++) {
        const struct intent *intent = &work->intents[i];

        pg_array_int2(&buckets, intent->bucket);
        pg_array_intent_id(&ids, intent->id);
        pg_array_int2(&kinds, intent->kind);
        pg_array_int8(&tables, intent->table_id);
        pg_array_bytes(&partitions, intent->key.partition);
        pg_array_bytes(&rows, intent->key.row);
    }
    pg_add_array(params, &buckets);
    if (with_ids)
        pg_add_array(params, &ids);
    pg_add_array(params, &kinds);
    pg_add_array(params, &tables);
    pg_add_array(params, &partitions);
    pg_add_array(params, &rows);
}

/* found: positions of intents, from 1. */
static void mark_found(const struct claim_request *work, const PGresult *found)
{
    memset(work->marks, 0, work->count * sizeof(*work->marks));
    for (int i = 0; i < PQntuples(found); i++)
        work->marks[pg_int8(found, i, PG_ONLY_COLUMN) - 1] = true;
}

static enum status take_claim(struct session *session, void *context, struct error *err)
{
    struct claim_request *work = context;
    struct pg_params params;
    PG_RESULT found = NULL;

    owner_params(work->owner, &session->arena, &params);
    pg_add_int8(&params, work->owner->duration_ms);
    intent_params(work, true, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_claim_take, &params, &found, err));
    mark_found(work, found);
    return STATUS_OK;
}

enum status claim_work_take(struct worker *store, const struct claim_owner *owner,
    const struct intent *intents, size_t count, bool *suspects, struct error *err)
{
    struct claim_request work = { owner, intents, count, suspects };

    return worker_attempt(store, take_claim, &work, err);
}

static enum status find_waiting(struct session *session, void *context, struct error *err)
{
    struct claim_request *work = context;
    struct pg_params params;
    PG_RESULT found = NULL;

    pg_params_init(&params, &session->arena);
    intent_params(work, false, &session->arena, &params);
    TRY(pg_query(&session->pg, &sql_dead_letter_waiting, &params, &found, err));
    mark_found(work, found);
    return STATUS_OK;
}

enum status claim_work_find_waiting(
    struct worker *store, const struct intent *intents, size_t count, bool *waiting, struct error *err)
{
    struct claim_request work = { NULL, intents, count, waiting };

    return worker_attempt(store, find_waiting, &work, err);
}

static enum status renew_claim(struct session *session, void *context, struct error *err)
{
    const struct claim_owner *owner = context;
    struct pg_params params;
    PG_RESULT result = NULL;

    owner_params(owner, &session->arena, &params);
    pg_add_int8(&params, owner->duration_ms);
    return pg_query(&session->pg, &sql_claim_renew, &params, &result, err);
}

enum status claim_work_renew(struct worker *store, const struct claim_owner *owner, struct error *err)
{
    struct claim_owner copy = *owner;

    return worker_attempt(store, renew_claim, &copy, err);
}

static enum status release_claim(struct session *session, void *context, struct error *err)
{
    struct pg_params params;
    PG_RESULT result = NULL;

    owner_params(context, &session->arena, &params);
    return pg_query(&session->pg, &sql_claim_release, &params, &result, err);
}

enum status claim_work_release(struct worker *store, const struct claim_owner *owner, struct error *err)
{
    struct claim_owner copy = *owner;

    return worker_attempt(store, release_claim, &copy, err);
}

/* ---- claims of dead consumers ---- */

struct dead_claim {
    const struct claim_owner *by;
    struct arena arena; /* of the members below */
    bool found;
    struct claim_owner owner; /* of the claim that was found last: the search continues behind it */
    struct intent *intents;
    size_t count;
};

enum dead_column {
    DEAD_CONSUMER,
    DEAD_START_ID,
    DEAD_BUCKET,
    DEAD_ID,
    DEAD_KIND,
    DEAD_TABLE,
    DEAD_PARTITION,
    DEAD_ROW,
};

static enum status find_dead_claim(struct session *session, void *context, struct error *err)
{
    struct dead_claim *dead = context;
    struct pg_params params;
    PG_RESULT rows = NULL;

    owner_params(dead->by, &session->arena, &params);
    pg_add_bytes(&params, str_of(dead->owner.consumer));
    pg_add_bytes(&params, str_of(dead->owner.start_id));
    TRY(pg_query(&session->pg, &sql_claim_dead, &params, &rows, err));
    arena_cleanup(&dead->arena);
    dead->count = 0;
    dead->found = PQntuples(rows) > 0;
    if (!dead->found)
        return STATUS_OK;
    dead->owner.consumer = arena_copy(&dead->arena, pg_bytes(rows, 0, DEAD_CONSUMER)).data;
    dead->owner.start_id = arena_copy(&dead->arena, pg_bytes(rows, 0, DEAD_START_ID)).data;
    dead->intents = ARENA_ARRAY(&dead->arena, struct intent, (size_t)PQntuples(rows));
    for (int i = 0; i < PQntuples(rows) && !PQgetisnull(rows, i, DEAD_ID); i++) {
        struct intent *intent = &dead->intents[dead->count++];

        *intent = (struct intent){ .bucket = pg_int2(rows, i, DEAD_BUCKET),
            .id = pg_intent_id(rows, i, DEAD_ID),
            .kind = pg_int2(rows, i, DEAD_KIND),
            .table_id = pg_int8(rows, i, DEAD_TABLE),
            .key = { arena_copy(&dead->arena, pg_bytes(rows, i, DEAD_PARTITION)),
                arena_copy(&dead->arena, pg_bytes(rows, i, DEAD_ROW)) } };
    }
    return STATUS_OK;
}

static enum status suspect_claim(struct worker *store, const struct dead_claim *dead, struct error *err)
{
    for (size_t i = 0; i < dead->count; i++)
        TRY(dead_letter_work_suspect(store, &dead->intents[i], err));
    return claim_work_release(store, &dead->owner, err);
}

/*
 * If another transaction holds the lock of one of the keys, the claim is left for the next round.
 */
static enum status suspect_all(struct worker *store, struct dead_claim *dead, struct error *err)
{
    enum status worst = STATUS_OK;

    for (;;) {
        enum status status;

        TRY(worker_attempt(store, find_dead_claim, dead, err));
        if (!dead->found)
            return worst;
        status = suspect_claim(store, dead, err);
        if (status != STATUS_OK && status != STATUS_TIMEOUT)
            return status;
        if (status == STATUS_TIMEOUT)
            worst = status;
    }
}

enum status claim_work_suspect_dead(struct worker *store, const struct claim_owner *owner, struct error *err)
{
    struct dead_claim dead = { .by = owner, .owner = { .consumer = "", .start_id = "" } };
    enum status status;

    arena_init(&dead.arena);
    status = suspect_all(store, &dead, err);
    arena_cleanup(&dead.arena);
    return status;
}
