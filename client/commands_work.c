/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_work.c - what has been given up, and transactions: listed, redriven, discarded, cancelled.
 */
#include "client/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/wire.h"
#include "client/conversation.h"

/* ---- dead letters ---- */

enum letter_field {
    LETTER_ID = 1,
    LETTER_KIND = 2,
    LETTER_QUEUE = 3,
    LETTER_TABLE = 5,
    LETTER_KEY = 6,
    LETTER_INDEX = 7,
    LETTER_TRANSACTION = 8,
    LETTER_FAILURES = 10,
    LETTER_CAUSE = 11,
};
enum { KIND_TRANSACTION = 2, FILTER_TABLE = 5, KEY_PARTITION = 1, KEY_ROW = 2 };
enum { LIST_FILTER = 1, LIST_PAGE_TOKEN = 4, LISTED_NEXT = 3 };
enum { CHANGE_IDS = 1, CHANGE_FILTER = 2, REDRIVE_DRY_RUN = 3, DISCARD_REASON = 3 };
enum { CHANGED_IDS = 1, REDRIVEN_DIFFERENCES = 2, REDRIVEN_MORE = 3 };

static void print_letter(struct str letter)
{
    struct str key = conversation_text(letter, LETTER_KEY);
    struct str index = conversation_text(letter, LETTER_INDEX);
    bool is_transaction = conversation_number(letter, LETTER_KIND) == KIND_TRANSACTION;

    printf("%-8llu %-5.*s ", (unsigned long long)conversation_number(letter, LETTER_ID),
        STR_ARG(conversation_text(letter, LETTER_QUEUE)));
    if (is_transaction)
        printf("transaction %.*s", STR_ARG(conversation_text(letter, LETTER_TRANSACTION)));
    else
        printf("%.*s (%.*s, %.*s)", STR_ARG(conversation_text(letter, LETTER_TABLE)),
            STR_ARG(conversation_text(key, KEY_PARTITION)), STR_ARG(conversation_text(key, KEY_ROW)));
    if (index.len > 0)
        printf(" in %.*s", STR_ARG(index));
    printf("  failures=%llu  %.*s\n", (unsigned long long)conversation_number(letter, LETTER_FAILURES),
        STR_ARG(conversation_text(letter, LETTER_CAUSE)));
}

static void write_filter(struct buf *request, uint32_t number, const char *table, struct arena *arena)
{
    struct buf filter;

    buf_init(&filter, arena);
    if (table)
        wire_write_bytes(&filter, FILTER_TABLE, str_of(table));
    wire_write_bytes(request, number, buf_str(&filter));
}

static int run_letters_list(const struct client_config *config, int argc, char **argv)
{
    static const struct listing letters = {
        .path = "/tavola.v1.AdminService/ListDeadLetters",
        .token = LIST_PAGE_TOKEN,
        .next = LISTED_NEXT,
        .heading = "number   queue what",
        .none = "no dead letters",
        .print = print_letter,
    };
    struct conversation talk;
    struct buf request;
    bool listed;

    if (argc > 1)
        return command_misused("dead-letters list", "[TABLE]");
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    buf_init(&request, &talk.arena);
    write_filter(&request, LIST_FILTER, argc == 1 ? argv[0] : NULL, &talk.arena);
    listed = conversation_list(&talk, &letters, buf_str(&request));
    return conversation_end(&talk, listed ? COMMAND_OK : COMMAND_FAILED);
}

/* A number, or "all" for all that are dead. */
static bool write_which(struct buf *request, const char *which, struct arena *arena)
{
    unsigned long long id;
    char *end;

    errno = 0;
    id = strtoull(which, &end, 10);
    if (strcmp(which, "all") == 0) {
        write_filter(request, CHANGE_FILTER, NULL, arena);
        return true;
    }
    if (*which < '0' || *which > '9' || *end || errno == ERANGE || id > INT64_MAX)
        return false;
    wire_write_scalar(request, CHANGE_IDS, id);
    return true;
}

