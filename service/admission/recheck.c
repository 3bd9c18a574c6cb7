/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recheck.c - see the header.
 */
#include "service/admission/recheck.h"

#include "base/clock.h"
#include "service/admission/caller.h"
#include "service/service.h"

void recheck_init(struct recheck *recheck)
{
    *recheck = (struct recheck){ 0 };
    pthread_mutex_init(&recheck->lock, NULL);
}

void recheck_cleanup(struct recheck *recheck)
{
    pthread_mutex_destroy(&recheck->lock);
}

static bool add_call(struct recheck *recheck, struct recheck_call *call)
{
    bool has_room;

    pthread_mutex_lock(&recheck->lock);
    has_room = recheck->count < RECHECK_MAX;
    if (has_room) {
        call->since_us = clock_monotonic_us();
        call->next = recheck->first;
        recheck->first = call;
        recheck->count++;
    }
    pthread_mutex_unlock(&recheck->lock);
    return has_room;
}

bool recheck_wait(struct service *service, const struct caller *caller, struct recheck_call *call)
{
    if (!caller->is_unknown || call->since_us != 0 || !store_is_available(service->store) ||
        !add_call(&service->recheck, call))
        return false;
    store_look_at_access(service->store);
    return true;
}

/* Enter with the lock held. *at: the call's place in the list. */
static void take_off(struct recheck *recheck, struct recheck_call **at)
{
    *at = (*at)->next;
    recheck->count--;
}

/* Enter with the lock held. The latest call that has waited since until_us or longer, off the list; NULL: none. */
static struct recheck_call *take_call(struct recheck *recheck, int64_t until_us)
{
    for (struct recheck_call **at = &recheck->first; *at; at = &(*at)->next) {
        struct recheck_call *call = *at;

        if (call->since_us > until_us)
            continue;
        take_off(recheck, at);
        return call;
    }
    return NULL;
}

void recheck_leave(struct recheck *recheck, struct recheck_call *call)
{
    struct recheck_call **at = &recheck->first;

    if (call->since_us == 0)
        return;
    pthread_mutex_lock(&recheck->lock);
    while (*at && *at != call)
        at = &(*at)->next;
    if (*at)
        take_off(recheck, at);
    pthread_mutex_unlock(&recheck->lock);
}

/* `resume` runs with the lock held, so recheck_leave waits until it has returned. */
void recheck_resume(struct recheck *recheck, int64_t look_began_us)
{
    struct recheck_call *call;

    do {
        pthread_mutex_lock(&recheck->lock);
        call = take_call(recheck, look_began_us);
        if (call)
            call->resume(call);
        pthread_mutex_unlock(&recheck->lock);
    } while (call);
}
