/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_request.h - the body of POST /$batch: one change set, or one request that reads.
 *
 * Each operation is an HTTP request inside a part (application/http). The results borrow the body. Pure.
 */
#ifndef ODATA_BATCH_BATCH_REQUEST_H
#define ODATA_BATCH_BATCH_REQUEST_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct batch_operation {
    struct str method;
    struct str url;  /* as received, with or without scheme and host */
    struct str head; /* the headers; read them with batch_request_header */
    struct str body; /* without the line ends behind it */
    struct str
        /* Content-ID of the part or of the request: at most 64 visible ASCII characters; empty: none */
        content_id;
};

struct batch_request {
    bool is_change_set; /* false: exactly one operation, a GET */
    struct batch_operation *operations;
    size_t count; /* from 1 to LIMIT_BATCH_OPERATIONS */
};

/*
 * Read the body of a batch. content_type: the request's header.
 *
 * STATUS_INVALID  INVALID_INPUT: the body is not a batch; the message says what is wrong, and in which part. With the
 *                 metadata operation_index the batch has more than LIMIT_BATCH_OPERATIONS, and the reply has the
 *                 form of a failed operation
 */
MUST_USE enum status batch_request_read(struct str content_type, struct str body, struct arena *arena,
    struct batch_request *out, struct error *err);

/* The value of a header of an operation; empty if the operation does not have it. */
struct str batch_request_header(const struct batch_operation *operation, const char *name);

#endif
