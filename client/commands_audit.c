/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_audit.c - prints the records of administrative calls, the newest first.
 */
#include "client/command.h"

#include <string.h>

#include "api/codec.h"
#include "base/clock.h"
#include "client/api_client.h"
#include "client/time_text.h"
#include "domain/ticks.h"
#include "tavola/v1/admin_service.pb-c.h"

#define ARGUMENTS "[--account NAME] [--since TIME] [--until TIME]"

static const char *credential_name(const Tavola__V1__AuditRecord *record)
{
    switch (record->credential) {
    case TAVOLA__V1__AUDIT_CREDENTIAL__AUDIT_CREDENTIAL_TOKEN:
        return "token";
    case TAVOLA__V1__AUDIT_CREDENTIAL__AUDIT_CREDENTIAL_SIGNATURE:
        return "signature";
    case TAVOLA__V1__AUDIT_CREDENTIAL__AUDIT_CREDENTIAL_DATABASE:
        return "database";
    default:
        return "none";
    }
}

static void print_record(const Tavola__V1__AuditRecord *record)
{
    static const char *const keys[] = { "-", "first", "second" };
    char when[TIME_TEXT_BYTES];
    struct str account = record->account.len > 0 ? codec_str(record->account) : STR_LITERAL("-");
    int64_t recorded = 0;

    if (record->recorded &&
        !ticks_from_timestamp(record->recorded->seconds, record->recorded->nanos, &recorded))
        recorded = 0;
    printf("%s %-16.*s %-9s %-6s %-36.*s %.*s", time_text_format(recorded, when), STR_ARG(account),
        credential_name(record), (size_t)record->key < ARRAY_LEN(keys) ? keys[record->key] : "-",
        STR_ARG(codec_str(record->method)), STR_ARG(codec_str(record->outcome)));
    if (record->target.len > 0)
        printf(" %.*s", STR_ARG(codec_str(record->target)));
    if (record->left_out > 0)
        printf(" (and %lld calls without a record)", (long long)record->left_out);
    printf("\n");
}

/* Print the records of all pages. */
static bool show_records(struct api_client *client, Tavola__V1__ListAuditRecordsRequest *request)
{
    do {
        const Tavola__V1__ListAuditRecordsResponse *page =
            api_client_call(client, "/tavola.v1.AdminService/ListAuditRecords", &request->base,
                &tavola__v1__list_audit_records_response__descriptor);

        if (!page)
            return false;
        for (size_t i = 0; i < page->n_records; i++)
            print_record(page->records[i]);
        request->page_token = page->next_page_token;
    } while (request->page_token.len > 0);
    return true;
}

static bool parse_time(const char *text, Google__Protobuf__Timestamp *out)
{
    int64_t ticks;

    if (*text == '+' || !time_text_parse(text, clock_ticks(), &ticks))
        return false;
    google__protobuf__timestamp__init(out);
    ticks_to_timestamp(ticks, &out->seconds, &out->nanos);
    return true;
}

static int run_audit(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__ListAuditRecordsRequest request = TAVOLA__V1__LIST_AUDIT_RECORDS_REQUEST__INIT;
    Google__Protobuf__Timestamp since, until;
    struct api_client client;

    for (int i = 0; i < argc; i += 2) {
        if (i + 1 < argc && strcmp(argv[i], "--account") == 0)
            request.account = codec_bytes(str_of(argv[i + 1]));
        else if (i + 1 < argc && strcmp(argv[i], "--since") == 0 && parse_time(argv[i + 1], &since))
            request.since = &since;
        else if (i + 1 < argc && strcmp(argv[i], "--until") == 0 && parse_time(argv[i + 1], &until))
            request.until = &until;
        else
            return command_misused("audit", ARGUMENTS " (a TIME as 2026-01-31 or 2026-01-31T12:00:00Z)");
    }
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, show_records(&client, &request) ? COMMAND_OK : COMMAND_FAILED);
}

static const struct command commands[] = {
    {
        .words = "audit",
        .arguments = ARGUMENTS,
        .help = "print the administrative calls, the newest first: when, account, credential, key, method, "
                "outcome and "
                "what was named; a TIME as 2026-01-31 or 2026-01-31T12:00:00Z",
        .run = run_audit,
    },
};

const struct command_group commands_audit = { "Audit", commands, ARRAY_LEN(commands) };
