/* SPDX-License-Identifier: Apache-2.0 */
/*
 * freshness.c - see the header. Four questions are asked, each in one statement for all waiting
 * reads. A later question can only replace an answer by a worse one.
 */
#include "store/intents/freshness.h"

#include "domain/catalogue/table_name.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "store/intents/lag.h"
#include "store/session/session.h"
#include "store/sql.h"

enum { MAX_CAUSE = 120 };

static const struct freshness *freshness_of(const struct freshness_wait *wait)
{
    return &wait->operation->in.lookup.freshness;
}

static void set_never(struct freshness_wait *wait)
{
    wait->answer = FRESHNESS_NEVER;
}

static void set_open(struct freshness_wait *wait)
{
    if (wait->answer == FRESHNESS_NOW)
        wait->answer = FRESHNESS_OPEN;
}

/*
 * Whether tokens and lag must be checked. A strong index shows every acknowledged write, whatever
 * other indexes have to do; for it only the end of a transaction must be waited for.
 */
static bool is_asked(const struct freshness_wait *wait)
{
    return wait->answer == FRESHNESS_NOW && !wait->is_strong;
}

/* ---- transactions ---- */

/* A token that names a transaction, and the wait that it belongs to. */
struct named {
    struct freshness_wait *wait;
    struct consistency *token;
};

static size_t list_named(struct freshness_wait *waits, size_t count, struct arena *arena, struct named **out)
{
    size_t max = 0, found = 0;

    for (size_t i = 0; i < count; i++)
        max += freshness_of(&waits[i])->at_least_count;
    *out = ARENA_ARRAY(arena, struct named, max);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < freshness_of(&waits[i])->at_least_count; k++)
            if (freshness_of(&waits[i])->at_least[k].id.len > 0)
                (*out)[found++] = (struct named){ &waits[i], &freshness_of(&waits[i])->at_least[k] };
    return found;
}

static enum status take_transaction(
    struct named *named, enum transaction_state state, struct str timeline, struct error *err)
{
    struct arena *arena = named->wait->operation->arena;
    struct transaction ended = { .id = named->token->id, .account = named->token->account, .state = state };

    if (state == TRANSACTION_DEAD) {
        set_never(named->wait);
        reason_set(&named->wait->err, REASON_NOT_FRESH_ENOUGH,
            "transaction %.*s was given up and waits for an operator: GetTransaction shows the steps that "
            "are done",
            STR_ARG(named->token->id));
        return STATUS_OK;
    }
    if (!transaction_is_final(state)) {
        set_open(named->wait);
        reason_set(&named->wait->err, REASON_NOT_FRESH_ENOUGH,
            "transaction %.*s, which a token names, has not ended", STR_ARG(named->token->id));
        return STATUS_OK;
    }
    if (!transaction_decode_timeline(
            arena_copy(arena, timeline), arena, &ended.timeline, &ended.attempt_count))
        return error_set(err, STATUS_INTERNAL, "transaction %.*s cannot be read", STR_ARG(ended.id));
    if (!consistency_of_transaction(&ended, arena, named->token))
        *named->token = (struct consistency){ .account = STR_EMPTY, .id = STR_EMPTY };
    return STATUS_OK;
}

enum left_open_column { TRANSACTION_N, TRANSACTION_STATE, TRANSACTION_TIMELINE };

static enum status ask_transactions(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err)
{
    struct pg_array accounts, ids, buckets;
    struct pg_params params;
    PG_RESULT found = NULL;
    struct named *named;
    bool *known;
    size_t asked = list_named(waits, count, &session->arena, &named);

    if (asked == 0)
        return STATUS_OK;
    pg_array_init(&accounts, &session->arena, PG_TEXT);
    pg_array_init(&ids, &session->arena, PG_TEXT);
    pg_array_init(&buckets, &session->arena, PG_INT2);
    for (size_t i = 0; i < asked; i++) {
        pg_array_bytes(&accounts, named[i].token->account);
        pg_array_bytes(&ids, named[i].token->id);
        pg_array_int2(&buckets, entity_key_bucket(0, named[i].token->id));
    }
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &accounts);
    pg_add_array(&params, &ids);
    pg_add_array(&params, &buckets);
    TRY(pg_query(&session->pg, &sql_transaction_left_open, &params, &found, err));
    known = ARENA_ARRAY(&session->arena, bool, asked);
    for (int row = 0; row < PQntuples(found); row++) {
        size_t i = (size_t)pg_int8(found, row, TRANSACTION_N) - 1;

        known[i] = true;
        TRY(take_transaction(&named[i], (enum transaction_state)pg_int2(found, row, TRANSACTION_STATE),
            pg_bytes(found, row, TRANSACTION_TIMELINE), err));
    }
    for (size_t i = 0; i < asked; i++)
        if (!known[i]) {
            set_never(named[i].wait);
            reason_set(&named[i].wait->err, REASON_TRANSACTION_NOT_FOUND, "there is no transaction %.*s",
                STR_ARG(named[i].token->id));
        }
    return STATUS_OK;
}

/* ---- intents ---- */

struct blocks {
    struct pg_array owners, buckets, first, last;
};