static void print_differences(struct str reply)
{
    struct str one;

    while (conversation_next(&reply, REDRIVEN_DIFFERENCES, &one))
        printf("%-8llu missing=%llu dangling=%llu mismatched=%llu violations=%llu steps=%llu\n",
            (unsigned long long)conversation_number(one, 1), (unsigned long long)conversation_number(one, 2),
            (unsigned long long)conversation_number(one, 3), (unsigned long long)conversation_number(one, 4),
            (unsigned long long)conversation_number(one, 5), (unsigned long long)conversation_number(one, 6));
}

/* What was asked for by number and did not happen. */
static int say_changed(const char *which, size_t count, const char *what)
{
    if (count == 0 && strcmp(which, "all") != 0) {
        fprintf(stderr, "tavola: there is no dead letter %s that could be %s\n", which, what);
        return COMMAND_FAILED;
    }
    printf("%zu %s\n", count, what);
    return COMMAND_OK;
}

static int run_letters_redrive(const struct client_config *config, int argc, char **argv)
{
    bool dry_run = argc == 2 && strcmp(argv[1], "--dry-run") == 0;
    struct conversation talk;
    struct buf request;
    struct str reply;
    size_t done = 0;

    if (argc != 1 && !dry_run)
        return command_misused("dead-letters redrive", "NUMBER|all [--dry-run]");
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    do {
        buf_init(&request, &talk.arena);
        wire_write_scalar(&request, REDRIVE_DRY_RUN, dry_run);
        if (!write_which(&request, argv[0], &talk.arena))
            return conversation_end(&talk, command_misused("dead-letters redrive", "NUMBER|all [--dry-run]"));
        if (!conversation_call(&talk, "/tavola.v1.AdminService/RedriveDeadLetters", &request, &reply))
            return conversation_end(&talk, COMMAND_FAILED);
        print_differences(reply);
        done += conversation_count(reply, CHANGED_IDS);
    } while (conversation_count(reply, CHANGED_IDS) > 0 && conversation_number(reply, REDRIVEN_MORE));
    if (!dry_run)
        return conversation_end(&talk, say_changed(argv[0], done, "redriven"));
    if (conversation_text(reply, REDRIVEN_DIFFERENCES).len == 0)
        printf("no dead letters\n");
    if (conversation_number(reply, REDRIVEN_MORE))
        printf("and more\n");
    return conversation_end(&talk, COMMAND_OK);
}

static int run_letters_discard(const struct client_config *config, int argc, char **argv)
{
    struct conversation talk;
    struct buf request;
    struct str reply;

    if (argc != 2)
        return command_misused("dead-letters discard", "NUMBER REASON");
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    buf_init(&request, &talk.arena);
    wire_write_bytes(&request, DISCARD_REASON, str_of(argv[1]));
    if (strcmp(argv[0], "all") == 0 || !write_which(&request, argv[0], &talk.arena))
        return conversation_end(&talk, command_misused("dead-letters discard", "NUMBER REASON"));
    if (!conversation_call(&talk, "/tavola.v1.AdminService/DiscardDeadLetters", &request, &reply))
        return conversation_end(&talk, COMMAND_FAILED);
    return conversation_end(&talk, say_changed(argv[0], conversation_count(reply, CHANGED_IDS), "discarded"));
}

/* ---- transactions ---- */

enum { TRANSACTION_ID = 1, TRANSACTION_STATE = 2, TRANSACTION_STEPS_DONE = 4, TRANSACTION_TIMELINE = 5 };
enum {
    ATTEMPT_STEP = 1,
    ATTEMPT_NUMBER = 2,
    ATTEMPT_WORKER = 3,
    ATTEMPT_BEFORE = 6,
    ATTEMPT_AFTER = 7,
    ATTEMPT_ERROR = 8
};
enum { ERROR_REASON = 2, ERROR_MESSAGE = 3, TRANSACTIONS_TOKEN = 2, TRANSACTIONS_NEXT = 2 };

static const char *const states[] = { "?", "PENDING", "RUNNING", "DONE", "FAILED", "CANCELLED", "DEAD" };

