/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_operations.h - operations on the stores of chunks of blobs: list them, and move chunks between them. A move is
 * a job, "move_chunks".
 */
#ifndef DOMAIN_OPERATIONS_CHUNK_OPERATIONS_H
#define DOMAIN_OPERATIONS_CHUNK_OPERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/chunk_store.h"

struct operation_chunks {
    enum chunk_store_kind target; /* move */
};

struct chunk_store_view {
    bool is_configured; /* the answering server can use it */
    bool takes_puts;    /* chunks that are put through the answering server go there */
    int64_t chunks, bytes;
    int64_t strays,
        stray_bytes; /* of objects that no chunk names: being put, or kept until they are removed */
};

struct outcome_chunks { /* list */
    struct chunk_store_view stores[CHUNK_STORE_KINDS];
};

#endif
