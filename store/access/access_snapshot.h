/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_snapshot.h - the permissions of callers at one moment: the accounts with their keys, and the tables with their
 * policies. Read whenever the catalogue's version has changed; an immutable value.
 */
#ifndef STORE_ACCESS_ACCESS_SNAPSHOT_H
#define STORE_ACCESS_ACCESS_SNAPSHOT_H

#include "domain/access/account.h"
#include "domain/catalogue/catalogue.h"
#include "store/connection/pg.h"

struct access_snapshot {
    struct account *accounts; /* sorted by name */
    size_t account_count;
    struct catalogue *catalogue;
    struct arena arena;
};

/* Everything in it is at least as new as its catalogue's version. */
MUST_USE enum status access_snapshot_load(struct pg *pg, struct access_snapshot **out, struct error *err);
void access_snapshot_free(struct access_snapshot *snapshot);

/* NULL: no such account. */
const struct account *access_snapshot_find(const struct access_snapshot *snapshot, struct str name);

#endif
