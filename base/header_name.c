/* SPDX-License-Identifier: Apache-2.0 */
/* header_name.c - see the header. */
#include "base/header_name.h"

static bool is_token_byte(char c)
{
    static const char marks[] = "!#$%&'*+-.^_`|~";

    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           memchr(marks, c, sizeof(marks) - 1);
}

bool header_name_is_valid(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if (!is_token_byte(name.data[i]))
            return false;
    return name.len > 0;
}
