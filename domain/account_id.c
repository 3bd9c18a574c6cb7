/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_id.c - see the header. No name has a '#'.
 */
#include "domain/account_id.h"

struct str account_id_name(struct str id)
{
    const char *mark = id.len > 0 ? memchr(id.data, '#', id.len) : NULL;

    return mark ? str_of_bytes(id.data, (size_t)(mark - id.data)) : id;
}
