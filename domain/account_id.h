/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account_id.h - the internal id of an account, which no other account ever gets. Callers and
 * operators use names, and a name may be used again after its account was deleted.
 *
 *     acme#17   the 17th account of the database, with the name acme
 *     acme      an account made by a version without ids, or, without authentication, `default`
 *
 * Everything that belongs to an account (tables, transactions, operations, request records) is
 * stored under the id, which struct operation and the catalogue call the account. Admission turns
 * the name into the id; replies, errors and metrics contain the name.
 */
#ifndef DOMAIN_ACCOUNT_ID_H
#define DOMAIN_ACCOUNT_ID_H

#include "base/str.h"

/*
 * The name in an id, borrowed from it; of an id without a number, the id itself. In SQL:
 * split_part(id, '#', 1).
 */
struct str account_id_name(struct str id);

#endif
