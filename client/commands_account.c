/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_account.c - accounts and their keys.
 *
 * These commands change accounts in the database directly, as migrations do: an operator with that access can
 * read all keys anyway, and no key is ever sent to a server.
 */
#include <string.h>

#include "base/digits.h"
#include "client/calls.h"
#include "client/command.h"
#include "client/rows.h"
#include "client/time_text.h"
#include "domain/ticks.h"
#include "store/access/account_calls.h"
#include "store/access/wrapping_source.h"
#include "store/connection/pg.h"

enum { ACCOUNT_NAME_TEXT_BYTES = 80 };

#define CREATE_ARGUMENTS "NAME [--administrator]"
#define REWRAP_ARGUMENTS "[--clear]"
#define QUOTA_ARGUMENTS "NAME [--entities N|none|default] [--bytes N|none|default]"

static void print_key(const char *which, const struct account_key *key, struct arena *arena)
{
    printf("%s %s\n", which, account_key_format(key, arena).data);
}

struct account_work {
    const char *words;
    struct pg pg;
    struct arena arena;
    struct wrapping_keys wrapping_keys;
    struct str name;
    bool administrator;
    int64_t max_entities, max_bytes; /* set-quota */
    bool to_clear;                   /* rewrap */
    struct rows *rows;               /* list */
};

static enum status create(struct account_work *work, struct error *err)
{
    struct account account = { .name = work->name, .administrator = work->administrator };

    TRY(account_calls_create(&work->pg, &work->wrapping_keys, &account, &work->arena, err));
    print_key("first key ", &account.keys[0], &work->arena);
    print_key("second key", &account.keys[1], &work->arena);
    fprintf(stderr, "Keep them: they are not shown again.\n");
    return STATUS_OK;
}

