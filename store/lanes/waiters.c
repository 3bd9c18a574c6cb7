/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiters.c - see the header.
 */
#include "store/lanes/waiters.h"

#include "base/clock.h"
#include "base/condition.h"
#include "base/numbers.h"
#include "domain/keys/entity_key.h"
#include "domain/operations/operation_times.h"
#include "domain/reason.h"
#include "store/intents/freshness.h"
#include "store/session/session.h"
#include "store/sql.h"

/*
 * An operation is answered this long before its deadline, which leaves time for the next question,
 * a read, and the network.
 */
enum { MARGIN_US = 100000 };

/*
 * Rows that a question about one operation's tokens searches; an operation that needs more counts
 * as several.
 */
enum { PROBES_PER_UNIT = 16 };

/*
 * The time until the database is asked again: a quarter of the time that the operation has waited, within the bounds of
 * what it waits for. Freshness mostly comes within milliseconds; a watch promises changes within 50 ms.
 */
static const struct pace {
    int64_t min_us, max_us;
} paces[OPERATION_WAIT_COUNT] = {
    [OPERATION_WAIT_JOB] = { 50000, 250000 },
    [OPERATION_WAIT_TRANSACTION] = { 50000, 250000 },
    [OPERATION_WAIT_CHANGES] = { 50000, 50000 },
    [OPERATION_WAIT_FRESHNESS] = { 3000, 250000 },
};

/* Waits that are asked about less often are asked about together, at multiples of this time. */
enum { TOGETHER_US = 50000 };

enum answer {
    ANSWER_OPEN, /* the event has not come, or the database did not answer */
    ANSWER_DECIDED,
    ANSWER_UNKNOWN,
    ANSWER_GIVEN_UP,
};

/* In the operation's arena. */
struct waiter {
    struct operation *operation;
    struct waiter *next;
    int64_t weight; /* counted against the share of its account */
    int64_t since_us,
        ask_us; /* clock_monotonic_us: when it was added, when the database must be asked next */
    enum answer answer;
    const struct error *why; /* of WAIT_FRESHNESS: why it is OPEN or GIVEN_UP; NULL: not asked */
};

/* ---- what differs between the kinds of waits ---- */

static struct str id_of(const struct operation *operation)
{
    if (operation->wait_for_transaction.len > 0)
        return operation->wait_for_transaction;
    return operation_kind_facts(operation->kind)->input == OPERATION_IN_JOBS
               ? operation->in.jobs.operation_id
               : operation->in.transaction.transaction.id;
}

static void add_ids(struct pg_params *params, struct waiter *const *asked, size_t count, struct arena *arena)
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

static void add_positions(
    struct pg_params *params, struct waiter *const *asked, size_t count, struct arena *arena)
{
    struct pg_array feeds, numbers;

    pg_array_init(&feeds, arena, PG_INT8);
    pg_array_init(&numbers, arena, PG_INT8);
    for (size_t i = 0; i < count; i++) {
        pg_array_int8(&feeds, asked[i]->operation->in.changes.position.feed_id);
        pg_array_int8(&numbers, asked[i]->operation->in.changes.position.number);
    }
    pg_add_array(params, &feeds);
    pg_add_array(params, &numbers);
}

/* A row of job_open: the job has not ended. */
static enum answer judge_job(const struct operation *operation, const PGresult *result, int row)
{
    (void)operation, (void)result, (void)row;
    return ANSWER_OPEN;
}

/*
 * Every statement returns the positions of operations; transaction_open returns two more columns.
 */
enum open_column { OPEN_N, OPEN_STATE, OPEN_REVISION };

/* A row of transaction_open: its state and its revision. */
static enum answer judge_transaction(const struct operation *operation, const PGresult *result, int row)
{
    enum transaction_state state = (enum transaction_state)pg_int2(result, row, OPEN_STATE);
    bool is_read = operation->wait_for_transaction.len > 0;
    int64_t seen = is_read ? -1 : operation->in.transaction.seen;

