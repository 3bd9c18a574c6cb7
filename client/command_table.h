/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.h - all commands: what main.c runs, and what help, completion and the man page are made of.
 */
#ifndef CLIENT_COMMAND_TABLE_H
#define CLIENT_COMMAND_TABLE_H

#include "client/command.h"

/* The groups in the order of the help. */
const struct command_group *const *command_table_groups(size_t *count);

/* The command at a position in that order; NULL: there are no more. */
const struct command *command_table_at(size_t position);

#endif
