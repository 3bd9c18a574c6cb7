/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.c - see the header.
 */
#include "domain/operations/operation.h"

#include <assert.h>

enum operation_wait operation_waits_for(const struct operation *operation)
{
    enum operation_wait wait = operation_kind_facts(operation->kind)->wait;

    if (operation->wait_for_transaction.len > 0)
        return OPERATION_WAIT_TRANSACTION;
    if (wait == OPERATION_WAIT_FRESHNESS && !freshness_is_set(&operation->in.lookup.freshness))
        return OPERATION_WAIT_NONE;
    return wait;
}

size_t operation_entities(const struct operation *operation)
{
    switch (operation_kind_facts(operation->kind)->input) {
    case OPERATION_IN_GET:
        return operation->in.get.count;
    case OPERATION_IN_WRITE:
        return operation->in.write.count;
    default:
        return 0;
    }
}

size_t operation_property_bytes(const struct operation *operation)
{
    size_t bytes = 0;

    if (operation_kind_facts(operation->kind)->input == OPERATION_IN_WRITE)
        for (size_t i = 0; i < operation->in.write.count; i++)
            bytes += operation->in.write.writes[i].properties.bytes.len;
    return bytes;
}

const struct entity *operation_conflict(const struct operation *operation)
{
    if (operation_kind_facts(operation->kind)->input != OPERATION_IN_WRITE)
        return NULL;
    return operation->out.write.current;
}

void operation_fail(struct operation *operation, const struct error *err)
{
    assert(err->status != STATUS_OK);
    operation->error = arena_alloc(operation->arena, sizeof(*err));
    *operation->error = *err;
    operation->status = err->status;
}
