/*
 * commands_work.c - what has been given up, and transactions: listed, redriven, discarded, cancelled. Replies are
 * read by hand, field by field: a command shows few of them.
 */
#include "client/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/wire.h"
#include "client/connect.h"

enum { CALL_TIMEOUT_MS = 30000 };

/* ---- calls ---- */

struct conversation {
    struct rpc_channel *channel;
    struct arena arena;
};

static bool converse(struct conversation *out, const struct client_config *config)
{
    struct error err = { 0 };

    if (client_connect(config, &out->channel, &err) != STATUS_OK) {
        fprintf(stderr, "tavola: %s\n", err.message);
        return false;
    }
    arena_init(&out->arena);
    return true;
}

static int part(struct conversation *conversation, int exit_code)
{
    rpc_channel_close(conversation->channel);
    arena_cleanup(&conversation->arena);
    return exit_code;
}

static bool call(struct conversation *conversation, const char *path, struct buf *request, struct str *reply)
{
    struct rpc_status ended;

    rpc_channel_call(
        conversation->channel, path, buf_str(request), CALL_TIMEOUT_MS, &conversation->arena, reply, &ended);
    if (ended.code == 0)
        return true;
    fprintf(stderr, "tavola: code %d: %.*s\n", ended.code, STR_ARG(ended.message));
    return false;
}

/* ---- replies ---- */

/* The last value of a field: text, or bytes of a message; empty when it is not there. */
static struct str text_of(struct str message, uint32_t number)
{
    struct wire_field field;
    struct str out = STR_EMPTY;

    while (wire_read_field(&message, &field) == WIRE_FIELD)
        if (field.number == number && field.type == WIRE_BYTES)
            out = field.bytes;
    return out;
}

static uint64_t number_of(struct str message, uint32_t number)
{
    struct wire_field field;
    uint64_t out = 0;

    while (wire_read_field(&message, &field) == WIRE_FIELD)
        if (field.number == number && field.type == WIRE_VARINT)
            out = field.scalar;
    return out;
}

/* How many numbers a packed field holds. */
static size_t count_of(struct str message, uint32_t number)
{
    struct str packed = text_of(message, number);
    uint64_t ignored;
    size_t count = 0;

    while (packed.len > 0 && wire_read_varint(&packed, &ignored))
        count++;
    return count;
}

/* ---- dead letters ---- */

enum letter_field {
    LETTER_ID = 1,
    LETTER_KIND = 2,
    LETTER_QUEUE = 3,
    LETTER_TABLE = 5,
    LETTER_KEY = 6,
    LETTER_TRANSACTION = 8,
    LETTER_FAILURES = 10,
    LETTER_CAUSE = 11,
};
enum { KIND_TRANSACTION = 2, FILTER_TABLE = 5, KEY_PARTITION = 1, KEY_ROW = 2 };
enum { LIST_FILTER = 1, LIST_PAGE_TOKEN = 4, LISTED = 1, LISTED_NEXT = 3 };
enum { CHANGE_IDS = 1, CHANGE_FILTER = 2, REDRIVE_DRY_RUN = 3, DISCARD_REASON = 3 };
enum { CHANGED_IDS = 1, REDRIVEN_DIFFERENCES = 2, REDRIVEN_MORE = 3 };

static void print_letter(struct str letter)
{
    struct str key = text_of(letter, LETTER_KEY);
    bool is_transaction = number_of(letter, LETTER_KIND) == KIND_TRANSACTION;

    printf("%-8llu %-5.*s ", (unsigned long long)number_of(letter, LETTER_ID),
        STR_ARG(text_of(letter, LETTER_QUEUE)));
    if (is_transaction)
        printf("transaction %.*s", STR_ARG(text_of(letter, LETTER_TRANSACTION)));
    else
        printf("%.*s (%.*s, %.*s)", STR_ARG(text_of(letter, LETTER_TABLE)),
            STR_ARG(text_of(key, KEY_PARTITION)), STR_ARG(text_of(key, KEY_ROW)));
    printf("  failures=%llu  %.*s\n", (unsigned long long)number_of(letter, LETTER_FAILURES),
        STR_ARG(text_of(letter, LETTER_CAUSE)));
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
    struct conversation talk;
    struct str reply, token = STR_EMPTY;

    if (argc > 1)
        return command_misused("dead-letters list", "[TABLE]");
    if (!converse(&talk, config))
        return COMMAND_FAILED;
    printf("%-8s %-5s what\n", "number", "queue");
    do {
        struct wire_field field;
        struct str rest;
        struct buf request;

        buf_init(&request, &talk.arena);
        write_filter(&request, LIST_FILTER, argc == 1 ? argv[0] : NULL, &talk.arena);
        wire_write_bytes(&request, LIST_PAGE_TOKEN, token);
        if (!call(&talk, "/tavola.v1.AdminService/ListDeadLetters", &request, &reply))
            return part(&talk, COMMAND_FAILED);
        for (rest = reply; wire_read_field(&rest, &field) == WIRE_FIELD;)
            if (field.number == LISTED && field.type == WIRE_BYTES)
                print_letter(field.bytes);
        token = text_of(reply, LISTED_NEXT);
    } while (token.len > 0);
    return part(&talk, COMMAND_OK);
}