    if (!transaction_is_final(state))
        return seen >= 0 && seen != pg_int8(result, row, OPEN_REVISION) ? ANSWER_DECIDED : ANSWER_OPEN;
    return is_read && state == TRANSACTION_DEAD ? ANSWER_GIVEN_UP : ANSWER_DECIDED;
}

/* A row of feed_news: the feed has changes behind the position. */
static enum answer judge_changes(const struct operation *operation, const PGresult *result, int row)
{
    (void)operation, (void)result, (void)row;
    return ANSWER_DECIDED;
}

/*
 * How the database is asked about a wait. Freshness has no row: freshness.h asks in several
 * statements.
 */
static const struct wait_question {
    const struct embedded *statement;
    void (*add)(struct pg_params *params, struct waiter *const *asked, size_t count, struct arena *arena);
    enum answer (*judge)(const struct operation *operation, const PGresult *result, int row);
    enum answer without_row; /* of operations for which the statement returns no row */
} wait_questions[OPERATION_WAIT_COUNT] = {
    [OPERATION_WAIT_JOB] = { &sql_job_open, add_ids, judge_job, ANSWER_DECIDED },
    [OPERATION_WAIT_TRANSACTION] = { &sql_transaction_open, add_ids, judge_transaction, ANSWER_UNKNOWN },
    [OPERATION_WAIT_CHANGES] = { &sql_feed_news, add_positions, judge_changes, ANSWER_OPEN },
};

/* ---- the lists ---- */

void waiters_init(struct waiters *waiters, int64_t max_count)
{
    *waiters = (struct waiters){ .due_us = INT64_MAX };
    fair_shares_init(&waiters->shares, max_count);
    pthread_mutex_init(&waiters->mutex, NULL);
    condition_init(&waiters->arrived);
}

void waiters_cleanup(struct waiters *waiters)
{
    pthread_cond_destroy(&waiters->arrived);
    pthread_mutex_destroy(&waiters->mutex);
}

bool waiters_must_wait(const struct operation *operation)
{
    enum operation_wait wait = operation_waits_for(operation);

    if (wait == OPERATION_WAIT_FRESHNESS)
        return operation_times_fresh_us(operation) == 0;
    return wait != OPERATION_WAIT_NONE;
}

/*
 * The cost of one question about the operation, at most a quarter of the share of an account that
 * is alone.
 */
static int64_t weight_of(const struct waiters *waiters, const struct operation *operation)
{
    int64_t probes = 0, max_weight = waiters->shares.capacity / 4;

    if (operation_waits_for(operation) == OPERATION_WAIT_FRESHNESS)
        probes = (int64_t)freshness_probes(&operation->in.lookup.freshness);
    return 1 + (probes / PROBES_PER_UNIT < max_weight ? probes / PROBES_PER_UNIT : max_weight);
}

bool waiters_add(struct waiters *waiters, struct operation *operation)
{
    int slot = fair_shares_slot(&waiters->shares, operation->account);
    int64_t weight = weight_of(waiters, operation);
    bool taken;

    pthread_mutex_lock(&waiters->mutex);
    taken = !waiters->stopped && fair_shares_take(&waiters->shares, slot, weight);
    if (taken) {
        struct waiter *waiter = ARENA_NEW(operation->arena, struct waiter);

        waiter->operation = operation;
        waiter->weight = weight;
        waiters->count++;
        waiter->since_us = clock_monotonic_us();
        waiter->next = waiters->fresh;
        waiters->fresh = waiter;
        pthread_cond_signal(&waiters->arrived);
    } else {
        waiters->refused++;
    }
    pthread_mutex_unlock(&waiters->mutex);
    return taken;
}

