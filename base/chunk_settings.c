/* SPDX-License-Identifier: Apache-2.0 */
/* chunk_settings.c - see the header. */
#include "base/chunk_settings.h"

#include "base/chunk_store.h"

const char *const chunk_settings_stores[] = {
    [CHUNK_STORE_POSTGRESQL] = "postgresql", [CHUNK_STORE_DIRECTORY] = "directory", [CHUNK_STORE_KINDS] = NULL
};

bool chunk_settings_is_directory(const char *value)
{
    return value[0] == '/';
}
