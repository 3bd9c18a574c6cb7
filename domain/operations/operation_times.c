/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_times.c - see the header.
 */
#include "domain/operations/operation_times.h"

#include "base/clock.h"

struct operation_times {
    int64_t arrived_us, begun_us, fresh_us;
    enum operation_detour detour;
};

static struct operation_times *ensure_times(struct operation *operation)
{
    if (!operation->times)
        operation->times = ARENA_NEW(operation->arena, struct operation_times);
    return operation->times;
}

void operation_times_begin(struct operation *operation)
{
    ensure_times(operation)->arrived_us = clock_monotonic_us();
}

int64_t operation_times_arrived_us(const struct operation *operation)
{
    return operation->times ? operation->times->arrived_us : 0;
}

int64_t operation_times_latest_us(const struct operation *batch)
{
    int64_t latest_us = 0;

    for (; batch; batch = batch->next) {
        int64_t arrived_us = operation_times_arrived_us(batch);

        if (arrived_us == 0)
            return 0;
        latest_us = arrived_us > latest_us ? arrived_us : latest_us;
    }
    return latest_us;
}

void operation_times_set_begun(struct operation *batch, int64_t now_us)
{
    for (; batch; batch = batch->next)
        if (batch->times)
            batch->times->begun_us = now_us;
}

int64_t operation_times_begun_us(const struct operation *operation)
{
    return operation->times ? operation->times->begun_us : 0;
}

void operation_times_set_fresh(struct operation *operation, int64_t fresh_us)
{
    ensure_times(operation)->fresh_us = fresh_us;
}

int64_t operation_times_fresh_us(const struct operation *operation)
{
    return operation->times ? operation->times->fresh_us : 0;
}

void operation_times_set_detour(struct operation *operation, enum operation_detour detour)
{
    ensure_times(operation)->detour = detour;
}

enum operation_detour operation_times_detour(const struct operation *operation)
{
    return operation->times ? operation->times->detour : DETOUR_NONE;
}