static void print_transaction(struct str transaction)
{
    uint64_t state = conversation_number(transaction, TRANSACTION_STATE);

    printf("%-36.*s %-9s steps done: %llu\n", STR_ARG(conversation_text(transaction, TRANSACTION_ID)),
        states[state < ARRAY_LEN(states) ? state : 0],
        (unsigned long long)conversation_number(transaction, TRANSACTION_STEPS_DONE));
}

static void print_timeline(struct str transaction)
{
    struct str attempt;

    while (conversation_next(&transaction, TRANSACTION_TIMELINE, &attempt)) {
        struct str error = conversation_text(attempt, ATTEMPT_ERROR);

        printf("  step %llu attempt %llu by %.*s: %.*s -> %.*s %.*s %.*s\n",
            (unsigned long long)conversation_number(attempt, ATTEMPT_STEP),
            (unsigned long long)conversation_number(attempt, ATTEMPT_NUMBER),
            STR_ARG(conversation_text(attempt, ATTEMPT_WORKER)),
            STR_ARG(conversation_text(attempt, ATTEMPT_BEFORE)),
            STR_ARG(conversation_text(attempt, ATTEMPT_AFTER)),
            STR_ARG(conversation_text(error, ERROR_REASON)),
            STR_ARG(conversation_text(error, ERROR_MESSAGE)));
    }
}

/* A method whose request and reply are an id and a transaction, both field 1. */
static int run_on_transaction(
    const struct client_config *config, int argc, char **argv, const char *words, const char *path)
{
    struct conversation talk;
    struct buf request;
    struct str reply;
    bool called;

    if (argc != 1)
        return command_misused(words, "ID");
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    buf_init(&request, &talk.arena);
    wire_write_bytes(&request, 1, str_of(argv[0]));
    called = conversation_call(&talk, path, &request, &reply);
    if (called) {
        print_transaction(conversation_text(reply, 1));
        print_timeline(conversation_text(reply, 1));
    }
    return conversation_end(&talk, called ? COMMAND_OK : COMMAND_FAILED);
}

static int run_transaction_get(const struct client_config *config, int argc, char **argv)
{
    return run_on_transaction(
        config, argc, argv, "transaction get", "/tavola.v1.TransactionService/GetTransaction");
}

static int run_transaction_cancel(const struct client_config *config, int argc, char **argv)
{
    return run_on_transaction(
        config, argc, argv, "transaction cancel", "/tavola.v1.TransactionService/CancelTransaction");
}

static int run_transaction_list(const struct client_config *config, int argc, char **argv)
{
    static const struct listing transactions = {
        .path = "/tavola.v1.TransactionService/ListTransactions",
        .token = TRANSACTIONS_TOKEN,
        .next = TRANSACTIONS_NEXT,
        .print = print_transaction,
    };
    struct conversation talk;
    bool listed;

    (void)argv;
    if (argc != 0)
        return command_misused("transaction list", "");
    if (!conversation_begin(&talk, config))
        return COMMAND_FAILED;
    listed = conversation_list(&talk, &transactions, STR_EMPTY);
    return conversation_end(&talk, listed ? COMMAND_OK : COMMAND_FAILED);
}

static const struct command commands[] = {
    {
        .words = "dead-letters list",
        .arguments = "[TABLE]",
        .help = "show the work that was given up, of all tables or one, with its cause",
        .run = run_letters_list,
    },
    {
        .words = "dead-letters redrive",
        .arguments = "NUMBER|all [--dry-run]",
        .help = "give dead letters another try, or tell what that would change",
        .run = run_letters_redrive,
    },
    {
        .words = "dead-letters discard",
        .arguments = "NUMBER REASON",
        .help = "set a dead letter aside; its key stays behind",
        .run = run_letters_discard,
    },
    {
        .words = "transaction get",
        .arguments = "ID",
        .help = "show a transaction and every attempt at its steps",
        .run = run_transaction_get,
    },
    {
        .words = "transaction cancel",
        .arguments = "ID",
        .help = "cancel a transaction of which no step has run",
        .run = run_transaction_cancel,
    },
    {
        .words = "transaction list",
        .arguments = "",
        .help = "show all transactions that are remembered",
        .run = run_transaction_list,
    },
};

const struct command_group commands_work = { "Work", commands, ARRAY_LEN(commands) };
