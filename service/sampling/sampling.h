/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampling.h - passes the server's operations to the sampler and the advisor.
 */
#ifndef SERVICE_SAMPLING_SAMPLING_H
#define SERVICE_SAMPLING_SAMPLING_H

#include "service/service.h"

/* Count an operation that has succeeded and stands for `weight` operations. Never waits for the database. */
void sampling_count(struct service *service, const struct operation *operation, int64_t weight);

/* Count a query or a look-up for the advice on indexes. */
void sampling_advise(struct service *service, const struct operation *operation);

/* Count an operation that has arrived at this time, if it is a sample and has succeeded. */
static inline void sampling_note(
    struct service *service, const struct operation *operation, int64_t arrived_us)
{
    int64_t weight = operation->status == STATUS_OK ? sampler_weight(&service->sampler, arrived_us) : 0;

    if (weight > 0)
        sampling_count(service, operation, weight);
    if (operation->kind != OPERATION_GET && operation->kind != OPERATION_WRITE &&
        operation->status == STATUS_OK &&
        atomic_load_explicit(&service->advisor.is_asked, memory_order_relaxed))
        sampling_advise(service, operation);
}

/*
 * Move the counts into in.samples of an operation: all of them, or those of the queries of the operation's
 * table.
 */
void sampling_take(struct service *service, struct operation *operation);
void sampling_take_queries(struct service *service, struct operation *operation);

/* Called about twice a second by the store's monitor. Stores the counts if it is time. */
void sampling_tick(struct service *service);

#endif
