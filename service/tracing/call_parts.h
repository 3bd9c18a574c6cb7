/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_parts.h - where the time of a call went, and by which way its rows were found. Of names it
 * has the table's alone; no keys and no values.
 */
#ifndef SERVICE_TRACING_CALL_PARTS_H
#define SERVICE_TRACING_CALL_PARTS_H

#include "service/tracing/tracing.h"

struct call_parts {
    int64_t duration_us;     /* from the arrival of the call, or of the stream's operation, to now */
    bool ran;                /* the store has run an operation: */
    int64_t queue_us;        /* it waited for a batch, or for the freshness that it required */
    int64_t database_us;     /* from there to its outcome */
    struct str table;        /* or index; empty: none */
    enum access_path path;   /* 0: the operation is no query */
    const char *access_path; /* its name; NULL: as above */
    int64_t rows_examined;
};

void call_parts_read(const struct call_end *end, struct call_parts *out);

#endif