static const struct rows_column account_columns[] = {
    { "account", NULL, CELL_TEXT, false, "account", NULL },
    { "created", NULL, CELL_TEXT, false, "created", NULL },
    { "keys of", NULL, CELL_TEXT, false, "rotated", NULL },
    { "administrator", NULL, CELL_TEXT, false, "administrator", NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

static void add_account(struct rows *rows, const struct account_view *account)
{
    char name[ACCOUNT_NAME_TEXT_BYTES], created[TIME_TEXT_BYTES], rotated[TIME_TEXT_BYTES];

    snprintf(name, sizeof(name), "%.*s", STR_ARG(account->name));
    rows_add_texts(
        rows, (const char *const[]){ name, time_text_format(account->created, created),
                  time_text_format(account->rotated, rotated), account->administrator ? "yes" : "no" });
}

static enum status list(struct account_work *work, struct error *err)
{
    struct account_view *accounts;
    size_t count;

    TRY(account_calls_list(&work->pg, &work->arena, &accounts, &count, err));
    for (size_t i = 0; i < count; i++)
        add_account(work->rows, &accounts[i]);
    rows_close(work->rows);
    return STATUS_OK;
}

static enum status rotate(struct account_work *work, struct error *err)
{
    struct account_key key;

    TRY(account_calls_rotate(&work->pg, &work->wrapping_keys, work->name, &work->arena, &key, err));
    print_key("first key ", &key, &work->arena);
    fprintf(stderr, "The old first key is the second key now; the old second key is not valid any more.\n"
                    "Keep the new one: it is not shown again.\n");
    return STATUS_OK;
}

static enum status delete (struct account_work *work, struct error *err) {
    return account_calls_delete(&work->pg, work->name, &work->arena, err);
}

static enum status set_quota(struct account_work *work, struct error *err)
{
    return account_calls_set_quota(
        &work->pg, work->name, work->max_entities, work->max_bytes, &work->arena, err);
}

static enum status rewrap(struct account_work *work, struct error *err)
{
    static const struct wrapping_keys none;
    int64_t count;

    if (!work->to_clear && work->wrapping_keys.count == 0)
        return error_set(err, STATUS_INVALID,
            "neither TAVOLA_WRAPPING_KEY nor TAVOLA_WRAPPING_KEY_FILE is set; --clear stores the keys in "
            "clear");
    TRY(account_calls_rewrap(&work->pg, &work->wrapping_keys, work->to_clear ? &none : &work->wrapping_keys,
        &work->arena, &count, err));
    printf("stored the keys of %lld accounts anew\n", (long long)count);
    return STATUS_OK;
}

static int work_on(const struct client_config *config, struct account_work *work,
    enum status (*run)(struct account_work *work, struct error *err))
{
    struct error err = { 0 };
    int exit_code = COMMAND_OK;

    if (!config->postgres) {
        fprintf(stderr, "tavola %s: TAVOLA_POSTGRES is not set; accounts are kept in the database\n",
            work->words);
        return COMMAND_MISUSED;
    }
    if (wrapping_source_read(config->wrapping_key, config->wrapping_key_file, &work->wrapping_keys, &err) !=
        STATUS_OK)
        return command_failed(work->words, &err);
    pg_allow_data_loss(config->allow_data_loss != 0);
    pg_init(&work->pg, config->postgres, "tavola account");
    arena_init(&work->arena);
    if (run(work, &err) != STATUS_OK)
        exit_code = command_failed(work->words, &err);
    arena_cleanup(&work->arena);
    pg_close(&work->pg);
    return exit_code;
}

static int run_create(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "account create" };
    struct account_work work = { .words = arguments.command };

    if (!command_arguments(CREATE_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    work.administrator = arguments_value(&arguments, "--administrator") != NULL;
    work.name = str_of(arguments.words[0]);
    return work_on(config, &work, create);
}

static int run_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "account list" };
    struct rows rows;
    struct account_work work = { .words = "account list", .rows = &rows };

    if (!arguments_read(ROWS_FORM, argc, argv, &arguments) || !rows_open(&rows, &arguments, account_columns))
        return COMMAND_MISUSED;
    return arguments.count != 0 ? command_misused(work.words, ROWS_FORM) : work_on(config, &work, list);
}

static int run_named(const struct client_config *config, const char *words, int argc, char **argv,
    enum status (*run)(struct account_work *work, struct error *err))
{
    struct arguments arguments = { .command = words };
    struct account_work work = { .words = words };

    if (!command_arguments("NAME", 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    work.name = str_of(arguments.words[0]);
    return work_on(config, &work, run);
}

static int run_rotate(const struct client_config *config, int argc, char **argv)
{
    return run_named(config, "account rotate-key", argc, argv, rotate);
}

static int run_delete(const struct client_config *config, int argc, char **argv)
{
    return run_named(config, "account delete", argc, argv, delete);
}

static int run_rewrap(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "account rewrap" };
    struct account_work work = { .words = arguments.command };

    if (!command_arguments(REWRAP_ARGUMENTS, 0, argc, argv, &arguments))
        return COMMAND_MISUSED;
    work.to_clear = arguments_value(&arguments, "--clear") != NULL;
    return work_on(config, &work, rewrap);
}

static bool parse_quota(const char *text, int64_t *out)
{
    if (strcmp(text, "default") == 0)
        *out = QUOTA_OF_SETTINGS;
    else if (strcmp(text, "none") == 0)
        *out = QUOTA_NONE;
    else
        return digits_parse_signed(str_of(text), 1, INT64_MAX, out);
    return true;
}

/* If the option was not given, *out stays as it is. */
static bool read_quota(const struct arguments *arguments, const char *name, int64_t *out)
{
    const char *text = arguments_value(arguments, name);

    return !text || parse_quota(text, out);
}

static int run_set_quota(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "account set-quota" };
    struct account_work work = {
        .words = arguments.command, .max_entities = QUOTA_AS_IT_IS, .max_bytes = QUOTA_AS_IT_IS
    };

    if (!command_arguments(QUOTA_ARGUMENTS, 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.option_count == 0 || !read_quota(&arguments, "--entities", &work.max_entities) ||
        !read_quota(&arguments, "--bytes", &work.max_bytes))
        return command_misused(work.words, QUOTA_ARGUMENTS);
    work.name = str_of(arguments.words[0]);
    return work_on(config, &work, set_quota);
}

/* ---- usage, by the API ---- */

static const struct rows_column usage_columns[] = {
    { "what", NULL, CELL_TEXT, false, "what", NULL },
    { "used", NULL, CELL_NUMBER, false, "used", NULL },
    { "quota", NULL, CELL_NUMBER, false, "quota", NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

/* "entities  5 of 10"; quota "": it has none of its own. */
static void add_usage(struct rows *rows, const char *what, const char *used, const char *quota)
{
    bool has_quota = *quota && strcmp(quota, "0") != 0;

    if (rows->form != OUTPUT_TABLE)
        rows_add_texts(rows, (const char *const[]){ what, used, has_quota ? quota : "" });
    else if (*quota)
        printf("%-9s %s of %s\n", what, used, has_quota ? quota : "any number");
    else
        printf("%-9s %s\n", what, used);
}

static void print_usage(struct rows *rows, const struct tavola_record *usage)
{
    static const char *const names[] = { "tables", "indexes", "entities", "bytes" };
    char *entries = tavola_record_text(usage, "indexEntries");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct tavola_record one = tavola_record_part(usage, names[i]);
        char *used = tavola_record_text(&one, "used"), *quota = tavola_record_text(&one, "quota");

        if (one.type)
            add_usage(rows, names[i], used, quota);
        tavola_free(used);
        tavola_free(quota);
    }
    add_usage(rows, "entries", entries, "");
    tavola_free(entries);
}

static void print_counted(const struct tavola_record *usage)
{
    char *counted = tavola_record_text(usage, "counted");

    if (*counted)
        printf("entities and bytes were counted at %.19sZ\n", counted);
    else
        printf("entities and bytes have not been counted yet: a worker does it\n");
    tavola_free(counted);
}

static int run_usage(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "account usage" };
    struct tavola_reply *reply;
    struct tavola_record usage;
    struct tavola *client;
    struct rows rows;

    if (!arguments_read(ROWS_FORM, argc, argv, &arguments) || !rows_open(&rows, &arguments, usage_columns))
        return COMMAND_MISUSED;
    if (arguments.count != 0)
        return command_misused("account usage", ROWS_FORM);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    reply = calls_ask(client, "GetAccountUsage", NULL);
    if (!reply)
        return calls_close(client, COMMAND_FAILED);
    usage = tavola_reply_record(reply);
    print_usage(&rows, &usage);
    if (rows.form == OUTPUT_TABLE)
        print_counted(&usage);
    else
        rows_close(&rows);
    tavola_reply_free(reply);
    return calls_close(client, COMMAND_OK);
}

static const struct command commands[] = {
    {
        .words = "account create",
        .arguments = CREATE_ARGUMENTS,
        .help = "create an account in the database of TAVOLA_POSTGRES and print its two keys, which are not "
                "shown again",
        .run = run_create,
    },
    {
        .words = "account list",
        .arguments = ROWS_FORM,
        .help = "print the accounts of TAVOLA_POSTGRES, without their keys",
        .run = run_list,
    },
    {
        .words = "account rotate-key",
        .arguments = "NAME",
        .help = "make and print a new first key; the old first key becomes the second, and the old second "
                "key is not valid any more",
        .run = run_rotate,
    },
    {
        .words = "account rewrap",
        .arguments = REWRAP_ARGUMENTS,
        .help = "encrypt the keys of all accounts with the first wrapping key, or store them in clear",
        .run = run_rewrap,
    },
    {
        .words = "account set-quota",
        .arguments = QUOTA_ARGUMENTS,
        .help = "what the account may hold, whatever the servers' settings say; default: what they say",
        .run = run_set_quota,
    },
    {
        .words = "account usage",
        .arguments = ROWS_FORM,
        .help = "print the usage of the token's account, and its quotas",
        .run = run_usage,
    },
    {
        .words = "account delete",
        .arguments = "NAME",
        .help = "delete an account that has no tables and no blobs; its keys and their tokens are refused "
                "within a second",
        .run = run_delete,
    },
};

const struct command_group commands_account = { "Accounts", commands, ARRAY_LEN(commands) };