void waiters_stop(struct waiters *waiters)
{
    pthread_mutex_lock(&waiters->mutex);
    waiters->stopped = true;
    pthread_mutex_unlock(&waiters->mutex);
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
    while (!waiters->fresh && condition_wait_until(&waiters->arrived, &waiters->mutex, deadline_us))
        continue;
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

/* Remove the waiters that `which` names and return them as a list. */
static struct waiter *take_list(struct waiters *waiters, enum waiters_which which)
{
    struct waiter *list, **tail = &list;

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

/* Put the kept waiters back, and give back the shares of those that were released. */
static void put_back(struct waiters *waiters, struct waiter *kept, const struct waiter *released)
{
    int64_t due_us = INT64_MAX;
    struct waiter **tail = &kept;

    for (; *tail; tail = &(*tail)->next)
        due_us = (*tail)->ask_us < due_us ? (*tail)->ask_us : due_us;
    pthread_mutex_lock(&waiters->mutex);
    waiters->due_us = due_us < waiters->due_us ? due_us : waiters->due_us;
    *tail = waiters->waiting;
    waiters->waiting = kept;
    for (; released; released = released->next, waiters->count--)
        fair_shares_give_back(&waiters->shares,
            fair_shares_slot(&waiters->shares, released->operation->account), released->weight);
    pthread_mutex_unlock(&waiters->mutex);
}

/* ---- asking ---- */

static void take_answers(
    const struct wait_question *question, const PGresult *result, struct waiter *const *asked, size_t count)
{
    for (size_t i = 0; i < count; i++)
        asked[i]->answer = question->without_row;
    for (int row = 0; row < PQntuples(result); row++) {
        struct waiter *waiter = asked[pg_int8(result, row, OPEN_N) - 1];

        waiter->answer = question->judge(waiter->operation, result, row);
    }
}

/* Ask about waits of one kind. If the database does not answer, their answers stay OPEN. */
static void ask_question(
    struct session *session, const struct wait_question *question, struct waiter *const *asked, size_t count)
{
    struct pg_params params;
    PG_RESULT result = NULL;
    struct error err;

    pg_params_init(&params, &session->arena);
    question->add(&params, asked, count, &session->arena);
    if (session_ensure(session, &err) == STATUS_OK &&
        pg_query(&session->pg, question->statement, &params, &result, &err) == STATUS_OK)
        take_answers(question, result, asked, count);
    else
        pg_recover(&session->pg);
}

static void ask_freshness(struct session *session, struct waiter *const *asked, size_t count)
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

/* Ask about all waiters of the list that are due; list_count: its length. */
static void ask_due(struct session *session, struct waiter *list, size_t list_count, int64_t now_us)
{
    struct waiter **asked = ARENA_ARRAY(&session->arena, struct waiter *, list_count);

    for (enum operation_wait wait = OPERATION_WAIT_JOB; wait < OPERATION_WAIT_COUNT; wait++) {
        size_t count = 0;

        for (struct waiter *waiter = list; waiter; waiter = waiter->next)
            if (operation_waits_for(waiter->operation) == wait && waiter->ask_us <= now_us)
                asked[count++] = waiter;
        if (count > 0 && wait == OPERATION_WAIT_FRESHNESS)
            ask_freshness(session, asked, count);
        else if (count > 0)
            ask_question(session, &wait_questions[wait], asked, count);
    }
}

/* ---- deciding ---- */

/* A wait for changes lasts until the deadline; the other waits are answered a little before it. */
static int64_t latest_answer_us(const struct operation *operation)
{
    if (operation->deadline_us == INT64_MAX || operation_waits_for(operation) == OPERATION_WAIT_CHANGES)
        return operation->deadline_us;
    return operation->deadline_us - MARGIN_US;
}

static bool must_answer(const struct operation *operation, int64_t now_us)
{
    return atomic_load(&operation->cancelled) ||
           (operation_waits_for(operation) == OPERATION_WAIT_CHANGES &&
               operation->in.changes.wait_until_us <= now_us) ||
           latest_answer_us(operation) <= now_us;
}

/* When to ask again; not later than the operation must be answered. */
static int64_t next_ask_us(const struct waiter *waiter, int64_t now_us)
{
    const struct pace *pace = &paces[operation_waits_for(waiter->operation)];
    int64_t pause_us = numbers_max((now_us - waiter->since_us) / 4, pace->min_us), next_us;

    pause_us = numbers_min(pause_us, pace->max_us);
    next_us = now_us + pause_us;
    if (pause_us >= TOGETHER_US)
        next_us -= next_us % TOGETHER_US; /* still later than now */
    return numbers_min(next_us, latest_answer_us(waiter->operation));
}

/* Release a look-up that waited for freshness. */
static void release_fresh(const struct waiter *waiter, enum waiters_which which, int64_t asked_us)
{
    struct error err;

    operation_times_set_fresh(waiter->operation, asked_us);
    if (waiter->answer == ANSWER_DECIDED)
        return;
    if (which == WAITERS_ALL)
        reason_set(&err, REASON_SERVER_DRAINING, "this server is stopping: call another one");
    else if (waiter->why)
        err = *waiter->why;
    else
        reason_set(&err, REASON_NOT_FRESH_ENOUGH, "the call ended before it could be answered");
    operation_fail(waiter->operation, &err);
}

/* Release a read that waited for the end of a transaction. */
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
            "transaction %.*s was given up and waits for an operator: GetTransaction shows the steps that "
            "are done",
            STR_ARG(id));
        break;
    case ANSWER_OPEN:
        if (which == WAITERS_ALL)
            reason_set(&err, REASON_SERVER_DRAINING, "this server is stopping: call another one");
        else
            reason_set(&err, REASON_NOT_FRESH_ENOUGH,
                "transaction %.*s has not ended within the time this call had", STR_ARG(id));
        break;
    }
    operation_fail(operation, &err);
}

