/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_violations.c - see the header.
 */
#include "client/index_violations.h"

#include <stdio.h>

#include "client/calls.h"
#include "client/command.h"

static void print_causes(const struct tavola_record *view)
{
    char *causes = tavola_record_text(view, "status.violationCauses");
    struct str rest = str_of(causes), cause;

    while (rest.len > 0) {
        cause = str_take(&rest, '\n');
        fprintf(stderr, "  %.*s\n", STR_ARG(cause));
    }
    tavola_free(causes);
}

int index_violations_report(struct tavola *client, const char *index, const char *table)
{
    struct tavola_reply *reply;
    struct tavola_record view;
    struct request request;
    int64_t violations;

    request_begin(&request);
    request_text(&request, "name", index);
    reply = calls_ask(client, "GetIndex", &request);
    if (!reply) {
        fprintf(
            stderr, "tavola index create: %s is built; whether entities have no entry is not known\n", index);
        return COMMAND_OK;
    }
    view = tavola_reply_record(reply);
    violations = tavola_record_integer(&view, "status.violations");
    if (violations > 0) {
        fprintf(stderr, "tavola index create: %s is built, but %lld of the entities of %s have no entry:\n",
            index, (long long)violations, table);
        print_causes(&view);
        fprintf(stderr,
            "tavola dead-letter list %s names them (with an administrator's token, where tokens are "
            "required); tavola index show %s counts them\n",
            table, index);
    }
    tavola_reply_free(reply);
    return violations > 0 ? COMMAND_PARTLY : COMMAND_OK;
}
