/* SPDX-License-Identifier: Apache-2.0 */
/* operation_wait.c - see the header. */
#include "client/operation_wait.h"

#include <string.h>

#include "client/calls.h"

static bool has_ended(const struct tavola_record *operation)
{
    char *state = tavola_record_text(operation, "operation.state");
    bool ended = strcmp(state, "RUNNING") != 0 && strcmp(state, "PAUSED") != 0;

    tavola_free(state);
    return ended;
}

static struct tavola_reply *wait_once(struct tavola *client, const struct tavola_record *operation)
{
    char *operation_id = tavola_record_text(operation, "operation.operationId");
    struct request request;

    request_begin(&request);
    request_text(&request, "operationId", operation_id);
    tavola_free(operation_id);
    return calls_ask(client, "WaitOperation", &request);
}

struct tavola_reply *operation_wait(struct tavola *client, struct tavola_reply *reply)
{
    while (reply) {
        struct tavola_record record = tavola_reply_record(reply);
        struct tavola_reply *next;

        if (has_ended(&record))
            return reply;
        next = wait_once(client, &record);
        tavola_reply_free(reply);
        reply = next;
    }
    return NULL;
}
