/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_transaction.c - transactions across partitions and tables: submit, get, wait, list, cancel.
 */
#include "client/command.h"

#include <string.h>

#include "client/calls.h"
#include "client/operation_line.h"
#include "client/rows.h"

#define SUBMIT_ARGUMENTS "[FILE | -] [--id ID] [--table TABLE] [--wait]"
#define LIST_ARGUMENTS "[--state STATE] " ROWS_FORM
#define WAIT_ARGUMENTS "ID [--timeout SECONDS]"

enum { DEFAULT_WAIT_S = 60, MS_PER_SECOND = 1000, MAX_WAIT_S = 86400 };

/* ---- printing ---- */

static const struct rows_column columns[] = {
    { "transaction", "transaction_id", CELL_TEXT, false, NULL, NULL },
    { "state", "state", CELL_TEXT, false, NULL, NULL },
    { "steps done", "steps_done", CELL_NUMBER, false, NULL, NULL },
    { "submitted", "submitted", CELL_TIME, false, NULL, NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

/* What a step outside the tables has done; the members that belong to other kinds of steps are 0 or empty. */
static void print_receipt(const struct tavola_record *receipt)
{
    int64_t offset = tavola_record_integer(receipt, "offset");
    int64_t http_status = tavola_record_integer(receipt, "httpStatus");
    char *etag = tavola_record_text(receipt, "etag");

    printf(": %lld bytes", (long long)tavola_record_integer(receipt, "size"));
    if (offset > 0)
        printf(" at byte %lld", (long long)offset);
    if (*etag)
        printf(", ETag %s", etag);
    if (http_status > 0)
        printf(", answer %lld", (long long)http_status);
    tavola_free(etag);
}

static void print_attempt(const struct tavola_record *attempt)
{
    enum { STEP, NUMBER, WORKER, BEFORE, AFTER, REASON, MESSAGE, PATHS };
    static const char *const paths[PATHS] = { "step", "number", "worker", "etagBefore", "etagAfter",
        "error.reason", "error.message" };
    struct tavola_record receipt = tavola_record_part(attempt, "receipt");
    char *texts[PATHS];

    for (size_t i = 0; i < PATHS; i++)
        texts[i] = tavola_record_text(attempt, paths[i]);
    printf("  step %s attempt %s by %s", texts[STEP], texts[NUMBER], texts[WORKER]);
    if (*texts[BEFORE] || *texts[AFTER])
        printf(": %s -> %s", *texts[BEFORE] ? texts[BEFORE] : "none", *texts[AFTER] ? texts[AFTER] : "none");
    if (receipt.type) /* NULL: the attempt has none */
        print_receipt(&receipt);
    if (*texts[REASON] || *texts[MESSAGE])
        printf(": %s %s", texts[REASON], texts[MESSAGE]);
    printf("\n");
    for (size_t i = 0; i < PATHS; i++)
        tavola_free(texts[i]);
}

static void print_transaction(const struct tavola_record *transaction)
{
    char *id = tavola_record_text(transaction, "transactionId");
    char *state = tavola_record_text(transaction, "state");
    struct tavola_record attempt;

    printf("%-36s %-9s steps done: %lld\n", id, state,
        (long long)tavola_record_integer(transaction, "stepsDone"));
    for (size_t position = 0; tavola_record_next(transaction, "timeline", &position, &attempt);)
        print_attempt(&attempt);
    tavola_free(id);
    tavola_free(state);
}

/* Call a method of one transaction and print it. */
static int show_transaction(struct tavola *client, const char *method, const char *id)
{
    struct tavola_record record, transaction;
    struct tavola_reply *reply;
    struct request request;

    request_begin(&request);
    request_text(&request, "transactionId", id);
    reply = calls_ask(client, method, &request);
    if (!reply)
        return COMMAND_FAILED;
    record = tavola_reply_record(reply);
    transaction = tavola_record_part(&record, "transaction");
    print_transaction(&transaction);
    tavola_reply_free(reply);
    return COMMAND_OK;
}

static int run_named(
    const struct client_config *config, const char *words, const char *method, int argc, char **argv)
{
    struct arguments arguments = { .command = words };
    struct tavola *client;

    if (!command_arguments("ID", 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(client, show_transaction(client, method, arguments.words[0]));
}

static int run_get(const struct client_config *config, int argc, char **argv)
{
    return run_named(config, "transaction get", "GetTransaction", argc, argv);
}

static int run_cancel(const struct client_config *config, int argc, char **argv)
{
    return run_named(config, "transaction cancel", "CancelTransaction", argc, argv);
}

/* ---- list ---- */

static int run_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "transaction list" };
    struct request request;
    const char *state;
    struct rows rows;
    char name[64];

    if (!arguments_read(LIST_ARGUMENTS, argc, argv, &arguments) || !rows_open(&rows, &arguments, columns))
        return COMMAND_MISUSED;
    if (arguments.count != 0)
        return command_misused("transaction list", LIST_ARGUMENTS);
    state = arguments_value(&arguments, "--state");
    snprintf(name, sizeof(name), "TRANSACTION_STATE_%.40s", state ? state : "");
    request_begin(&request);
    request_text(&request, "state", state ? name : NULL);
    return calls_print_list(config, "ListTransactions", "transactions", &rows, &request);
}

/* ---- wait ---- */

/* COMMAND_FAILED unless the transaction is done. */
static int wait_and_print(struct tavola *client, const char *id, int64_t seconds)
{
    enum tavola_transaction_state state;
    struct tavola_error error;
    int code;

    if (tavola_transaction_wait(client, id, seconds * MS_PER_SECOND, &state, &error) != TAVOLA_OK)
        return calls_failed(&error);
    code = show_transaction(client, "GetTransaction", id);
    return state == TAVOLA_TRANSACTION_DONE ? code : COMMAND_FAILED;
}

static int run_wait(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "transaction wait" };
    int64_t seconds = DEFAULT_WAIT_S;
    struct tavola *client;

    if (!arguments_read(WAIT_ARGUMENTS, argc, argv, &arguments) ||
        !arguments_number(&arguments, "--timeout", MAX_WAIT_S, &seconds))
        return COMMAND_MISUSED;
    if (arguments.count != 1)
        return command_misused("transaction wait", WAIT_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    return calls_close(client, wait_and_print(client, arguments.words[0], seconds));
}

/* ---- submit ---- */

struct steps {
    struct tavola_transaction *transaction;
    const char *table; /* of steps that name none; NULL: each names one */
    int count;
};

static void add_outside(struct steps *steps, const char *table, const struct operation_line *line)
{
    const struct tavola_blob_target blob = { line->put_blob, line->content_type, line->blob_if_match,
        line->blob_if_absent };
    const struct tavola_http_request request = { line->http_call, line->method, line->content_type };
    struct tavola_content content = { .delete_entity = line->deletes_entity };

    if (line->content) {
        content.data = line->content;
        content.size = strlen(line->content);
    } else if (line->entity) {
        content.table = table;
        content.key = tavola_entity_key(line->entity);
    }
    if (line->delete_blob)
        tavola_transaction_delete_blob(steps->transaction, line->delete_blob, line->blob_if_match);
    else if (line->put_blob)
        tavola_transaction_put_blob(steps->transaction, &blob, &content, line->if_match);
    else if (line->http_call)
        tavola_transaction_http_call(steps->transaction, &request, &content, line->if_match);
    else if (line->write_file)
        tavola_transaction_write_file(steps->transaction, line->write_file, &content, line->if_match);
    else
        tavola_transaction_append_file(steps->transaction, line->append_file, &content, line->if_match);
}

static enum status add_step(void *context, const struct operation_line *line, int number, struct error *err)
{
    struct steps *steps = context;
    const char *table = line->table ? line->table : steps->table;

    (void)number;
    if (!table && !line->content && !line->delete_blob)
        return error_set(err, STATUS_INVALID, "the step names no \"table\", and --table was not given");
    steps->count++;
    if (operation_line_is_outside(line))
        add_outside(steps, table, line);
    else if (line->is_move)
        tavola_transaction_move(steps->transaction, table, tavola_entity_key(line->entity),
            line->to_table ? line->to_table : table, tavola_entity_key(line->to));
    else if (line->action == TAVOLA_DELETE)
        tavola_transaction_delete(steps->transaction, table, tavola_entity_key(line->entity), line->if_match);
    else if (line->action == TAVOLA_INSERT_OR_REPLACE || line->action == TAVOLA_INSERT_OR_MERGE)
        tavola_transaction_put(
            steps->transaction, table, line->entity, line->action == TAVOLA_INSERT_OR_MERGE, line->if_match);
    else
        return error_set(err, STATUS_INVALID,
            "steps are insertOrReplace, insertOrMerge, delete, move, writeFile, appendFile, putBlob, "
            "deleteBlob and httpCall");
    return STATUS_OK;
}

static int submit(
    const struct client_config *config, const struct arguments *arguments, const struct steps *steps)
{
    const char *id = tavola_transaction_id(steps->transaction);
    struct tavola *client = calls_open(config);
    struct tavola_error error;

    if (!client)
        return COMMAND_FAILED;
    if (tavola_transaction_submit(client, steps->transaction, &error) != TAVOLA_OK)
        return calls_close(client, calls_failed(&error));
    if (arguments_value(arguments, "--wait"))
        return calls_close(client, wait_and_print(client, id, DEFAULT_WAIT_S));
    printf("%s\n", id);
    return calls_close(client, COMMAND_OK);
}

static int run_submit(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "transaction submit" };
    struct error err = { 0 };
    struct steps steps;
    int code;

    if (!arguments_read(SUBMIT_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count > 1)
        return command_misused("transaction submit", SUBMIT_ARGUMENTS);
    steps = (struct steps){ .transaction = tavola_transaction_new(arguments_value(&arguments, "--id")),
        .table = arguments_value(&arguments, "--table") };
    if (operation_line_read_file(arguments.count > 0 ? arguments.words[0] : NULL, add_step, &steps, &err) !=
        STATUS_OK)
        code = command_failed("transaction submit", &err);
    else
        code = submit(config, &arguments, &steps);
    tavola_transaction_free(steps.transaction);
    return code;
}

static void print_forms(FILE *out)
{
    fputs("\nEach line of FILE, or of standard input, is a step:\n"
          "  {\"put\": ENTITY, \"table\": TABLE}, likewise insertOrMerge and delete\n"
          "  {\"move\": KEY, \"table\": TABLE, \"to\": KEY, \"toTable\": TABLE}\n"
          "  {\"writeFile\": PATH, \"content\": TEXT} or, with an entity,\n"
          "  {\"writeFile\": PATH, \"from\": KEY, \"table\": TABLE, \"deleteEntity\": true}; likewise:\n"
          "    appendFile\n"
          "    putBlob, with contentType, blobIfMatch and blobIfAbsent\n"
          "    httpCall with a URL, contentType and method\n"
          "  {\"deleteBlob\": NAME}, with blobIfMatch\n"
          "ifMatch is the ETag that the entity must have. docs/steps.md describes files, blobs and calls.\n"
          "The steps are carried out one after the other, whatever happens to this command. The id is "
          "printed;\n"
          "under one id a transaction happens once.\n",
        out);
}

static const struct command commands[] = {
    {
        .words = "transaction submit",
        .arguments = SUBMIT_ARGUMENTS,
        .help = "submit steps over partitions and tables; --wait: until they are done",
        .examples = "tavola tx submit steps.jsonl --id order-17 --wait\n",
        .print_more = print_forms,
        .run = run_submit,
    },
    {
        .words = "transaction get",
        .arguments = "ID",
        .help = "print a transaction and every attempt at its steps",
        .run = run_get,
    },
    {
        .words = "transaction wait",
        .arguments = WAIT_ARGUMENTS,
        .help = "wait until a transaction has ended and print it; exit code 1 unless it is DONE",
        .run = run_wait,
    },
    {
        .words = "transaction cancel",
        .arguments = "ID",
        .help = "cancel a transaction, as long as none of its steps has run",
        .run = run_cancel,
    },
    {
        .words = "transaction list",
        .arguments = LIST_ARGUMENTS,
        .help = "list the transactions that are still stored; STATE as DEAD or RUNNING",
        .run = run_list,
    },
};

const struct command_group commands_transaction = { "Transactions (tx for short)", commands,
    ARRAY_LEN(commands) };
