/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiters.c - see the header.
 */
#include "store/lanes/waiters.h"

#include "base/clock.h"
#include "base/condition.h"
#include "domain/keys/entity_key.h"
#include "domain/reason.h"
#include "store/intents/freshness.h"
#include "store/sql.h"

/* Before the caller's deadline: the monitor's next look may be 50 ms away, and then come a read and the way. */
enum { MARGIN_US = 100000 };

/*
 * How long until it is asked for again. What reads wait for mostly comes within milliseconds, so they are asked for
 * after a quarter of the time they have waited.
 */
enum { PAUSE_US = 50000, SHORTEST_PAUSE_US = 3000, LONGEST_PAUSE_US = 250000 };

enum answer {
    ANSWER_OPEN, /* nobody could be asked: the same */
    ANSWER_DECIDED,
    ANSWER_UNKNOWN,
    ANSWER_GIVEN_UP,
};

struct waiting {
    struct operation *operation;
    enum answer answer;
    const struct error *why; /* of reads that must be fresh: OPEN, GIVEN_UP; NULL: not asked */
};

enum wait_kind { WAIT_RUN, WAIT_TRANSACTION, WAIT_FRESH, WAIT_CHANGES, WAIT_KIND_COUNT };

void waiters_init(struct waiters *waiters, int64_t most)
{
    *waiters = (struct waiters){ .most = most, .due_us = INT64_MAX };
    pthread_mutex_init(&waiters->mutex, NULL);
    condition_init(&waiters->arrived);
}

void waiters_cleanup(struct waiters *waiters)
{
    pthread_cond_destroy(&waiters->arrived);
    pthread_mutex_destroy(&waiters->mutex);
}

/* ---- the lists ---- */

bool waiters_add(struct waiters *waiters, struct operation *operation)
{
    bool taken;

    pthread_mutex_lock(&waiters->mutex);
    taken = waiters->count < waiters->most;
    if (taken) {
        operation->waits_since_us = clock_monotonic_us();
        operation->asks_again_us = 0;
        operation->next = waiters->fresh;
        waiters->fresh = operation;
        waiters->count++;
        pthread_cond_signal(&waiters->arrived);
    } else {
        waiters->refused++;
    }
    pthread_mutex_unlock(&waiters->mutex);
    return taken;
}

void waiters_count(struct waiters *waiters, int64_t *waiting, int64_t *refused)
{
    pthread_mutex_lock(&waiters->mutex);
    *waiting = waiters->count;
    *refused = waiters->refused;
    pthread_mutex_unlock(&waiters->mutex);
}

void waiters_pause(struct waiters *waiters, int64_t ms)
{
    int64_t deadline_us = clock_monotonic_us() + ms * 1000;

    pthread_mutex_lock(&waiters->mutex);
    while (!waiters->fresh && !waiters->is_called &&
           condition_wait_until(&waiters->arrived, &waiters->mutex, deadline_us))
        continue;
    waiters->is_called = false;
    pthread_mutex_unlock(&waiters->mutex);
}

void waiters_wake(struct waiters *waiters)
{
    pthread_mutex_lock(&waiters->mutex);
    waiters->is_called = true;
    pthread_cond_signal(&waiters->arrived);
    pthread_mutex_unlock(&waiters->mutex);
}

int64_t waiters_due_us(struct waiters *waiters)
{
    int64_t due_us;

    pthread_mutex_lock(&waiters->mutex);
    due_us = waiters->due_us;
    pthread_mutex_unlock(&waiters->mutex);
    return due_us;
}

/* What is to be asked for, as one list. */
static struct operation *take_list(struct waiters *waiters, enum waiters_which which)
{
    struct operation *list, **tail = &list;

    pthread_mutex_lock(&waiters->mutex);
    list = waiters->fresh;
    waiters->fresh = NULL;
    while (*tail)
        tail = &(*tail)->next;
    if (which != WAITERS_NEW_AND_DECIDED) {
        *tail = waiters->waiting;
        waiters->waiting = NULL;
        waiters->due_us = INT64_MAX;
    }
    pthread_mutex_unlock(&waiters->mutex);
    return list;
}

