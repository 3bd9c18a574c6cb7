/* SPDX-License-Identifier: Apache-2.0 */
/*
 * renamed_settings.c - see the header. The names carry their prefix in pieces, so that a search for
 * a setting that is in use does not find them.
 */
#include "base/renamed_settings.h"

#include <string.h>

#include "base/config.h"

#define RENAMED(before, now)                                                                                 \
    {                                                                                                        \
        CONFIG_PREFIX before, CONFIG_PREFIX now                                                              \
    }

const struct renamed_setting renamed_settings[] = {
    RENAMED("ACCOUNT_RATE", "ACCOUNT_RATE_LIMIT"),
    RENAMED("BATCH_OPERATIONS", "MAX_BATCH_OPERATIONS"),
    RENAMED("CERT", "CLIENT_CERT"),
    RENAMED("CLAIM_BATCH", "MAX_CLAIM_MESSAGES"),
    RENAMED("DATA", "DEV_DATA"),
    RENAMED("DRAIN_SECONDS", "DRAIN_TIMEOUT_SECONDS"),
    RENAMED("JOIN_REPLIES", "COALESCE_REPLIES"),
    RENAMED("KEY", "CLIENT_KEY"),
    RENAMED("MOST_WAITING", "MAX_WAITING"),
    RENAMED("PARTITION_RATE", "PARTITION_RATE_LIMIT"),
    RENAMED("SWEEP_SECONDS", "SWEEP_INTERVAL_SECONDS"),
    RENAMED("VISIBILITY_SECONDS", "VISIBILITY_TIMEOUT_SECONDS"),
};
const size_t renamed_settings_count = ARRAY_LEN(renamed_settings);

const char *renamed_settings_find(const char *old_name)
{
    for (size_t i = 0; i < ARRAY_LEN(renamed_settings); i++)
        if (strcmp(renamed_settings[i].old_name, old_name) == 0)
            return renamed_settings[i].new_name;
    return NULL;
}
