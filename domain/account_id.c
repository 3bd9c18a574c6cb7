/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_id.c - see the header. No name has a '#'.
 */
#include "domain/account_id.h"

struct str account_id_name(struct str id)
{
    return str_take(&id, '#');
}
