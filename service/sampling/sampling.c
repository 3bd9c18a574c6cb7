/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.c - see the header. What cannot be stored is stored ten seconds later, with what comes until then.
 */
#include "service/sampling/sampling.h"

#include <stdlib.h>

#include "base/clock.h"

enum { STORE_WITHIN_US = 5000000 };

void sampling_count(struct service *service, const struct operation *operation, int64_t weight)
{
    struct authenticator *authenticator = &service->authenticator;

    authenticator_enter(authenticator);
    if (authenticator->snapshot)
        sampler_note(&service->sampler, authenticator->snapshot->catalogue, operation, weight);
    authenticator_leave(authenticator);
}

/* An operation of the server's own. */
struct storing {
    struct operation operation;
    struct arena arena;
};

static void stored(struct operation *operation)
{
    struct storing *storing = CONTAINER_OF(operation, struct storing, operation);

    arena_cleanup(&storing->arena);
    free(storing);
}

void sampling_tick(struct service *service)
{
    int64_t now_us = clock_monotonic_us();
    struct storing *storing;

    if (!sampler_tick(&service->sampler, now_us))
        return;
    storing = xcalloc(1, sizeof(*storing));
    arena_init(&storing->arena);
    storing->operation = (struct operation){ .kind = OPERATION_SAMPLES_STORE,
        .arena = &storing->arena,
        .deadline_us = now_us + STORE_WITHIN_US,
        .done = stored };
    sampler_take(&service->sampler, now_us, &storing->arena, &storing->operation.in.samples);
    store_submit(service->store, &storing->operation);
}
