/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scoped_id.h - the ids that the bearer of a shared access signature chooses for requests and
 * transactions.
 *
 * Inside its account such an id belongs to the bearer: a mark of the signature's table and range of
 * keys is appended to it. So the bearers of signatures for other tables or ranges, and the account
 * itself, can neither use the id first nor find out that it is in use. A renewed signature has the
 * same mark, so a retry with it is the same request.
 *
 *     pay-1                     of the account
 *     pay-1~5b0c66f1a2d3e490    of a signature
 */
#ifndef DOMAIN_ACCESS_SCOPED_ID_H
#define DOMAIN_ACCESS_SCOPED_ID_H

#include "base/arena.h"
#include "domain/keys/key_range.h"

/* The mark of a table, in lower case, and a range: LIMIT_ID_SCOPE_BYTES printable characters. */
struct str scoped_id_mark(struct str table, const struct key_range *range, struct arena *arena);

/* Append the mark to the id, unless the id ends with it already. */
struct str scoped_id_make(struct str id, struct str mark, struct arena *arena);

#endif
