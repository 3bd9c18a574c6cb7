/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.c - see the header, and the two methods of grpc.health.v1.Health.
 *
 * The functions of a watcher's call are called only with the lock held: its events come from queue threads,
 * and any thread may change the state. `ended` takes the lock too, so a watcher is not freed while a message
 * is being sent to it.
 */
#include "service/probes/health.h"

#include "api/codec.h"
#include "base/failpoint.h"
#include "grpc/health/v1/health.pb-c.h"
#include "service/call.h"
#include "service/handlers/handlers.h"
#include "service/methods.h"

enum { CODE_CANCELLED = 1, CODE_NOT_FOUND = 5, CODE_UNAVAILABLE = 14 };

struct health_watcher {
    struct rpc_call *call;
    struct health *health;
    bool known;    /* the service exists on this server */
    bool liveness; /* the service is HEALTH_LIVENESS */
    bool sending;  /* a message is being sent */
    bool finished; /* rpc_call_finish was called */
    bool told;     /* last_sent is valid: a message has been sent */
    Grpc__Health__V1__HealthCheckResponse__ServingStatus last_sent;
    struct health_watcher *next, *previous;
};

void health_init(struct health *health)
{
    *health = (struct health){ 0 };
    pthread_mutex_init(&health->lock, NULL);
}

static bool is_liveness(struct str service)
{
    return str_equal(service, str_of(HEALTH_LIVENESS));
}

static Grpc__Health__V1__HealthCheckResponse__ServingStatus status_now(
    const struct health *health, bool liveness)
{
    return !health->is_silent && (liveness || (health->available && !health->draining))
               ? GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
               : GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING;
}

static struct str response(Grpc__Health__V1__HealthCheckResponse__ServingStatus status, struct arena *arena)
{
    Grpc__Health__V1__HealthCheckResponse message = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;
    struct buf out;

    message.status = status;
    buf_init(&out, arena);
    codec_pack(&out, 0, &message.base);
    return buf_str(&out);
}

/* Send the state to a watcher that has not got it yet. The lock is held. */
static void send_status(struct health_watcher *watcher)
{
    const struct health *health = watcher->health;
    Grpc__Health__V1__HealthCheckResponse__ServingStatus status =
        watcher->known ? status_now(health, watcher->liveness)
                       : GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN;

    if (watcher->finished || watcher->sending)
        return;
    if (!watcher->told || watcher->last_sent != status) {
        struct arena arena;

        watcher->told = true;
        watcher->last_sent = status;
        watcher->sending = true;
        arena_init(&arena);
        rpc_call_send(watcher->call, response(status, &arena));
        arena_cleanup(&arena);
    } else if (health->draining) {
        watcher->finished = true;
        rpc_call_finish(watcher->call, CODE_UNAVAILABLE, STR_LITERAL("this server is stopping"), STR_EMPTY);
    }
}

static void tell_all(struct health *health)
{
    for (struct health_watcher *watcher = health->watchers; watcher; watcher = watcher->next)
        send_status(watcher);
}

void health_set_available(struct health *health, bool available)
{
    pthread_mutex_lock(&health->lock);
    health->available = available;
    tell_all(health);
    pthread_mutex_unlock(&health->lock);
}

void health_set_listening(struct health *health, bool is_listening)
{
    pthread_mutex_lock(&health->lock);
    if (health->is_silent == is_listening) {
        health->is_silent = !is_listening;
        tell_all(health);
    }
    pthread_mutex_unlock(&health->lock);
}

bool health_is_serving(struct health *health, bool liveness)
{
    bool is_serving;

    pthread_mutex_lock(&health->lock);
    is_serving =
        status_now(health, liveness) == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
    pthread_mutex_unlock(&health->lock);
    return is_serving;
}

void health_drain(struct health *health)
{
    pthread_mutex_lock(&health->lock);
    health->draining = true;
    tell_all(health);
    pthread_mutex_unlock(&health->lock);
}

/* Read the service that a request asks about. false: the request is malformed, and the call was ended. */
static bool asked_service(struct rpc_call *call, struct str message, struct str *out)
{
    struct arena *arena = rpc_call_arena(call);
    ProtobufCMessage *request;
    struct error err = { 0 };

    if (codec_unpack(&grpc__health__v1__health_check_request__descriptor, message, arena, &request, &err) !=
        STATUS_OK) {
        call_fail(call, &err, arena);
        return false;
    }
    *out = codec_str(((Grpc__Health__V1__HealthCheckRequest *)request)->service);
    return true;
}

