/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.c - see the header. If the counts cannot be stored, they are stored ten seconds later, together
 * with the newer ones.
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
    if (authenticator->snapshot && operation->kind == OPERATION_WRITE &&
        atomic_load_explicit(&service->advisor.is_asked, memory_order_relaxed))
        advisor_note(&service->advisor, authenticator->snapshot->catalogue, operation, weight);
    authenticator_leave(authenticator);
}

void sampling_advise(struct service *service, const struct operation *operation)
{
    struct authenticator *authenticator = &service->authenticator;

    authenticator_enter(authenticator);
    if (authenticator->snapshot)
        advisor_note(&service->advisor, authenticator->snapshot->catalogue, operation, 0);
    authenticator_leave(authenticator);
}

/* ---- taking ---- */

static void make_room(struct operation *operation)
{
    struct operation_samples *in = &operation->in.samples;

    in->reports =
        ARENA_ARRAY(operation->arena, struct sample_report, MAX_SAMPLER_REPORTS + MAX_ADVISED_TABLES);
    in->report_count = 0;
}

void sampling_take(struct service *service, struct operation *operation)
{
    int64_t now_us = clock_monotonic_us();

    make_room(operation);
    sampler_take(&service->sampler, now_us, operation->arena, &operation->in.samples);
    advisor_take(&service->advisor, now_us, 0, operation->arena, &operation->in.samples);
}

static int64_t table_id_of(struct authenticator *authenticator, const struct operation *operation)
{
    const struct table *table = NULL;
    int64_t table_id;

    authenticator_enter(authenticator);
    if (authenticator->snapshot)
        table = catalogue_find(authenticator->snapshot->catalogue, operation->account, operation->table);
    table_id = table ? table->table_id : 0;
    authenticator_leave(authenticator);
    return table_id;
}

void sampling_take_queries(struct service *service, struct operation *operation)
{
    int64_t table_id = table_id_of(&service->authenticator, operation);

    make_room(operation);
    operation->in.samples.server = sampler_server(&service->sampler);
    if (table_id != 0)
        advisor_take(
            &service->advisor, clock_monotonic_us(), table_id, operation->arena, &operation->in.samples);
}

/* ---- storing ---- */

static void look_for_advised(struct service *service)
{
    authenticator_enter(&service->authenticator);
    if (service->authenticator.snapshot)
        advisor_look(&service->advisor, service->authenticator.snapshot->catalogue);
    authenticator_leave(&service->authenticator);
}

/* An operation that the server itself runs to store counts. */
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

    look_for_advised(service);
    if (!sampler_tick(&service->sampler, now_us))
        return;
    storing = xcalloc(1, sizeof(*storing));
    arena_init(&storing->arena);
    storing->operation = (struct operation){ .kind = OPERATION_SAMPLES_STORE,
        .arena = &storing->arena,
        .deadline_us = now_us + STORE_WITHIN_US,
        .done = stored };
    sampling_take(service, &storing->operation);
    store_submit(service->store, &storing->operation);
}
