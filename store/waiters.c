/*
 * waiters.c - see the header.
 */
#include "store/waiters.h"

#include "base/clock.h"
#include "domain/entity_key.h"
#include "store/sql.h"

/* Before the caller's deadline: the monitor's next look may be 50 ms away, and then come a read and the way. */
enum { MARGIN_US = 100000 };

/* What waits for what, and what it becomes. */
static const struct waiting_kind {
    enum operation_kind waits, becomes;
    const struct embedded *open;
} kinds[] = {
    { OPERATION_RUN_WAIT, OPERATION_RUN_GET, &sql_run_open },
    { OPERATION_TRANSACTION_WAIT, OPERATION_TRANSACTION_GET, &sql_transaction_open },
};

void waiters_init(struct waiters *waiters, int64_t most)
{
    *waiters = (struct waiters){ .most = most };
    pthread_mutex_init(&waiters->mutex, NULL);
}

/* With the mutex. */
static void put(struct waiters *waiters, struct operation *operation)
{
    operation->next = waiters->first;
    waiters->first = operation;
}

bool waiters_add(struct waiters *waiters, struct operation *operation)
{
    bool has_room;

    pthread_mutex_lock(&waiters->mutex);
    has_room = waiters->count < waiters->most;
    if (has_room) {
        put(waiters, operation);
        waiters->count++;
    } else {
        waiters->refused++;
    }
    pthread_mutex_unlock(&waiters->mutex);
    return has_room;
}

/* Once more, after a look: it has its place still. */
static void wait_on(struct waiters *waiters, struct operation *operation)
{
    pthread_mutex_lock(&waiters->mutex);
    put(waiters, operation);
    pthread_mutex_unlock(&waiters->mutex);
}

static void leave(struct waiters *waiters, int64_t count)
{
    pthread_mutex_lock(&waiters->mutex);
    waiters->count -= count;
    pthread_mutex_unlock(&waiters->mutex);
}

void waiters_count(struct waiters *waiters, int64_t *waiting, int64_t *refused)
{
    pthread_mutex_lock(&waiters->mutex);
    *waiting = waiters->count;
    *refused = waiters->refused;
    pthread_mutex_unlock(&waiters->mutex);
}

static struct operation *take_all(struct waiters *waiters)
{
    struct operation *list;

    pthread_mutex_lock(&waiters->mutex);
    list = waiters->first;
    waiters->first = NULL;
    pthread_mutex_unlock(&waiters->mutex);
    return list;
}

static struct str id_of(const struct operation *operation)
{
    if (operation->kind == OPERATION_RUN_WAIT)
        return operation->in.runs.operation_id;
    return operation->in.transaction.transaction.id;
}

/* Mark in `open` those of one kind that have not finished. Without an answer all count as open. */
static void ask(struct session *session, const struct waiting_kind *kind, struct operation **waiting,
    const size_t *positions, size_t count, bool *open)
{
    struct pg_array accounts, ids, buckets;
    struct pg_params params;
    PG_RESULT result = NULL;
    struct error err;

    pg_array_init(&accounts, &session->arena, PG_TEXT);
    pg_array_init(&ids, &session->arena, PG_TEXT);
    pg_array_init(&buckets, &session->arena, PG_INT2);
    for (size_t i = 0; i < count; i++) {
        pg_array_bytes(&accounts, waiting[positions[i]]->account);
        pg_array_bytes(&ids, id_of(waiting[positions[i]]));
        pg_array_int2(&buckets, bucket_of(0, id_of(waiting[positions[i]])));
    }
    pg_params_init(&params, &session->arena);
    pg_add_array(&params, &accounts);
    pg_add_array(&params, &ids);
    pg_add_array(&params, &buckets);
    if (session_ensure(session, &err) != STATUS_OK ||
        pg_query(&session->pg, kind->open, &params, &result, &err) != STATUS_OK) {
        pg_recover(&session->pg);
        return;
    }
    for (size_t i = 0; i < count; i++)
        open[positions[i]] = false;
    for (int row = 0; row < PQntuples(result); row++)
        open[positions[pg_int8(result, row, 0) - 1]] = true;
}

static void ask_all(struct session *session, struct operation **waiting, size_t count, bool *open)
{
    size_t *positions = ARENA_ARRAY(&session->arena, size_t, count);

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        size_t of_kind = 0;

        for (size_t i = 0; i < count; i++)
            if (waiting[i]->kind == kinds[k].waits)
                positions[of_kind++] = i;
        if (of_kind > 0)
            ask(session, &kinds[k], waiting, positions, of_kind, open);
    }
}

static bool must_answer(const struct operation *operation, int64_t now_us)
{
    return atomic_load(&operation->cancelled) ||
           (operation->deadline_us != INT64_MAX && operation->deadline_us - now_us < MARGIN_US);
}

static void become(struct operation *operation)
{
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        if (operation->kind == kinds[k].waits)
            operation->kind = kinds[k].becomes;
}

struct operation *waiters_take(struct waiters *waiters, struct session *session, bool all)
{
    struct operation *list = take_all(waiters), *taken = NULL;
    int64_t now_us = clock_monotonic_us();
    struct operation **waiting;
    size_t count = 0;
    int64_t left = 0;
    bool *open;

    for (struct operation *operation = list; operation; operation = operation->next)
        count++;
    if (count == 0)
        return NULL;
    waiting = ARENA_ARRAY(&session->arena, struct operation *, count);
    open = ARENA_ARRAY(&session->arena, bool, count);
    for (size_t i = 0; i < count; i++, list = list->next) {
        waiting[i] = list;
        open[i] = !all;
    }
    if (!all)
        ask_all(session, waiting, count, open);
    for (size_t i = 0; i < count; i++) {
        if (open[i] && !must_answer(waiting[i], now_us)) {
            wait_on(waiters, waiting[i]);
            continue;
        }
        left++;
        become(waiting[i]);
        waiting[i]->next = taken;
        taken = waiting[i];
    }
    leave(waiters, left);
    arena_cleanup(&session->arena);
    return taken;
}
