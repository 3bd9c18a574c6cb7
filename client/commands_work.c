/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_work.c - dead letters: list, redrive, discard; and transactions: show, list, cancel.
 */
#include "client/command.h"

#include <string.h>

#include "api/codec.h"
#include "base/digits.h"
#include "client/api_client.h"
#include "tavola/v1/admin_service.pb-c.h"
#include "tavola/v1/transaction_service.pb-c.h"

#define ADMIN "/tavola.v1.AdminService/"
#define TRANSACTIONS "/tavola.v1.TransactionService/"

#define REDRIVE_ARGUMENTS "NUMBER|all [--dry-run]"
#define DISCARD_ARGUMENTS "NUMBER REASON"

/* ---- dead letters ---- */

static void print_dead_letter(const Tavola__V1__DeadLetter *dead_letter)
{
    static const Tavola__V1__EntityKey no_key = TAVOLA__V1__ENTITY_KEY__INIT;
    const Tavola__V1__EntityKey *key = dead_letter->key ? dead_letter->key : &no_key;

    printf("%-8lld %-5.*s ", (long long)dead_letter->dead_letter_id, STR_ARG(codec_str(dead_letter->queue)));
    if (dead_letter->kind == TAVOLA__V1__WORK_KIND__WORK_KIND_TRANSACTION)
        printf("transaction %.*s", STR_ARG(codec_str(dead_letter->transaction_id)));
    else
        printf("%.*s (%.*s, %.*s)", STR_ARG(codec_str(dead_letter->table)),
            STR_ARG(codec_str(key->partition_key)), STR_ARG(codec_str(key->row_key)));
    if (dead_letter->index.len > 0)
        printf(" in %.*s", STR_ARG(codec_str(dead_letter->index)));
    printf("  failures=%d  %.*s\n", dead_letter->failures, STR_ARG(codec_str(dead_letter->cause)));
}

static bool list_dead_letters(struct api_client *client, Tavola__V1__ListDeadLettersRequest *request)
{
    bool any = false;

    do {
        const Tavola__V1__ListDeadLettersResponse *page = api_client_call(client, ADMIN "ListDeadLetters",
            &request->base, &tavola__v1__list_dead_letters_response__descriptor);

        if (!page)
            return false;
        if (!any && page->n_dead_letters > 0)
            printf("number   queue work\n");
        for (size_t i = 0; i < page->n_dead_letters; i++)
            print_dead_letter(page->dead_letters[i]);
        any = any || page->n_dead_letters > 0;
        request->page_token = page->next_page_token;
    } while (request->page_token.len > 0);
    if (!any)
        printf("no dead letters\n");
    return true;
}

static int run_dead_letters_list(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__DeadLetterFilter filter = TAVOLA__V1__DEAD_LETTER_FILTER__INIT;
    Tavola__V1__ListDeadLettersRequest request = TAVOLA__V1__LIST_DEAD_LETTERS_REQUEST__INIT;
    struct api_client client;

    if (argc > 1)
        return command_misused("dead-letter list", "[TABLE]");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    if (argc == 1)
        filter.table = codec_bytes(str_of(argv[0]));
    request.filter = &filter;
    return api_client_close(&client, list_dead_letters(&client, &request) ? COMMAND_OK : COMMAND_FAILED);
}

static void print_differences(const Tavola__V1__RedriveDeadLettersResponse *reply)
{
    for (size_t i = 0; i < reply->n_differences; i++) {
        const Tavola__V1__RedriveDifference *one = reply->differences[i];

        printf("%-8lld missing=%lld dangling=%lld mismatched=%lld violations=%lld steps=%lld\n",
            (long long)one->dead_letter_id, (long long)one->missing, (long long)one->dangling,
            (long long)one->mismatched, (long long)one->violations, (long long)one->steps);
    }
}

