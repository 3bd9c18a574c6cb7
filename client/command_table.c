/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_table.c - see the header.
 */
#include "client/command_table.h"

static const struct command_group *const groups[] = { &commands_entity, &commands_query, &commands_import,
    &commands_export, &commands_api, &commands_operate, &commands_doctor, &commands_account, &commands_access,
    &commands_audit, &commands_work, &commands_index, &commands_watch, &commands_queue, &commands_load,
    &commands_dev, &commands_help };

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
