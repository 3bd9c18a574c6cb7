/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - a command of `tavola`. Each group of commands is a table in a file of its own
 * (client/commands_*.c); main.c finds a command by its words and prints the tables as help.
 */
#ifndef CLIENT_COMMAND_H
#define CLIENT_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "client/arguments.h"
#include "client/client_config.h"

/* The exit code that a command returns. */
enum {
    COMMAND_OK = 0,
    COMMAND_FAILED = 1,
    COMMAND_MISUSED = 2,
    COMMAND_PARTLY = 3, /* some of the input was refused */
};

struct command {
    const char *words;             /* one or two words: "migrate", "table create" */
    const char *arguments;         /* usage of the arguments: "NAME"; "": none */
    const char *help;              /* one line */
    const char *examples;          /* lines for a shell; NULL: none */
    void (*print_more)(FILE *out); /* prints the rest of the help; NULL: none */

    /* Run the command. argv has the arguments behind the words; argv[argc] is NULL. */
    int (*run)(const struct client_config *config, int argc, char **argv);
};

struct command_group {
    const char *title;
    const struct command *commands;
    size_t count;
};

extern const struct command_group commands_operate;      /* migrate, epoch, health */
extern const struct command_group commands_table;        /* tables */
extern const struct command_group commands_entity;       /* entities */
extern const struct command_group commands_query;        /* queries, counts, look-ups, indexes */
extern const struct command_group commands_import;       /* files into tables */
extern const struct command_group commands_export;       /* tables into files */
extern const struct command_group commands_blob;         /* blobs */
extern const struct command_group commands_chunks;       /* the stores of their chunks */
extern const struct command_group commands_api;          /* any method, with JSON */
extern const struct command_group commands_batch;        /* writes together */
extern const struct command_group commands_dead_letters; /* work that was given up */
extern const struct command_group commands_transaction;  /* steps over partitions and tables */
extern const struct command_group commands_index;        /* verifying and repairing indexes */
extern const struct command_group commands_operation;    /* long-running operations */
extern const struct command_group commands_watch;        /* change feeds */
extern const struct command_group commands_queue;        /* queues and lag */
extern const struct command_group commands_top;          /* the live view */
extern const struct command_group commands_load;         /* hot partitions, advice on indexes */
extern const struct command_group commands_account;      /* accounts and their keys */
extern const struct command_group commands_audit;        /* administrative calls */
extern const struct command_group commands_access;       /* tokens, shared access signatures */
extern const struct command_group commands_doctor;       /* checks of the configuration */
extern const struct command_group commands_dev;          /* a private stack on this machine */
extern const struct command_group commands_shell;        /* many commands, one connection */
extern const struct command_group commands_help;         /* completion, man page */

/* Print the usage of a command that got wrong arguments. Returns COMMAND_MISUSED. */
int command_misused(const char *words, const char *usage);

/*
 * Read the arguments of a command that takes this number of words. out->command names the command. false: the exit code
 * is COMMAND_MISUSED; standard error says what is wrong, and what is allowed.
 */
bool command_arguments(const char *usage, int word_count, int argc, char **argv, struct arguments *out);

/*
 * Print the error of a command that failed. Returns COMMAND_MISUSED for STATUS_INVALID, otherwise
 * COMMAND_FAILED.
 */
int command_failed(const char *words, const struct error *err);

#endif
