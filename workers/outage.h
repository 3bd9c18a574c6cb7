/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outage.h - log lines of a worker about operations that fail again and again: one line per change,
 * then a count.
 *
 * Each thread has a struct outages of its own.
 */
#ifndef WORKERS_OUTAGE_H
#define WORKERS_OUTAGE_H

#include "base/error.h"
#include "base/log_repeat.h"

struct outages {
    /* of messages and claims */
    struct log_repeat acknowledge, release_messages, release_claim, renew;
    struct log_repeat sweep, strays, move, chunk, scrub, usage, gauges;
    struct log_repeat batch;   /* a batch failed since the database could not be used */
    struct log_repeat attempt; /* an attempt failed and will be repeated */
};

/* Log event=EVENT status= sqlstate= why= failures=, if log_repeat_failed says that it is due. */
void outage_failed(struct log_repeat *outage, const char *event, const struct error *err, int64_t now_us);

/* Log event=EVENT status=OK failures= lasted_s=, if this success ends an outage. */
void outage_worked(struct log_repeat *outage, const char *event, int64_t now_us);

#endif