static void add_block(struct blocks *blocks, size_t owner, const struct intent_block *block)
{
    for (size_t i = 0; i < block->bucket_count; i++) {
        pg_array_int8(&blocks->owners, (int64_t)owner);
        pg_array_int2(&blocks->buckets, block->buckets[i]);
        pg_array_intent_id(&blocks->first, intent_block_id(block, block->first));
        pg_array_intent_id(&blocks->last, intent_block_id(block, block->last));
    }
}

static void add_blocks(struct blocks *blocks, size_t owner, const struct freshness *freshness)
{
    for (size_t i = 0; i < freshness->at_least_count; i++)
        for (size_t k = 0; k < freshness->at_least[i].block_count; k++)
            add_block(blocks, owner, &freshness->at_least[i].blocks[k]);
}

enum block_column { BLOCK_N, BLOCK_DEAD_LETTER, BLOCK_DEAD, BLOCK_CAUSE };

static void take_block(struct freshness_wait *wait, const PGresult *found, int row)
{
    struct str cause;

    if (PQgetisnull(found, row, BLOCK_DEAD_LETTER) || !pg_bool(found, row, BLOCK_DEAD)) {
        set_open(wait);
        if (wait->answer == FRESHNESS_OPEN)
            reason_set(&wait->err, REASON_NOT_FRESH_ENOUGH,
                "a write that a token names has not reached the index yet");
        return;
    }
    cause = pg_bytes(found, row, BLOCK_CAUSE);
    cause.len = cause.len < MAX_CAUSE ? cause.len : MAX_CAUSE;
    set_never(wait);
    reason_set(&wait->err, REASON_NOT_FRESH_ENOUGH,
        "the index work of a write that a token names was given up; dead letter %lld waits for an operator: "
        "%.*s",
        (long long)pg_int8(found, row, BLOCK_DEAD_LETTER), STR_ARG(cause));
}

enum status freshness_ask_blocks(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err)
{
    struct pg_params params;
    struct blocks blocks;
    PG_RESULT found = NULL;

    pg_array_init(&blocks.owners, &session->arena, PG_INT8);
    pg_array_init(&blocks.buckets, &session->arena, PG_INT2);
    pg_array_init(&blocks.first, &session->arena, PG_UUID);
    pg_array_init(&blocks.last, &session->arena, PG_UUID);
    for (size_t i = 0; i < count; i++)
        if (is_asked(&waits[i]))
            add_blocks(&blocks, i, freshness_of(&waits[i]));
    if (blocks.owners.count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &blocks.owners);
    pg_add_array(&params, &blocks.buckets);
    pg_add_array(&params, &blocks.first);
    pg_add_array(&params, &blocks.last);
    TRY(pg_query(&session->pg, &sql_blocks_open, &params, &found, err));
    for (int row = 0; row < PQntuples(found); row++)
        take_block(&waits[pg_int8(found, row, BLOCK_N)], found, row);
    return STATUS_OK;
}

/* ---- staleness ---- */

bool freshness_is_recent(const struct freshness *freshness, const struct lag *lag)
{
    return !freshness->has_max_staleness || (lag->as_of > 0 && lag->age_us <= freshness->max_staleness_us);
}

/* Ask for the lag of all tables. The waits for which it is too large go to `left`. */
static enum status ask_lag_of_all(struct session *session, struct freshness_wait *waits, size_t count,
    struct freshness_wait **left, size_t *left_count, struct error *err)
{
    struct lag_seen seen = { 0 };
    bool is_known = false;

    *left_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_asked(&waits[i]) || !freshness_of(&waits[i])->has_max_staleness)
            continue;
        if (!is_known)
            TRY(lag_read(session, &seen, err));
        is_known = true;
        if (!freshness_is_recent(freshness_of(&waits[i]), &seen.behind))
            left[(*left_count)++] = &waits[i];
    }
    return STATUS_OK;
}

static void take_lag(struct freshness_wait *wait, const struct lag *lag)
{
    int64_t allowed_ms = freshness_of(wait)->max_staleness_us / 1000;

    if (lag->as_of == 0 && lag->open_intents == 0)
        return; /* there is no such index that is ready, which the look-up will say */
    if (freshness_is_recent(freshness_of(wait), lag))
        return;
    set_open(wait);
    if (lag->as_of > 0)
        reason_set(&wait->err, REASON_NOT_FRESH_ENOUGH,
            "the index is %lld ms behind, max_staleness allows %lld ms; %lld intents are open",
            (long long)(lag->age_us / 1000), (long long)allowed_ms, (long long)lag->open_intents);
    else if (lag->open_intents > LAG_MAX_OPEN)
        reason_set(&wait->err, REASON_NOT_FRESH_ENOUGH,
            "the index is behind, max_staleness allows %lld ms; more than %d intents are open",
            (long long)allowed_ms, LAG_MAX_OPEN);
    else
        reason_set(&wait->err, REASON_NOT_FRESH_ENOUGH,
            "how far the index is behind is unknown: the database's clock was set back since a write that it "
            "does not show");
}