static bool is_known(const struct health *health, struct str service)
{
    return service.len == 0 || is_liveness(service) || methods_have_service(service) ||
           (FAILPOINTS_ARE_BUILT_IN && str_equal(service, str_of(HEALTH_FAILPOINTS))) ||
           (health->has_few_files && str_equal(service, str_of(HEALTH_FEW_FILES)));
}

/* ---- Check ---- */

static void check_message(struct rpc_call *call, struct str message)
{
    struct service *service = rpc_call_context(call);
    Grpc__Health__V1__HealthCheckResponse__ServingStatus status;
    struct str name;

    if (!asked_service(call, message, &name))
        return;
    if (!is_known(&service->health, name)) {
        rpc_call_finish(call, CODE_NOT_FOUND, STR_LITERAL("there is no service of this name"), STR_EMPTY);
        return;
    }
    pthread_mutex_lock(&service->health.lock);
    status = status_now(&service->health, is_liveness(name));
    pthread_mutex_unlock(&service->health.lock);
    rpc_call_reply(call, response(status, rpc_call_arena(call)));
}

/* Has an effect only before the request has arrived; afterwards the call is answered at once. */
static void check_cancelled(struct rpc_call *call)
{
    rpc_call_finish(call, CODE_CANCELLED, STR_EMPTY, STR_EMPTY);
}

static const struct call_events check_events = {
    .message = check_message,
    .cancelled = check_cancelled,
};

const struct method health_check_method = {
    .path = "/grpc.health.v1.Health/Check",
    .kind = RPC_UNARY,
    .events = &check_events,
};

/* ---- Watch ---- */

static void watch_message(struct rpc_call *call, struct str message)
{
    struct service *service = rpc_call_context(call);
    struct health *health = &service->health;
    struct health_watcher *watcher;
    struct str name;

    if (!asked_service(call, message, &name))
        return;
    watcher = ARENA_NEW(rpc_call_arena(call), struct health_watcher);
    watcher->call = call;
    watcher->health = health;
    watcher->known = is_known(health, name);
    watcher->liveness = is_liveness(name);
    rpc_call_set_state(call, watcher);

    pthread_mutex_lock(&health->lock);
    watcher->next = health->watchers;
    if (watcher->next)
        watcher->next->previous = watcher;
    health->watchers = watcher;
    send_status(watcher);
    pthread_mutex_unlock(&health->lock);
}

static void watch_sent(struct rpc_call *call)
{
    struct health_watcher *watcher = rpc_call_state(call);

    pthread_mutex_lock(&watcher->health->lock);
    watcher->sending = false;
    send_status(watcher);
    pthread_mutex_unlock(&watcher->health->lock);
}

static void watch_cancelled(struct rpc_call *call)
{
    struct health_watcher *watcher = rpc_call_state(call);

    if (!watcher) { /* the call was cancelled before its request arrived */
        rpc_call_finish(call, CODE_CANCELLED, STR_EMPTY, STR_EMPTY);
        return;
    }
    pthread_mutex_lock(&watcher->health->lock);
    if (!watcher->finished) {
        watcher->finished = true;
        rpc_call_finish(call, CODE_CANCELLED, STR_EMPTY, STR_EMPTY);
    }
    pthread_mutex_unlock(&watcher->health->lock);
}

static void watch_ended(struct rpc_call *call)
{
    struct health_watcher *watcher = rpc_call_state(call);

    if (!watcher)
        return;
    pthread_mutex_lock(&watcher->health->lock);
    if (watcher->previous)
        watcher->previous->next = watcher->next;
    else
        watcher->health->watchers = watcher->next;
    if (watcher->next)
        watcher->next->previous = watcher->previous;
    pthread_mutex_unlock(&watcher->health->lock);
}

static const struct call_events watch_events = {
    .message = watch_message,
    .sent = watch_sent,
    .cancelled = watch_cancelled,
    .ended = watch_ended,
};

const struct method health_watch_method = {
    .path = "/grpc.health.v1.Health/Watch",
    .kind = RPC_SERVER_STREAM,
    .events = &watch_events,
};
