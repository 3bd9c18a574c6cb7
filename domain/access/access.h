/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - what a caller may do, and whether an operation is within it.
 *
 * Pure. An access is what a credential comes to at this moment: the account, and for a shared access signature
 * the one table, the permissions and the range of keys. Every operation is checked after it was decoded and
 * before it reaches the store; what a signature hides is said to the store with operation->within.
 *
 *   a permission is missing           PERMISSION_DENIED / AUTHORIZATION_PERMISSION_MISMATCH
 *   another table, another account, tables, indexes, administration, a write outside the range
 *                                     PERMISSION_DENIED / AUTHORIZATION_FAILURE
 *   a read outside the range          the entity is not there
 *   a query                           sees the range only
 */
#ifndef DOMAIN_ACCESS_ACCESS_H
#define DOMAIN_ACCESS_ACCESS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "domain/catalogue/catalogue.h"
#include "domain/keys/key_range.h"
#include "domain/operations/operation.h"

/* As bits; the letters of a signature stand in this order: "raudit". */
enum permission {
    PERMISSION_READ = 1,      /* r: entities by key, queries */
    PERMISSION_ADD = 2,       /* a: inserts */
    PERMISSION_UPDATE = 4,    /* u: replaces and merges; upserts need a and u */
    PERMISSION_DELETE = 8,    /* d */
    PERMISSION_LOOK_UP = 16,  /* i: look-ups in the table's indexes, together with r */
    PERMISSION_TRANSACT = 32, /* t: transactions whose steps are permitted, each for itself */
};

enum { PERMISSION_COUNT = 6 };

/* Letters in their order, none twice; false otherwise. */
bool access_parse_permissions(struct str text, unsigned *out);
struct str access_format_permissions(unsigned permissions, struct arena *arena);

struct access {
    struct str account;
    bool whole_account; /* a token of the account itself: tables, indexes, everything that is the account's */
    bool administrator; /* also what is nobody's: queues, dead letters; and other accounts */

    /* A shared access signature; !whole_account. */
    struct str table; /* in lower case */
    unsigned permissions;
    struct key_range range;
    int64_t created_by; /* ticks: the table must be older, else it is another one of the same name */
};

/* Everything: without authentication. */
struct access access_unlimited(struct str account);

/*
 * Check a decoded operation, and narrow it. catalogue: to find the table an index belongs to; NULL with
 * whole_account. access must live until the operation is done.
 *
 * STATUS_OK
 * STATUS_DENIED  see above
 */
MUST_USE enum status access_check(const struct access *access, const struct catalogue *catalogue,
    struct operation *operation, struct error *err);

/* One write of many, for who refuses each by itself. The operation's table must have been checked. */
MUST_USE enum status access_check_write(
    const struct access *access, const struct write *write, struct error *err);

#endif
