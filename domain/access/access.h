/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access.h - what a caller may do, and whether an operation is allowed.
 *
 * Pure. A struct access holds what a credential allows at this moment: the account, and for a
 * shared access signature the one table, the permissions and the range of keys. Each operation is
 * checked between its decoding and the store; operation->within tells the store which keys the
 * caller may see.
 *
 *   a permission is missing           PERMISSION_DENIED / AUTHORIZATION_PERMISSION_MISMATCH
 *   an account signature is not for the kind of resource
 *                                     PERMISSION_DENIED / AUTHORIZATION_RESOURCE_TYPE_MISMATCH
 *   another table, another account, tables, indexes, administration, a write outside the range
 *                                     PERMISSION_DENIED / AUTHORIZATION_FAILURE
 *   a read outside the range          the entity does not exist
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

/*
 * Bits. A signature of a table writes the first six as letters, in this order: "raudit". Account
 * signatures have the other permissions too, but neither i nor t.
 */
enum permission {
    PERMISSION_READ = 1,      /* r: entities by key, queries */
    PERMISSION_ADD = 2,       /* a: inserts */
    PERMISSION_UPDATE = 4,    /* u: replaces and merges; upserts need a and u */
    PERMISSION_DELETE = 8,    /* d */
    PERMISSION_LOOK_UP = 16,  /* i: look-ups in the table's indexes, together with r */
    PERMISSION_TRANSACT = 32, /* t: transactions; each step needs its own permissions too */
    PERMISSION_LIST = 64,     /* l: the names of tables */
    PERMISSION_CREATE = 128,  /* c: new tables */
    PERMISSION_SET = 256,     /* w: new tables, and the settings of the account's service */
};

/* The permissions that a signature of a table may have; all permissions. */
enum { PERMISSION_COUNT = 6, PERMISSION_ALL_COUNT = 9 };

/* Bits: the kinds of resources that an account signature gives access to. */
enum access_resource {
    RESOURCE_SERVICE = 1,   /* s: the settings of the account's service */
    RESOURCE_CONTAINER = 2, /* c: tables */
    RESOURCE_OBJECT = 4,    /* o: entities */
};

/* Parse letters of "raudit" in this order, each at most once; false otherwise. */
bool access_parse_permissions(struct str text, unsigned *out);

/* The same for those letters of "rauditlcw" whose bits `among` has. */
bool access_parse_permissions_among(struct str text, unsigned among, unsigned *out);
struct str access_format_permissions(unsigned permissions, struct arena *arena);

struct access {
    struct str account; /* its id, account_id.h */
    bool whole_account; /* a token of the account: it allows everything in the account */
    bool administrator; /* also queues, dead letters and other accounts */

    /* Set for shared access signatures, that is, unless whole_account. */
    /*
     * the resources of an account signature, which is for all tables; 0: the signature is for one
     * table
     */
    unsigned resources;
    struct str table; /* in lower case; empty if `resources` is set */
    unsigned permissions;
    struct key_range range;

    /*
     * Ticks: the signature is valid only for tables whose signatures_from is not later. 0: for any
     * table that has the name, because the signature does not say when it was signed.
     */
    int64_t signed_at;
};

/* Access to everything, for servers without authentication. */
struct access access_unlimited(struct str account);

/*
 * Check a decoded operation and set what limits it (within, signed_at). catalogue: finds the table
 * to which an index belongs; may be NULL if access is whole_account. access must live until the
 * operation is done.
 *
 * STATUS_OK
 * STATUS_DENIED  see above
 */
MUST_USE enum status access_check(const struct access *access, const struct catalogue *catalogue,
    struct operation *operation, struct error *err);

/*
 * Check one write of an operation, for callers that refuse writes one by one (import). The
 * operation's table must have been checked.
 */
MUST_USE enum status access_check_write(
    const struct access *access, const struct write *write, struct error *err);

#endif
