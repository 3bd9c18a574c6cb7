/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.c - see the header.
 */
#include "domain/operations/operation.h"

#include <assert.h>

int64_t operation_latest_us(const struct operation *batch)
{
    int64_t latest_us = 0;

    for (; batch; batch = batch->next) {
        if (batch->arrived_us == 0)
            return 0;
        latest_us = batch->arrived_us > latest_us ? batch->arrived_us : latest_us;
    }
    return latest_us;
}

void operation_fail(struct operation *operation, const struct error *err)
{
    assert(err->status != STATUS_OK);
    operation->error = arena_alloc(operation->arena, sizeof(*err));
    *operation->error = *err;
    operation->status = err->status;
}
