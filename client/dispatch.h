/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch.h - finds the command of a list of words in the tables, and runs it.
 */
#ifndef CLIENT_DISPATCH_H
#define CLIENT_DISPATCH_H

#include "client/command.h"

/*
 * Find the command that argv begins with; *words is the number of arguments that name it. NULL: there is
 * none, or its help was asked for and printed; *exit_code is then the exit code. argv[argc] is NULL.
 */
const struct command *dispatch_find(int argc, char **argv, int *words, int *exit_code);

/*
 * Run a command with the arguments behind its words. Returns its exit code, or COMMAND_FAILED if standard
 * output could not be written.
 */
int dispatch_run(const struct command *command, const struct client_config *config, int argc, char **argv);

/* Print the usage and the help of a command as two lines. before: printed in front of it. */
void dispatch_print_command(const struct command *command, const char *before, FILE *out);

/*
 * Write out what standard output holds. If that fails, such as on a full disk, a command that was done has failed:
 * returns the exit code.
 */
int dispatch_check_output(int code);

#endif
