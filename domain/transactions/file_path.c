/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_path.c - see the header.
 */
#include "domain/transactions/file_path.h"

#include <string.h>

static bool is_allowed(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-_.=+@,", c) != NULL);
}

static bool is_part(struct str part)
{
    if (part.len == 0 || part.len > FILE_PATH_PART_BYTES || part.data[0] == '.' || part.data[0] == '-')
        return false;
    for (size_t i = 0; i < part.len; i++)
        if (!is_allowed(part.data[i]))
            return false;
    return true;
}

bool file_path_is_valid(struct str path)
{
    size_t parts = 1;
    struct str rest = path;

    for (size_t i = 0; i < path.len; i++)
        parts += path.data[i] == '/';
    if (parts > FILE_PATH_PARTS)
        return false;
    for (size_t i = 0; i < parts; i++)
        if (!is_part(str_take(&rest, '/')))
            return false;
    return true;
}
