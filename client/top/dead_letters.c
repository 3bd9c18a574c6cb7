/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dead_letters.c - see the header.
 */
#include "client/top/dead_letters.h"

#include "client/calls.h"

static bool count_state(struct tavola *client, const char *filter, int64_t *out)
{
    struct tavola_record page, cause;
    struct tavola_reply *reply;
    struct request request;

    request_begin(&request);
    request_json_member(&request, "filter", filter);
    request_flag(&request, "groupByCause", true);
    reply = calls_ask(client, "ListDeadLetters", &request);
    if (!reply)
        return false;
    page = tavola_reply_record(reply);
    *out = 0;
    for (size_t position = 0; tavola_record_next(&page, "causes", &position, &cause);)
        *out += tavola_record_integer(&cause, "count");
    tavola_reply_free(reply);
    return true;
}

bool dead_letters_count(struct tavola *client, struct dead_letter_counts *out)
{
    return count_state(client, "{\"state\":\"DEAD_LETTER_STATE_DEAD\"}", &out->dead) &&
           count_state(client, "{\"state\":\"DEAD_LETTER_STATE_RETRYING\"}", &out->retrying) &&
           count_state(client, "{\"state\":\"DEAD_LETTER_STATE_DISCARDED\"}", &out->discarded);
}