static void release_waiter(const struct waiter *waiter, enum waiters_which which, int64_t asked_us)
{
    struct operation *operation = waiter->operation;

    if (operation->wait_for_transaction.len > 0)
        release_read(operation, waiter->answer, which);
    else if (operation_waits_for(operation) == OPERATION_WAIT_FRESHNESS)
        release_fresh(waiter, which, asked_us);
    else
        operation->kind = operation_kind_facts(operation->kind)->becomes;
}

/* Whether the operation goes on waiting. */
static bool keeps_waiting(const struct waiter *waiter, enum waiters_which which, int64_t now_us)
{
    return waiter->answer == ANSWER_OPEN && which != WAITERS_ALL && !must_answer(waiter->operation, now_us);
}

struct operation *waiters_take(struct waiters *waiters, struct session *session, enum waiters_which which)
{
    struct waiter *list = take_list(waiters, which), *kept = NULL, *released = NULL, *next;
    int64_t now_us = clock_monotonic_us();
    struct operation *taken = NULL;
    size_t count = 0;

    for (struct waiter *waiter = list; waiter; waiter = waiter->next, count++) {
        waiter->answer = ANSWER_OPEN;
        waiter->why = NULL;
    }
    if (count == 0)
        return NULL;
    if (which != WAITERS_ALL)
        ask_due(session, list, count, now_us);
    for (struct waiter *waiter = list; waiter; waiter = next) {
        next = waiter->next;
        if (keeps_waiting(waiter, which, now_us)) {
            if (waiter->ask_us <= now_us)
                waiter->ask_us = next_ask_us(waiter, now_us);
            waiter->next = kept;
            kept = waiter;
            continue;
        }
        release_waiter(waiter, which, now_us);
        waiter->operation->next = taken;
        taken = waiter->operation;
        waiter->next = released;
        released = waiter;
    }
    put_back(waiters, kept, released);
    arena_cleanup(&session->arena);
    return taken;
}
