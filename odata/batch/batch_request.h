/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_request.h - the body of POST /$batch: one change set, or one request that reads.
 *
 * Each operation is a request of HTTP inside a part (application/http). What is read borrows the body. Pure.
 */
#ifndef ODATA_BATCH_BATCH_REQUEST_H
#define ODATA_BATCH_BATCH_REQUEST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct batch_operation {
    struct str method;
    struct str url;  /* as it came, with or without scheme and host */
    struct str head; /* its headers: batch_request_header reads them */
    struct str body; /* without line ends behind it */
    struct str
        content_id; /* of the part or of the request; empty: none. At most 64 visible characters of ASCII */
};

struct batch_request {
    bool is_change_set; /* false: exactly one operation, a GET */
    struct batch_operation *operations;
    size_t count; /* from 1 to LIMIT_BATCH_OPERATIONS */
};

/*
 * content_type: that of the request.
 *
 * INVALID_INPUT  it is not a batch: what is wrong, and in which part. With the metadata operation_index the batch as such was
 *                read, and the reply is that of a failed operation: there are more than LIMIT_BATCH_OPERATIONS
 */
MUST_USE enum status batch_request_read(struct str content_type, struct str body, struct arena *arena,
    struct batch_request *out, struct error *err);

/* The value of a header of an operation, empty: there is none. */
struct str batch_request_header(const struct batch_operation *operation, const char *name);

#endif
