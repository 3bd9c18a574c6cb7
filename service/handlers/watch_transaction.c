/*
 * watch_transaction.c - TransactionService.WatchTransaction: look, tell, wait for a change, look again.
 *
 *   LOOKING --done--> TELLING --sent--> LOOKING ...      final state told, deadline or an error: FINISHED
 *      | cancelled       | cancelled
 *      '----> FINISHED (after `done` when LOOKING)
 *
 * LOOKING is one operation: the first time it gets the transaction, then it waits in the store, as state, until the
 * revision is another one. At most one message is under way, so a slow client skips what lies between. Events come
 * from queue threads and `done` from one of the store, so every step runs under the lock; it is not held across
 * store_submit, which may call `done` at once.
 */
#include <pthread.h>

#include "api/codec_error.h"
#include "api/codec_transaction.h"
#include "domain/reason.h"
#include "service/consistency.h"
#include "service/handlers/handlers.h"

enum watch_state { WATCH_LOOKING, WATCH_TELLING, WATCH_FINISHED };

struct watch {
    struct rpc_call *call;
    struct service *service;
    struct caller caller;
    pthread_mutex_t lock;
    enum watch_state state;
    bool was_cancelled;
    struct str id; /* in the call's arena */

    struct arena arena; /* of the look at hand */
    struct operation operation;
    int64_t told; /* the revision that was sent last; below 0: none */
    bool is_final;
};

/* ---- lock held ---- */

static void finish(struct watch *watch, enum status status)
{
    watch->state = WATCH_FINISHED;
    rpc_finish(watch->call, codec_status_code(status), STR_EMPTY, STR_EMPTY);
}

static void fail(struct watch *watch, const struct error *err)
{
    watch->state = WATCH_FINISHED;
    call_fail(watch->call, err, rpc_call_arena(watch->call));
}

static void tell(struct watch *watch)
{
    const struct transaction *transaction = &watch->operation.out.transaction.transactions[0];
    struct error err = { 0 };
    struct str token;
    struct buf out;

    if (consistency_write_transaction(
            rpc_call_context(watch->call), transaction, &watch->arena, &token, &err) != STATUS_OK) {
        fail(watch, &err);
        return;
    }
    buf_init(&out, &watch->arena);
    codec_transaction_write(&out, 1, transaction, token, &watch->arena);
    watch->told = transaction->revision;
    watch->is_final = transaction_is_final(transaction->state);
    watch->state = WATCH_TELLING;
    rpc_send(watch->call, buf_str(&out));
}

static void done(struct operation *operation);

/* true: the caller submits the operation once it has released the lock. */
static bool look(struct watch *watch)
{
    struct operation *operation = &watch->operation;
    struct error err = { 0 };

    arena_cleanup(&watch->arena);
    operation->kind = watch->told < 0 ? OPERATION_TRANSACTION_GET : OPERATION_TRANSACTION_WAIT;
    operation->account = watch->caller.access.account;
    operation->arena = &watch->arena;
    operation->deadline_us = rpc_call_deadline_us(watch->call);
    operation->in.transaction =
        (struct operation_transaction){ .transaction = { .id = watch->id, .account = operation->account },
            .seen = watch->told };
    operation->status = STATUS_OK;
    operation->error = NULL;
    operation->done = done;
    if (atomic_load(&watch->service->draining))
        (void)error_reason(&err, REASON_SERVER_DRAINING, "this server is stopping: watch at another");
    else if (caller_authorize(&watch->caller, operation, &err) == STATUS_OK) {
        watch->state = WATCH_LOOKING;
        return true;
    }
    fail(watch, &err);
    return false;
}

/* ---- events ---- */

static void done(struct operation *operation)
{
    struct watch *watch = CONTAINER_OF(operation, struct watch, operation);
    struct error draining;

    pthread_mutex_lock(&watch->lock);
    if (watch->was_cancelled)
        finish(watch, STATUS_CANCELLED);
    else if (operation->status != STATUS_OK)
        fail(watch, operation->error);
    else if (operation->out.transaction.transactions[0].revision != watch->told)
        tell(watch);
    else if (atomic_load(&watch->service->draining)) {
        (void)error_reason(&draining, REASON_SERVER_DRAINING, "this server is stopping: watch at another");
        fail(watch, &draining);
    } else {
        finish(watch, STATUS_OK); /* nothing new up to the deadline */
    }
    pthread_mutex_unlock(&watch->lock);
}

static void begin(struct rpc_call *call)
{
    struct watch *watch = ARENA_NEW(rpc_call_arena(call), struct watch);

    watch->call = call;
    watch->service = rpc_call_context(call);
    watch->told = -1;
    pthread_mutex_init(&watch->lock, NULL);
    arena_init(&watch->arena);
    rpc_call_set_state(call, watch);
}

static enum status take_request(struct watch *watch, struct str message, struct error *err)
{
    ProtobufCMessage *request;

    TRY(caller_identify(&watch->caller, watch->call, err));
    TRY(codec_unpack(&tavola__v1__watch_transaction_request__descriptor, message, rpc_call_arena(watch->call),
        &request, err));
    watch->id = codec_str(((const Tavola__V1__WatchTransactionRequest *)request)->transaction_id);
    return codec_transaction_id_check(watch->id, err);
}

static void on_message(struct rpc_call *call, struct str message)
{
    struct watch *watch = rpc_call_state(call);
    struct error err = { 0 };
    bool submit = false;

    pthread_mutex_lock(&watch->lock);
    if (take_request(watch, message, &err) != STATUS_OK)
        fail(watch, &err);
    else
        submit = look(watch);
    pthread_mutex_unlock(&watch->lock);
    if (submit)
        store_submit(watch->service->store, &watch->operation);
}

static void on_sent(struct rpc_call *call)
{
    struct watch *watch = rpc_call_state(call);
    bool submit = false;

    pthread_mutex_lock(&watch->lock);
    if (watch->state == WATCH_TELLING) {
        if (watch->is_final)
            finish(watch, STATUS_OK);
        else
            submit = look(watch);
    }
    pthread_mutex_unlock(&watch->lock);
    if (submit)
        store_submit(watch->service->store, &watch->operation);
}

static void on_cancelled(struct rpc_call *call)
{
    struct watch *watch = rpc_call_state(call);

    pthread_mutex_lock(&watch->lock);
    watch->was_cancelled = true;
    if (watch->state == WATCH_LOOKING)
        atomic_store(&watch->operation.cancelled, true);
    else if (watch->state == WATCH_TELLING)
        finish(watch, STATUS_CANCELLED);
    pthread_mutex_unlock(&watch->lock);
}

static void on_ended(struct rpc_call *call)
{
    struct watch *watch = rpc_call_state(call);

    /* Whoever finished the call may still be on the way out of the lock. */
    pthread_mutex_lock(&watch->lock);
    pthread_mutex_unlock(&watch->lock);
    pthread_mutex_destroy(&watch->lock);
    arena_cleanup(&watch->arena);
}

const struct call_events watch_transaction_events = {
    .begin = begin,
    .message = on_message,
    .sent = on_sent,
    .cancelled = on_cancelled,
    .ended = on_ended,
};
