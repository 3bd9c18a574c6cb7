/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scoped_id.h - ids that the bearer of a shared access signature chooses, for requests and transactions.
 *
 * Inside its account such an id is the bearer's own: it ends with a mark of the signature's table and range of keys.
 * Signatures for other tables or ranges, and the account itself, can therefore neither take the id first nor find out
 * that it was taken. A renewed signature has the same mark, whatever its text, so a retry under it is the same request.
 *
 *   pay-1                     of the account
 *   pay-1~5b0c66f1a2d3e490    of a signature
 */
#ifndef DOMAIN_ACCESS_SCOPED_ID_H
#define DOMAIN_ACCESS_SCOPED_ID_H

#include "base/arena.h"
#include "domain/keys/key_range.h"

/* The mark of a table, in lower case, and a range: LIMIT_ID_SCOPE_BYTES printable characters. */
struct str scoped_id_mark(struct str table, const struct key_range *range, struct arena *arena);

/* The id with the mark; an id that ends with it already stays as it is. */
struct str scoped_id_make(struct str id, struct str mark, struct arena *arena);

#endif