/* COMMAND_FAILED if the dead letter of a given number was not changed. */
static int print_changed(const char *which, size_t count, const char *what)
{
    if (count == 0 && strcmp(which, "all") != 0) {
        fprintf(stderr, "tavola: there is no dead letter %s that could be %s\n", which, what);
        return COMMAND_FAILED;
    }
    printf("%zu %s\n", count, what);
    return COMMAND_OK;
}

/* Redrive dead letters. One call redrives a bounded number, so it is repeated. */
static int redrive(
    struct api_client *client, const Tavola__V1__RedriveDeadLettersRequest *request, const char *which)
{
    const Tavola__V1__RedriveDeadLettersResponse *reply;
    size_t done = 0;

    do {
        reply = api_client_call(client, ADMIN "RedriveDeadLetters", &request->base,
            &tavola__v1__redrive_dead_letters_response__descriptor);
        if (!reply)
            return COMMAND_FAILED;
        print_differences(reply);
        done += reply->n_dead_letter_ids;
    } while (reply->n_dead_letter_ids > 0 && reply->more);
    if (!request->dry_run)
        return print_changed(which, done, "redriven");
    if (reply->n_differences == 0)
        printf("no dead letters\n");
    if (reply->more)
        printf("and more\n");
    return COMMAND_OK;
}

static int run_dead_letters_redrive(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__DeadLetterFilter filter = TAVOLA__V1__DEAD_LETTER_FILTER__INIT;
    Tavola__V1__RedriveDeadLettersRequest request = TAVOLA__V1__REDRIVE_DEAD_LETTERS_REQUEST__INIT;
    struct api_client client;
    int64_t number;

    request.dry_run = argc == 2 && strcmp(argv[1], "--dry-run") == 0;
    if (argc != 1 && !request.dry_run)
        return command_misused("dead-letter redrive", REDRIVE_ARGUMENTS);
    if (strcmp(argv[0], "all") == 0) {
        request.filter = &filter;
    } else if (digits_parse_signed(str_of(argv[0]), 0, INT64_MAX, &number)) {
        request.dead_letter_ids = &number;
        request.n_dead_letter_ids = 1;
    } else {
        return command_misused("dead-letter redrive", REDRIVE_ARGUMENTS);
    }
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    return api_client_close(&client, redrive(&client, &request, argv[0]));
}

static int run_dead_letters_discard(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__DiscardDeadLettersRequest request = TAVOLA__V1__DISCARD_DEAD_LETTERS_REQUEST__INIT;
    const Tavola__V1__DiscardDeadLettersResponse *reply;
    struct api_client client;
    int64_t number;

    if (argc != 2 || !digits_parse_signed(str_of(argv[0]), 0, INT64_MAX, &number))
        return command_misused("dead-letter discard", DISCARD_ARGUMENTS);
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    request.dead_letter_ids = &number;
    request.n_dead_letter_ids = 1;
    request.reason = codec_bytes(str_of(argv[1]));
    reply = api_client_call(&client, ADMIN "DiscardDeadLetters", &request.base,
        &tavola__v1__discard_dead_letters_response__descriptor);
    return api_client_close(
        &client, reply ? print_changed(argv[0], reply->n_dead_letter_ids, "discarded") : COMMAND_FAILED);
}

/* ---- transactions ---- */

static void print_transaction(const Tavola__V1__Transaction *transaction)
{
    printf("%-36.*s %-9s steps done: %d\n", STR_ARG(codec_str(transaction->transaction_id)),
        api_client_enum_name(&tavola__v1__transaction_state__descriptor, (int)transaction->state),
        transaction->steps_done);
}

static void print_attempt(const Tavola__V1__Attempt *attempt)
{
    static const Tavola__V1__Error no_error = TAVOLA__V1__ERROR__INIT;
    const Tavola__V1__Error *error = attempt->error ? attempt->error : &no_error;

    printf("  step %d attempt %d by %.*s: %.*s -> %.*s %.*s %.*s\n", attempt->step, attempt->number,
        STR_ARG(codec_str(attempt->worker)), STR_ARG(codec_str(attempt->etag_before)),
        STR_ARG(codec_str(attempt->etag_after)), STR_ARG(codec_str(error->reason)),
        STR_ARG(codec_str(error->message)));
}

