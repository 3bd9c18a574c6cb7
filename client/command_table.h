/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.h - all commands. main.c runs them; help, completion and the man page are made from them.
 */
#ifndef CLIENT_COMMAND_TABLE_H
#define CLIENT_COMMAND_TABLE_H

#include "client/command.h"

/* The groups of commands, in the order of the help. */
const struct command_group *const *command_table_groups(size_t *count);

/*
 * The first word of a command for one that means the same: "transaction" for "tx". Any other word is given
 * back.
 */
const char *command_table_first_word(const char *word);

/* The alias at a position, and the first word that it stands for; NULL: there are no more. */
const char *command_table_alias(size_t position, const char **stands_for);

/* The command at a position in that order; NULL: there are no more. */
const struct command *command_table_at(size_t position);

#endif