/* Other tables may be behind, not this one; so those that are left are asked for by themselves. */
static enum status ask_staleness(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err)
{
    struct freshness_wait **left = ARENA_ARRAY(&session->arena, struct freshness_wait *, count);
    const struct operation **operations = ARENA_ARRAY(&session->arena, const struct operation *, count);
    struct lag *lags = ARENA_ARRAY(&session->arena, struct lag, count);
    size_t left_count;

    TRY(ask_lag_of_all(session, waits, count, left, &left_count, err));
    if (left_count == 0)
        return STATUS_OK;
    for (size_t i = 0; i < left_count; i++)
        operations[i] = left[i]->operation;
    TRY(lag_of_indexes(session, operations, left_count, lags, err));
    for (size_t i = 0; i < left_count; i++)
        take_lag(left[i], &lags[i]);
    return STATUS_OK;
}

/* ---- the latest ---- */

enum count_column { COUNT_N, COUNT_OPEN };

static enum status ask_latest(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err)
{
    struct freshness_wait **asked = ARENA_ARRAY(&session->arena, struct freshness_wait *, count);
    struct pg_array accounts, names;
    struct pg_params params;
    PG_RESULT found = NULL;
    size_t asked_count = 0;

    pg_array_init(&accounts, &session->arena, PG_TEXT);
    pg_array_init(&names, &session->arena, PG_TEXT);
    for (size_t i = 0; i < count; i++) {
        const struct operation *operation = waits[i].operation;

        if (!is_asked(&waits[i]) || !freshness_of(&waits[i])->latest)
            continue;
        asked[asked_count++] = &waits[i];
        pg_array_bytes(&accounts, operation->account);
        pg_array_bytes(&names, table_name_fold(operation->table, &session->arena));
    }
    if (asked_count == 0)
        return STATUS_OK;
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &accounts);
    pg_add_array(&params, &names);
    pg_add_int8(&params, FRESHNESS_MAX_OPEN + 1);
    TRY(pg_query(&session->pg, &sql_open_source_counts, &params, &found, err));
    for (int row = 0; row < PQntuples(found); row++) {
        struct freshness_wait *wait = asked[pg_int8(found, row, COUNT_N) - 1];

        if (pg_int8(found, row, COUNT_OPEN) <= FRESHNESS_MAX_OPEN)
            continue;
        set_open(wait);
        reason_set(&wait->err, REASON_NOT_FRESH_ENOUGH,
            "the index is behind with more than %d entities: an exact answer has to wait until it has caught "
            "up",
            FRESHNESS_MAX_OPEN);
    }
    return STATUS_OK;
}

/* ---- strong indexes ---- */

static bool is_strong(const struct session *session, const struct operation *operation)
{
    const struct table *entries = catalogue_find(session->catalogue, operation->account, operation->table);

    return entries && entries->entries_of && index_shows_writes_at_once(entries->entries_of);
}

static bool mark_strong(const struct session *session, struct freshness_wait *waits, size_t count)
{
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        waits[i].is_strong = is_strong(session, waits[i].operation);
        waits[i].operation->in.lookup.freshness.was_strong = waits[i].is_strong;
        found = found || waits[i].is_strong;
    }
    return found;
}

/*
 * Find out which look-ups go through a strong index. The catalogue must be at least as new as the
 * question, since another index may have the name by now.
 */
static enum status find_strong(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err)
{
    if (!mark_strong(session, waits, count))
        return STATUS_OK;
    TRY(session_refresh(session, NULL, err));
    (void)mark_strong(session, waits, count);
    return STATUS_OK;
}

static bool is_behind(const struct freshness_wait *wait)
{
    return wait->answer != FRESHNESS_NOW && !wait->is_strong;
}

static enum status ask_all(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err)
{
    for (size_t i = 0; i < count; i++)
        waits[i].answer = FRESHNESS_NOW;
    TRY(find_strong(session, waits, count, err));
    TRY(ask_transactions(session, waits, count, err));
    TRY(freshness_ask_blocks(session, waits, count, err));
    TRY(ask_staleness(session, waits, count, err));
    return ask_latest(session, waits, count, err);
}

/* With an old catalogue, an index that has become strong would be waited for as an eventual one. */
static enum status ask_by_new_catalogue(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err)
{
    bool is_waited_for = false, has_changed = false;

    TRY(ask_all(session, waits, count, err));
    for (size_t i = 0; i < count; i++)
        is_waited_for = is_waited_for || is_behind(&waits[i]);
    if (is_waited_for)
        TRY(session_refresh(session, &has_changed, err));
    return has_changed ? ask_all(session, waits, count, err) : STATUS_OK;
}

enum status freshness_ask(
    struct session *session, struct freshness_wait *waits, size_t count, struct error *err)
{
    enum status status = session_ensure(session, err);

    if (status == STATUS_OK)
        status = ask_by_new_catalogue(session, waits, count, err);
    for (size_t i = 0; i < count && status != STATUS_OK; i++) {
        waits[i].answer = FRESHNESS_OPEN;
        reason_set(&waits[i].err, REASON_NOT_FRESH_ENOUGH, "the database could not be queried");
        error_set_detail(&waits[i].err, err->message);
    }
    return status;
}