/* Back to those that wait; the rest is gone for good. */
static void keep(struct waiters *waiters, struct operation *first, struct operation *last, int64_t gone)
{
    int64_t due_us = INT64_MAX;

    for (const struct operation *operation = first; operation; operation = operation->next) {
        due_us = operation->asks_again_us < due_us ? operation->asks_again_us : due_us;
        if (operation == last)
            break;
    }
    pthread_mutex_lock(&waiters->mutex);
    waiters->due_us = due_us < waiters->due_us ? due_us : waiters->due_us;
    if (first) {
        last->next = waiters->waiting;
        waiters->waiting = first;
    }
    waiters->count -= gone;
    pthread_mutex_unlock(&waiters->mutex);
}

/* ---- asking ---- */

static enum wait_kind kind_of(const struct operation *operation)
{
    if (operation->kind == OPERATION_LOOKUP)
        return WAIT_FRESH;
    if (operation->kind == OPERATION_CHANGES_WAIT)
        return WAIT_CHANGES;
    return operation->kind == OPERATION_JOB_WAIT ? WAIT_RUN : WAIT_TRANSACTION;
}

static struct str id_of(const struct operation *operation)
{
    if (operation->kind == OPERATION_JOB_WAIT)
        return operation->in.jobs.operation_id;
    if (operation->kind == OPERATION_TRANSACTION_WAIT)
        return operation->in.transaction.transaction.id;
    return operation->wait_for_transaction;
}

/* A transaction's state and revision, and what they mean to who waits for it. */
static enum answer judge(const struct operation *operation, enum transaction_state state, int64_t revision)
{
    bool reads = operation->kind != OPERATION_TRANSACTION_WAIT;
    int64_t seen = reads ? -1 : operation->in.transaction.seen;

    if (!transaction_is_final(state))
        return seen >= 0 && seen != revision ? ANSWER_DECIDED : ANSWER_OPEN;
    return reads && state == TRANSACTION_DEAD ? ANSWER_GIVEN_UP : ANSWER_DECIDED;
}

static enum answer judge_row(
    enum wait_kind kind, const struct operation *operation, const PGresult *result, int row)
{
    switch (kind) {
    case WAIT_RUN:
        return ANSWER_OPEN;
    case WAIT_TRANSACTION:
        return judge(operation, (enum transaction_state)pg_int2(result, row, 1), pg_int8(result, row, 2));
    case WAIT_CHANGES:
    case WAIT_FRESH: /* asked for in another way */
    case WAIT_KIND_COUNT:
        break;
    }
    return ANSWER_DECIDED;
}

static void take_answers(
    enum wait_kind kind, const PGresult *result, struct waiting *const *asked, size_t count)
{
    /* Of those the statement has no row for. */
    static const enum answer rest[] = {
        [WAIT_RUN] = ANSWER_DECIDED,
        [WAIT_TRANSACTION] = ANSWER_UNKNOWN,
        [WAIT_CHANGES] = ANSWER_OPEN,
    };

    for (size_t i = 0; i < count; i++)
        asked[i]->answer = rest[kind];
    for (int row = 0; row < PQntuples(result); row++) {
        struct waiting *waiting = asked[pg_int8(result, row, 0) - 1];

        waiting->answer = judge_row(kind, waiting->operation, result, row);
    }
}

static void add_ids(struct pg_params *params, struct waiting *const *asked, size_t count, struct arena *arena)
{
    struct pg_array accounts, ids, buckets;

    pg_array_init(&accounts, arena, PG_TEXT);
    pg_array_init(&ids, arena, PG_TEXT);
    pg_array_init(&buckets, arena, PG_INT2);
    for (size_t i = 0; i < count; i++) {
        pg_array_bytes(&accounts, asked[i]->operation->account);
        pg_array_bytes(&ids, id_of(asked[i]->operation));
        pg_array_int2(&buckets, entity_key_bucket(0, id_of(asked[i]->operation)));
    }
    pg_add_array(params, &accounts);
    pg_add_array(params, &ids);
    pg_add_array(params, &buckets);
}

