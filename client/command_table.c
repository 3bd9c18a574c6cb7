/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.c - see the header.
 */
#include "client/command_table.h"

#include <string.h>

static const struct command_group *const groups[] = { &commands_table, &commands_entity, &commands_query,
    &commands_batch, &commands_import, &commands_export, &commands_blob, &commands_chunks, &commands_api,
    &commands_operate, &commands_doctor, &commands_account, &commands_access, &commands_audit,
    &commands_dead_letters, &commands_transaction, &commands_index, &commands_operation, &commands_watch,
    &commands_queue, &commands_top, &commands_load, &commands_dev, &commands_shell, &commands_help };

static const struct {
    const char *word, *stands_for;
} aliases[] = { { "tx", "transaction" }, { "transactions", "transaction" }, { "dead-letter", "dead-letters" },
    { "tables", "table" }, { "entities", "entity" }, { "indexes", "index" }, { "operations", "operation" },
    { "queues", "queue" }, { "blobs", "blob" } };

const char *command_table_first_word(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (strcmp(word, aliases[i].word) == 0)
            return aliases[i].stands_for;
    return word;
}

const char *command_table_alias(size_t position, const char **stands_for)
{
    if (position >= ARRAY_LEN(aliases))
        return NULL;
    *stands_for = aliases[position].stands_for;
    return aliases[position].word;
}

const struct command_group *const *command_table_groups(size_t *count)
{
    *count = ARRAY_LEN(groups);
    return groups;
}

const struct command *command_table_at(size_t position)
{
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        if (position < groups[i]->count)
            return &groups[i]->commands[position];
        position -= groups[i]->count;
    }
    return NULL;
}