/* Print the transaction that a call returned, and end the command. NULL: the call failed. */
static int show_transaction(struct api_client *client, const Tavola__V1__Transaction *transaction)
{
    if (!transaction)
        return api_client_close(client, COMMAND_FAILED);
    print_transaction(transaction);
    for (size_t i = 0; i < transaction->n_timeline; i++)
        print_attempt(transaction->timeline[i]);
    return api_client_close(client, COMMAND_OK);
}

static int run_transaction_get(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__GetTransactionRequest request = TAVOLA__V1__GET_TRANSACTION_REQUEST__INIT;
    const Tavola__V1__GetTransactionResponse *reply;
    struct api_client client;

    if (argc != 1)
        return command_misused("transaction get", "ID");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    request.transaction_id = codec_bytes(str_of(argv[0]));
    reply = api_client_call(&client, TRANSACTIONS "GetTransaction", &request.base,
        &tavola__v1__get_transaction_response__descriptor);
    return show_transaction(&client, reply ? reply->transaction : NULL);
}

static int run_transaction_cancel(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__CancelTransactionRequest request = TAVOLA__V1__CANCEL_TRANSACTION_REQUEST__INIT;
    const Tavola__V1__CancelTransactionResponse *reply;
    struct api_client client;

    if (argc != 1)
        return command_misused("transaction cancel", "ID");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    request.transaction_id = codec_bytes(str_of(argv[0]));
    reply = api_client_call(&client, TRANSACTIONS "CancelTransaction", &request.base,
        &tavola__v1__cancel_transaction_response__descriptor);
    return show_transaction(&client, reply ? reply->transaction : NULL);
}

static int run_transaction_list(const struct client_config *config, int argc, char **argv)
{
    Tavola__V1__ListTransactionsRequest request = TAVOLA__V1__LIST_TRANSACTIONS_REQUEST__INIT;
    struct api_client client;

    (void)argv;
    if (argc != 0)
        return command_misused("transaction list", "");
    if (!api_client_open(&client, config))
        return COMMAND_FAILED;
    do {
        const Tavola__V1__ListTransactionsResponse *page =
            api_client_call(&client, TRANSACTIONS "ListTransactions", &request.base,
                &tavola__v1__list_transactions_response__descriptor);

        if (!page)
            return api_client_close(&client, COMMAND_FAILED);
        for (size_t i = 0; i < page->n_transactions; i++)
            print_transaction(page->transactions[i]);
        request.page_token = page->next_page_token;
    } while (request.page_token.len > 0);
    return api_client_close(&client, COMMAND_OK);
}

static const struct command commands[] = {
    {
        .words = "dead-letter list",
        .arguments = "[TABLE]",
        .help = "list the dead letters (work that was given up) of all tables or of one, each with its cause",
        .run = run_dead_letters_list,
    },
    {
        .words = "dead-letter redrive",
        .arguments = REDRIVE_ARGUMENTS,
        .help = "put dead letters back into work; --dry-run: only report what that would change",
        .run = run_dead_letters_redrive,
    },
    {
        .words = "dead-letter discard",
        .arguments = DISCARD_ARGUMENTS,
        .help = "set a dead letter aside with a reason; the work is not done, and the indexes of its key "
                "stay out of date",
        .run = run_dead_letters_discard,
    },
    {
        .words = "transaction get",
        .arguments = "ID",
        .help = "print a transaction and every attempt at its steps",
        .run = run_transaction_get,
    },
    {
        .words = "transaction cancel",
        .arguments = "ID",
        .help = "cancel a transaction, as long as none of its steps has run",
        .run = run_transaction_cancel,
    },
    {
        .words = "transaction list",
        .arguments = "",
        .help = "list the transactions that are still stored",
        .run = run_transaction_list,
    },
};

const struct command_group commands_work = { "Work", commands, ARRAY_LEN(commands) };