static void add_places(
    struct pg_params *params, struct waiting *const *asked, size_t count, struct arena *arena)
{
    struct pg_array feeds, numbers;

    pg_array_init(&feeds, arena, PG_INT8);
    pg_array_init(&numbers, arena, PG_INT8);
    for (size_t i = 0; i < count; i++) {
        pg_array_int8(&feeds, asked[i]->operation->in.changes.place.feed_id);
        pg_array_int8(&numbers, asked[i]->operation->in.changes.place.number);
    }
    pg_add_array(params, &feeds);
    pg_add_array(params, &numbers);
}

/* Give those of one kind their answers. Without a database they keep theirs. */
static void ask(struct session *session, enum wait_kind kind, struct waiting *const *asked, size_t count)
{
    static const struct question {
        const struct embedded *statement;
        void (*add)(
            struct pg_params *params, struct waiting *const *asked, size_t count, struct arena *arena);
    } questions[] = {
        [WAIT_RUN] = { &sql_job_open, add_ids },
        [WAIT_TRANSACTION] = { &sql_transaction_open, add_ids },
        [WAIT_CHANGES] = { &sql_feed_news, add_places },
    };
    struct pg_params params;
    PG_RESULT result = NULL;
    struct error err;

    pg_params_init(&params, &session->arena);
    questions[kind].add(&params, asked, count, &session->arena);
    if (session_ensure(session, &err) == STATUS_OK &&
        pg_query(&session->pg, questions[kind].statement, &params, &result, &err) == STATUS_OK)
        take_answers(kind, result, asked, count);
    else
        pg_recover(&session->pg);
}

static void ask_fresh(struct session *session, struct waiting *const *asked, size_t count)
{
    static const enum answer answers[] = {
        [FRESHNESS_OPEN] = ANSWER_OPEN, [FRESHNESS_NOW] = ANSWER_DECIDED, [FRESHNESS_NEVER] = ANSWER_GIVEN_UP
    };
    struct freshness_wait *waits = ARENA_ARRAY(&session->arena, struct freshness_wait, count);
    struct error err;

    for (size_t i = 0; i < count; i++)
        waits[i].operation = asked[i]->operation;
    if (freshness_ask(session, waits, count, &err) != STATUS_OK)
        pg_recover(&session->pg);
    for (size_t i = 0; i < count; i++) {
        asked[i]->answer = answers[waits[i].answer];
        asked[i]->why = &waits[i].err;
    }
}

static void ask_all(struct session *session, struct waiting *all, size_t count, int64_t now_us)
{
    struct waiting **asked = ARENA_ARRAY(&session->arena, struct waiting *, count);

    for (enum wait_kind kind = WAIT_RUN; kind < WAIT_KIND_COUNT; kind++) {
        size_t of_kind = 0;

        for (size_t i = 0; i < count; i++)
            if (kind_of(all[i].operation) == kind && all[i].operation->asks_again_us <= now_us)
                asked[of_kind++] = &all[i];
        if (of_kind > 0 && kind == WAIT_FRESH)
            ask_fresh(session, asked, of_kind);
        else if (of_kind > 0)
            ask(session, kind, asked, of_kind);
    }
}

/* ---- deciding ---- */

/* Watches go on to their deadline; what answers with the state as it is answers a little before. */
static int64_t latest_answer_us(const struct operation *operation)
{
    if (operation->deadline_us == INT64_MAX || operation->kind == OPERATION_CHANGES_WAIT)
        return operation->deadline_us;
    return operation->deadline_us - MARGIN_US;
}

static bool must_answer(const struct operation *operation, int64_t now_us)
{
    return atomic_load(&operation->cancelled) ||
           (operation->kind == OPERATION_CHANGES_WAIT && operation->in.changes.wait_until_us <= now_us) ||
           latest_answer_us(operation) <= now_us;
}

/* When to ask again: not later than it must be answered. */
static int64_t next_time(const struct operation *operation, int64_t now_us)
{
    int64_t pause_us = PAUSE_US, latest_us = latest_answer_us(operation);

    if (kind_of(operation) == WAIT_FRESH) {
        pause_us = (now_us - operation->waits_since_us) / 4;
        pause_us = pause_us > SHORTEST_PAUSE_US ? pause_us : SHORTEST_PAUSE_US;
        pause_us = pause_us < LONGEST_PAUSE_US ? pause_us : LONGEST_PAUSE_US;
    }
    return latest_us < now_us + pause_us ? latest_us : now_us + pause_us;
}

