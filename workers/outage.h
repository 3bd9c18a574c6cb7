/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outage.h - what the log of a worker is told of things that fail again and again: one line per change, then a count.
 *
 * Each thread has its own.
 */
#ifndef WORKERS_OUTAGE_H
#define WORKERS_OUTAGE_H

#include "base/error.h"
#include "base/log_repeat.h"

struct outages {
    struct log_repeat acknowledge, hand_back, put_down, renew; /* of messages and claims */
    struct log_repeat sweep, chunk, gauges;
    struct log_repeat batch;   /* that met a database in trouble */
    struct log_repeat attempt; /* that will be made again */
};

/* event=EVENT status= sqlstate= why= failures=, if that is to be said now. */
void outage_failed(struct log_repeat *outage, const char *event, const struct error *err, int64_t now_us);

/* event=EVENT status=OK failures= lasted_s=, if that ends an outage. */
void outage_worked(struct log_repeat *outage, const char *event, int64_t now_us);

#endif
