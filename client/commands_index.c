/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_index.c - indexes: verify, repair, report.
 */
#include "client/command.h"

#include <string.h>

#include "api/codec.h"
#include "client/api_client.h"
#include "tavola/v1/index_service.pb-c.h"
#include "tavola/v1/operation_service.pb-c.h"

#define INDEXES "/tavola.v1.IndexService/"
#define WAIT "/tavola.v1.OperationService/WaitOperation"

#define VERIFY_ARGUMENTS "INDEX [--fast]"
#define REPAIR_ARGUMENTS "INDEX [--dry-run]"

/* ---- reports ---- */

static void print_report(const Tavola__V1__IndexReport *report)
{
    printf("%.*s of %.*s: %s, %s\n", STR_ARG(codec_str(report->operation_id)),
        STR_ARG(codec_str(report->index)), report->repairs ? "repair" : "verification",
        api_client_enum_name(&tavola__v1__operation_state__descriptor, (int)report->state));
    printf(
        "sources=%lld entries=%lld in_flight=%lld missing=%lld dangling=%lld mismatched=%lld manifests=%lld "
        "mended=%lld remaining=%lld\n",
        (long long)report->sources, (long long)report->entries, (long long)report->in_flight,
        (long long)report->missing, (long long)report->dangling, (long long)report->mismatched,
        (long long)report->manifests, (long long)report->mended, (long long)report->remaining);
}

static void print_key(const char *what, const Tavola__V1__EntityKey *key)
{
    if (key)
        printf(" %s=(%.*s, %.*s)", what, STR_ARG(codec_str(key->partition_key)),
            STR_ARG(codec_str(key->row_key)));
}

static void print_difference(const Tavola__V1__IndexDifference *difference)
{
    printf("%-6lld %-10s %-9s", (long long)difference->number,
        api_client_enum_name(&tavola__v1__index_difference_kind__descriptor, (int)difference->kind),
        difference->state == TAVOLA__V1__INDEX_DIFFERENCE_STATE__INDEX_DIFFERENCE_STATE_PENDING
            ? "PENDING"
            : api_client_enum_name(&tavola__v1__index_difference_state__descriptor, (int)difference->state));
    print_key("source", difference->source);
    print_key("entry", difference->entry);
    printf("\n");
}

/*
 * Print the report of an operation with all its differences. Returns COMMAND_FAILED if differences are left,
 * for scripts.
 */
static int show_report(struct api_client *client, ProtobufCBinaryData operation_id)
{
    Tavola__V1__GetIndexReportRequest request = TAVOLA__V1__GET_INDEX_REPORT_REQUEST__INIT;
    const Tavola__V1__GetIndexReportResponse *page;
    int64_t left = 0;

    request.operation_id = operation_id;
    do {
        page = api_client_call(client, INDEXES "GetIndexReport", &request.base,
            &tavola__v1__get_index_report_response__descriptor);
        if (!page)
            return COMMAND_FAILED;
        if (request.page_token.len == 0) {
            print_report(page->report);
            left = page->report->missing + page->report->dangling + page->report->mismatched +
                   page->report->manifests - page->report->mended;
        }
        for (size_t i = 0; i < page->n_differences; i++)
            print_difference(page->differences[i]);
        request.page_token = page->next_page_token;
    } while (request.page_token.len > 0);
    return left > 0 ? COMMAND_FAILED : COMMAND_OK;
}

static int run_report(const struct client_config *config, int argc, char **argv)
{
    struct api_client client;

    if (argc != 1)
        return command_misused("index report", "OPERATION");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, show_report(&client, codec_bytes(str_of(argv[0]))));
}

/* ---- operations ---- */

static bool has_ended(const Tavola__V1__Operation *operation)
{
    return operation->state != TAVOLA__V1__OPERATION_STATE__OPERATION_STATE_RUNNING &&
           operation->state != TAVOLA__V1__OPERATION_STATE__OPERATION_STATE_PAUSED;
}

/*
 * Wait for the end of an operation and print its report. operation NULL: the call that begins it has failed.
 */
static int await(struct api_client *client, const Tavola__V1__Operation *operation)
{
    Tavola__V1__WaitOperationRequest request = TAVOLA__V1__WAIT_OPERATION_REQUEST__INIT;

    if (!operation)
        return COMMAND_FAILED;
    request.operation_id = operation->operation_id;
    while (!has_ended(operation)) {
        const Tavola__V1__WaitOperationResponse *reply =
            api_client_call(client, WAIT, &request.base, &tavola__v1__wait_operation_response__descriptor);

        if (!reply)
            return COMMAND_FAILED;
        operation = reply->operation;
    }
    return show_report(client, request.operation_id);
}

static int run_verify(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__VerifyIndexRequest request = TAVOLA__V1__VERIFY_INDEX_REQUEST__INIT;
    const Tavola__V1__VerifyIndexResponse *reply;
    struct api_client client;
    bool is_fast = argc == 2 && strcmp(argv[1], "--fast") == 0;

    if (argc != 1 && !is_fast)
        return command_misused("index verify", VERIFY_ARGUMENTS);
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    request.name = codec_bytes(str_of(argv[0]));
    if (is_fast)
        request.mode = TAVOLA__V1__VERIFY_MODE__VERIFY_MODE_FAST;
    reply = api_client_call(
        &client, INDEXES "VerifyIndex", &request.base, &tavola__v1__verify_index_response__descriptor);
    return api_client_close(&client, await(&client, reply ? reply->operation : NULL));
}

static int run_repair(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__RepairIndexRequest request = TAVOLA__V1__REPAIR_INDEX_REQUEST__INIT;
    const Tavola__V1__RepairIndexResponse *reply;
    struct api_client client;

    request.dry_run = argc == 2 && strcmp(argv[1], "--dry-run") == 0;
    if (argc != 1 && !request.dry_run)
        return command_misused("index repair", REPAIR_ARGUMENTS);
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    request.name = codec_bytes(str_of(argv[0]));
    reply = api_client_call(
        &client, INDEXES "RepairIndex", &request.base, &tavola__v1__repair_index_response__descriptor);
    return api_client_close(&client, await(&client, reply ? reply->operation : NULL));
}

static const struct command commands[] = {
    {
        .words = "index verify",
        .arguments = VERIFY_ARGUMENTS,
        .help = "compare an index with its source, wait for the end and print the report; --fast: by "
                "versions; exit code 1 if "
                "they differ",
        .run = run_verify,
    },
    {
        .words = "index repair",
        .arguments = REPAIR_ARGUMENTS,
        .help = "mend what differs, wait for the end and print the report; --dry-run: change nothing",
        .run = run_repair,
    },
    {
        .words = "index report",
        .arguments = "OPERATION",
        .help = "print the report of an operation that verifies or repairs an index, with its differences",
        .run = run_report,
    },
};

const struct command_group commands_index = { "Indexes", commands, ARRAY_LEN(commands) };
