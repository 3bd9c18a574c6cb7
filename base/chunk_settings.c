/* SPDX-License-Identifier: Apache-2.0 */
/* chunk_settings.c - see the header. */
#include "base/chunk_settings.h"

#include <string.h>

#include "base/chunk_store.h"

const char *const chunk_settings_stores[] = { [CHUNK_STORE_POSTGRESQL] = "postgresql",
    [CHUNK_STORE_DIRECTORY] = "directory",
    [CHUNK_STORE_S3] = "s3",
    [CHUNK_STORE_KINDS] = NULL };

const char *const chunk_settings_addressings[] = {
    [S3_ADDRESSING_PATH] = "path", [S3_ADDRESSING_HOST] = "host", NULL
};

bool chunk_settings_is_directory(const char *value)
{
    return value[0] == '/';
}

bool chunk_settings_is_s3_url(const char *value)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/:[]";
    size_t scheme = strncmp(value, "http://", 7) == 0 ? 7 : strncmp(value, "https://", 8) == 0 ? 8 : 0;
    const char *host = value + scheme, *path = scheme > 0 ? strchr(host, '/') : NULL;

    return path && path > host && path[1] != '\0' && path[1] != '/' && !strpbrk(path, ":[]") &&
           strspn(host, allowed) == strlen(host);
}
