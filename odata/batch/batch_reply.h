/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_reply.h - the body of the answer to POST /$batch. Pure.
 */
#ifndef ODATA_BATCH_BATCH_REPLY_H
#define ODATA_BATCH_BATCH_REPLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* The answer to one operation. */
struct batch_answer {
    int status;            /* HTTP status */
    struct str content_id; /* empty: none */
    struct str head;       /* further headers, each ended by CRLF */
    struct str body;
};

enum { BATCH_REPLY_BOUNDARY_BYTES = 64 };

/*
 * A reply that is being written. The boundaries of both levels have random Guids, so that no body contains
 * them.
 */
struct batch_reply {
    struct buf *out;
    bool is_change_set;
    char outer[BATCH_REPLY_BOUNDARY_BYTES], inner[BATCH_REPLY_BOUNDARY_BYTES];
};

/*
 * Write a reply: begin it, add one answer per operation, end it. batch_reply_type is the Content-Type of the
 * whole.
 */
void batch_reply_begin(struct batch_reply *reply, bool is_change_set, struct buf *out);
void batch_reply_add(struct batch_reply *reply, const struct batch_answer *answer);
void batch_reply_end(struct batch_reply *reply);

/* "multipart/mixed; boundary=batchresponse_.." */
struct str batch_reply_type(const struct batch_reply *reply, struct arena *arena);

#endif