/* A number, or "all" for all that are dead. */
static bool write_which(struct buf *request, const char *which, struct arena *arena)
{
    char *end;
    unsigned long long id = strtoull(which, &end, 10);

    if (strcmp(which, "all") == 0) {
        write_filter(request, CHANGE_FILTER, NULL, arena);
        return true;
    }
    if (*which < '0' || *which > '9' || *end)
        return false;
    wire_write_scalar(request, CHANGE_IDS, id);
    return true;
}

static void print_differences(struct str reply)
{
    struct wire_field field;

    while (wire_read_field(&reply, &field) == WIRE_FIELD)
        if (field.number == REDRIVEN_DIFFERENCES && field.type == WIRE_BYTES)
            printf("%-8llu missing=%llu dangling=%llu mismatched=%llu violations=%llu steps=%llu\n",
                (unsigned long long)number_of(field.bytes, 1), (unsigned long long)number_of(field.bytes, 2),
                (unsigned long long)number_of(field.bytes, 3), (unsigned long long)number_of(field.bytes, 4),
                (unsigned long long)number_of(field.bytes, 5), (unsigned long long)number_of(field.bytes, 6));
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
    if (!converse(&talk, config))
        return COMMAND_FAILED;
    do {
        buf_init(&request, &talk.arena);
        wire_write_scalar(&request, REDRIVE_DRY_RUN, dry_run);
        if (!write_which(&request, argv[0], &talk.arena))
            return part(&talk, command_misused("dead-letters redrive", "NUMBER|all [--dry-run]"));
        if (!call(&talk, "/tavola.v1.AdminService/RedriveDeadLetters", &request, &reply))
            return part(&talk, COMMAND_FAILED);
        print_differences(reply);
        done += count_of(reply, CHANGED_IDS);
    } while (count_of(reply, CHANGED_IDS) > 0 && number_of(reply, REDRIVEN_MORE));
    if (!dry_run)
        printf("%zu redriven\n", done);
    else if (number_of(reply, REDRIVEN_MORE))
        printf("and more\n");
    return part(&talk, COMMAND_OK);
}

static int run_letters_discard(const struct client_config *config, int argc, char **argv)
{
    struct conversation talk;
    struct buf request;
    struct str reply;
    bool called;

    if (argc != 2)
        return command_misused("dead-letters discard", "NUMBER REASON");
    if (!converse(&talk, config))
        return COMMAND_FAILED;
    buf_init(&request, &talk.arena);
    wire_write_bytes(&request, DISCARD_REASON, str_of(argv[1]));
    if (strcmp(argv[0], "all") == 0 || !write_which(&request, argv[0], &talk.arena))
        return part(&talk, command_misused("dead-letters discard", "NUMBER REASON"));
    called = call(&talk, "/tavola.v1.AdminService/DiscardDeadLetters", &request, &reply);
    if (called)
        printf("%zu discarded\n", count_of(reply, CHANGED_IDS));
    return part(&talk, called ? COMMAND_OK : COMMAND_FAILED);
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
    uint64_t state = number_of(transaction, TRANSACTION_STATE);

    printf("%-36.*s %-9s steps done: %llu\n", STR_ARG(text_of(transaction, TRANSACTION_ID)),
        states[state < ARRAY_LEN(states) ? state : 0],
        (unsigned long long)number_of(transaction, TRANSACTION_STEPS_DONE));
}

static void print_timeline(struct str transaction)
{
    struct wire_field field;

    while (wire_read_field(&transaction, &field) == WIRE_FIELD) {
        struct str error;

        if (field.number != TRANSACTION_TIMELINE || field.type != WIRE_BYTES)
            continue;
        error = text_of(field.bytes, ATTEMPT_ERROR);
        printf("  step %llu attempt %llu by %.*s: %.*s -> %.*s %.*s %.*s\n",
            (unsigned long long)number_of(field.bytes, ATTEMPT_STEP),
            (unsigned long long)number_of(field.bytes, ATTEMPT_NUMBER),
            STR_ARG(text_of(field.bytes, ATTEMPT_WORKER)), STR_ARG(text_of(field.bytes, ATTEMPT_BEFORE)),
            STR_ARG(text_of(field.bytes, ATTEMPT_AFTER)), STR_ARG(text_of(error, ERROR_REASON)),
            STR_ARG(text_of(error, ERROR_MESSAGE)));
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
    if (!converse(&talk, config))
        return COMMAND_FAILED;
    buf_init(&request, &talk.arena);
    wire_write_bytes(&request, 1, str_of(argv[0]));
    called = call(&talk, path, &request, &reply);
    if (called) {
        print_transaction(text_of(reply, 1));
        print_timeline(text_of(reply, 1));
    }
    return part(&talk, called ? COMMAND_OK : COMMAND_FAILED);
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
    struct conversation talk;
    struct str reply, token = STR_EMPTY;

    (void)argv;
    if (argc != 0)
        return command_misused("transaction list", "");
    if (!converse(&talk, config))
        return COMMAND_FAILED;
    do {
        struct wire_field field;
        struct str rest;
        struct buf request;

        buf_init(&request, &talk.arena);
        wire_write_bytes(&request, TRANSACTIONS_TOKEN, token);
        if (!call(&talk, "/tavola.v1.TransactionService/ListTransactions", &request, &reply))
            return part(&talk, COMMAND_FAILED);
        for (rest = reply; wire_read_field(&rest, &field) == WIRE_FIELD;)
            if (field.number == 1 && field.type == WIRE_BYTES)
                print_transaction(field.bytes);
        token = text_of(reply, TRANSACTIONS_NEXT);
    } while (token.len > 0);
    return part(&talk, COMMAND_OK);
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
