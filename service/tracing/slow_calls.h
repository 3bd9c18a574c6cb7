/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slow_calls.h - log lines about calls: those that took longer than a threshold, with where their
 * time went, and at level debug all of them. Never keys, values, filters or tokens.
 */
#ifndef SERVICE_TRACING_SLOW_CALLS_H
#define SERVICE_TRACING_SLOW_CALLS_H

#include "base/token_bucket.h"
#include "service/tracing/tracing.h"

enum { SLOW_CALLS_ID_BYTES = 65 };

/*
 * The ids by which a caller's own log names the call, for a line about it: of the trace, and of the
 * request (x-request-id, or x-ms-client-request-id). Empty: the caller has sent none. What is not
 * of letters, digits and .-_ counts as none; what is long is cut.
 */
struct call_ids {
    char trace[TRACE_ID_TEXT_BYTES];
    char request[SLOW_CALLS_ID_BYTES];
};

void slow_calls_read_ids(struct rpc_call *call, struct call_ids *out);

enum {
    SLOW_CALLS_COST_US = 100000,                    /* of a line: ten a second on average */
    SLOW_CALLS_BURST_US = 100 * SLOW_CALLS_COST_US, /* a hundred lines at once */
};

/* All zero: no line was written. Not thread-safe. */
struct slow_calls_lines {
    struct token_bucket bucket;
    int64_t left_out; /* slow calls since the last line that have none */
};

/*
 * Decide whether a slow call gets a line, so that an overload, in which most calls are slow, does
 * not fill the log. true: it does, and *left_out is the number of slow calls before it that have
 * none. false: the call is counted.
 */
bool slow_calls_draw_line(struct slow_calls_lines *lines, int64_t now_us, int64_t *left_out);

/*
 * Log the call's end, if it is due: event=slow_call at level warn from slow_us on, as far as
 * slow_calls_draw_line allows; otherwise, if it succeeded, event=call at level debug. slow_us 0: no
 * call is slow.
 */
void slow_calls_note(const struct call_end *end, int64_t slow_us);

#endif