/* A read that had to be fresh. */
static void release_fresh(
    struct operation *operation, const struct waiting *waiting, enum waiters_which which, int64_t asked_us)
{
    struct error err;

    operation->in.lookup.fresh_us = asked_us;
    if (waiting->answer == ANSWER_DECIDED)
        return;
    if (which == WAITERS_ALL)
        reason_set(&err, REASON_SERVER_DRAINING, "this server is stopping: ask another");
    else if (waiting->why)
        err = *waiting->why;
    else
        reason_set(&err, REASON_NOT_FRESH_ENOUGH, "the call ended before it could be answered");
    operation_fail(operation, &err);
}

/* A read that was to see a transaction's end. */
static void release_read(struct operation *operation, enum answer answer, enum waiters_which which)
{
    struct str id = operation->wait_for_transaction;
    struct error err = { 0 };

    operation->wait_for_transaction = STR_EMPTY;
    switch (answer) {
    case ANSWER_DECIDED:
        return;
    case ANSWER_UNKNOWN:
        reason_set(&err, REASON_TRANSACTION_NOT_FOUND, "there is no transaction %.*s", STR_ARG(id));
        break;
    case ANSWER_GIVEN_UP:
        reason_set(&err, REASON_NOT_FRESH_ENOUGH,
            "transaction %.*s was given up and waits for a person: GetTransaction tells how far it came",
            STR_ARG(id));
        break;
    case ANSWER_OPEN:
        if (which == WAITERS_ALL)
            reason_set(&err, REASON_SERVER_DRAINING, "this server is stopping: ask another");
        else
            reason_set(&err, REASON_NOT_FRESH_ENOUGH,
                "transaction %.*s has not ended within the time this call had", STR_ARG(id));
        break;
    }
    operation_fail(operation, &err);
}

static void release(
    struct operation *operation, const struct waiting *waiting, enum waiters_which which, int64_t asked_us)
{
    if (operation->kind == OPERATION_JOB_WAIT)
        operation->kind = OPERATION_JOB_GET;
    else if (operation->kind == OPERATION_CHANGES_WAIT)
        operation->kind = OPERATION_CHANGES;
    else if (operation->kind == OPERATION_TRANSACTION_WAIT)
        operation->kind = OPERATION_TRANSACTION_GET;
    else if (operation->kind == OPERATION_LOOKUP)
        release_fresh(operation, waiting, which, asked_us);
    else
        release_read(operation, waiting->answer, which);
}

struct operation *waiters_take(struct waiters *waiters, struct session *session, enum waiters_which which)
{
    struct operation *list = take_list(waiters, which), *taken = NULL, *kept = NULL, *last = NULL;
    int64_t now_us = clock_monotonic_us();
    struct waiting *all;
    size_t count = 0;
    int64_t gone = 0;

    for (struct operation *operation = list; operation; operation = operation->next)
        count++;
    if (count == 0)
        return NULL;
    all = ARENA_ARRAY(&session->arena, struct waiting, count);
    for (size_t i = 0; i < count; i++, list = list->next)
        all[i].operation = list;
    if (which != WAITERS_ALL)
        ask_all(session, all, count, now_us);
    for (size_t i = 0; i < count; i++) {
        struct operation *operation = all[i].operation;

        if (all[i].answer == ANSWER_OPEN && which != WAITERS_ALL && !must_answer(operation, now_us)) {
            if (operation->asks_again_us <= now_us)
                operation->asks_again_us = next_time(operation, now_us);
            operation->next = kept;
            kept = operation;
            last = last ? last : operation;
            continue;
        }
        release(operation, &all[i], which, now_us);
        operation->next = taken;
        taken = operation;
        gone++;
    }
    keep(waiters, kept, last, gone);
    arena_cleanup(&session->arena);
    return taken;
}
