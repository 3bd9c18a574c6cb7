/*
 * operation.c - see the header.
 */
#include "domain/operation.h"

#include <assert.h>

void operation_fail(struct operation *operation, const struct error *err)
{
    assert(err->status != STATUS_OK);
    operation->error = arena_alloc(operation->arena, sizeof(*err));
    *operation->error = *err;
    operation->status = err->status;
}
