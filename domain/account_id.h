/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_id.h - what an account is inside: an id that no other account ever has. Callers and operators use names, and
 * a name may be given again after its account was deleted.
 *
 *   acme#17   the account that got the name acme as the 17th account of the database
 *   acme      an account made by a version without ids, or, without authentication, `default`
 *
 * Everything that belongs to an account (tables, transactions, operations, request records) is stored under the id,
 * which is what struct operation and the catalogue call the account. A name becomes an id at admission; replies, errors
 * and metrics have the name.
 */
#ifndef DOMAIN_ACCOUNT_ID_H
#define DOMAIN_ACCOUNT_ID_H

#include "base/str.h"

/* The name in an id, as a part of it. A name is its own. In SQL: split_part(id, '#', 1). */
struct str account_id_name(struct str id);

#endif
