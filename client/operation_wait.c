/* SPDX-License-Identifier: Apache-2.0 */
/* operation_wait.c - see the header. */
#include "client/operation_wait.h"

#include <string.h>

#include "base/clock.h"
#include "base/numbers.h"
#include "client/calls.h"

enum {
    US_PER_MS = 1000,
    MS_PER_SECOND = 1000,
    MAX_CALL_MS = 30000,
    MIN_CALL_MS = 200, /* the server answers a tenth of a second before the deadline of a call */
};

bool operation_wait_has_ended(const struct tavola_record *reply)
{
    char *state = tavola_record_text(reply, "operation.state");
    bool ended = strcmp(state, "RUNNING") != 0 && strcmp(state, "PAUSED") != 0;

    tavola_free(state);
    return ended;
}

/*
 * timeout_ms: of the call. Where the server is too busy to answer right before the deadline, the operation is read
 * without waiting.
 */
static struct tavola_reply *wait_once(
    struct tavola *client, const struct tavola_record *record, int64_t timeout_ms)
{
    char *operation_id = tavola_record_text(record, "operation.operationId");
    struct tavola_reply *reply = NULL;
    struct tavola_error error;
    struct request request;
    const char *json;

    request_begin(&request);
    request_text(&request, "operationId", operation_id);
    tavola_free(operation_id);
    json = request_json(&request);
    (void)tavola_ask(client, &(struct tavola_question){ "WaitOperation", json, timeout_ms }, &reply, &error);
    if (error.code == TAVOLA_DEADLINE_EXCEEDED)
        (void)tavola_ask(client, &(struct tavola_question){ "GetOperation", json, 0 }, &reply, &error);
    request_end(&request);
    if (error.code == TAVOLA_OK)
        return reply;
    (void)calls_failed(&error);
    return NULL;
}

/* How long the next call may wait; below MIN_CALL_MS: the time is up. */
static int64_t call_ms(int64_t until_us)
{
    int64_t left_ms = until_us == 0 ? MAX_CALL_MS : (until_us - clock_monotonic_us()) / US_PER_MS;

    return numbers_min(left_ms, MAX_CALL_MS);
}

struct tavola_reply *operation_wait(struct tavola *client, struct tavola_reply *reply, int64_t seconds)
{
    int64_t until_us = seconds == 0 ? 0 : clock_monotonic_us() + seconds * MS_PER_SECOND * US_PER_MS;

    while (reply) {
        struct tavola_record record = tavola_reply_record(reply);
        struct tavola_reply *next;
        int64_t timeout_ms = call_ms(until_us);

        if (operation_wait_has_ended(&record) || timeout_ms < MIN_CALL_MS)
            return reply;
        next = wait_once(client, &record, timeout_ms);
        tavola_reply_free(reply);
        reply = next;
    }
    return NULL;
}
