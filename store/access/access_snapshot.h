/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_snapshot.h - the permissions of callers at one moment: the accounts with their keys, and the tables with their
 * policies. Read whenever the catalogue's version has changed; an immutable value.
 */
#ifndef STORE_ACCESS_ACCESS_SNAPSHOT_H
#define STORE_ACCESS_ACCESS_SNAPSHOT_H

#include <stdatomic.h>

#include "domain/access/account.h"
#include "domain/access/key_wrap.h"
#include "domain/catalogue/catalogue.h"
#include "domain/catalogue/service_properties.h"
#include "store/connection/pg.h"

struct account_service {
    struct str account; /* its id */
    struct service_properties properties;
};

/* Shared by the snapshots between which no account has changed. */
struct account_list {
    atomic_int references;
    struct account *accounts; /* sorted by name */
    size_t count;
    struct account_service *services; /* of the accounts that have set something, sorted by their ids */
    size_t service_count;
    struct arena arena;
};

/*
 * Read the accounts; a reference of the caller. NULL may be released.
 * STATUS_INVALID: keys are wrapped, and cannot be opened with these wrapping keys; the message says whose, and why.
 */
MUST_USE enum status account_list_load(
    struct pg *pg, const struct wrapping_keys *keys, struct account_list **out, struct error *err);
void account_list_release(struct account_list *list);

struct access_snapshot {
    struct account_list *accounts;
    struct catalogue *catalogue;
};

/*
 * A snapshot with references of its own to both. The accounts were read after the catalogue, or have not changed
 * between their reading and the catalogue's version: so everything in it is at least as new as that version.
 */
struct access_snapshot *access_snapshot_new(struct account_list *accounts, const struct catalogue *catalogue);
void access_snapshot_free(struct access_snapshot *snapshot); /* accepts NULL */

/* NULL: no such account. */
const struct account *access_snapshot_find(const struct access_snapshot *snapshot, struct str name);

/* The settings of an account's table service; NULL: it has set none. */
const struct service_properties *access_snapshot_service(
    const struct access_snapshot *snapshot, struct str account_id);

#endif
