/* SPDX-License-Identifier: Apache-2.0 */
/*
 * access_snapshot.h - what callers may do, as of one moment: the accounts with their keys, and the
 * tables with their policies. A server reads a new snapshot whenever the catalogue's version has
 * changed. A snapshot never changes.
 */
#ifndef STORE_ACCESS_ACCESS_SNAPSHOT_H
#define STORE_ACCESS_ACCESS_SNAPSHOT_H

#include <stdatomic.h>

#include "domain/access/account.h"
#include "domain/access/key_wrap.h"
#include "domain/catalogue/catalogue.h"
#include "domain/catalogue/service_properties.h"

struct pg;

struct account_service {
    struct str account; /* account id */
    struct service_properties properties;
};

/* The accounts. Consecutive snapshots share one list as long as no account has changed. */
struct account_list {
    atomic_int references;
    struct account *accounts; /* sorted by name */
    size_t count;
    /* of the accounts that have set properties, sorted by account id */
    struct account_service *services;
    size_t service_count;
    struct arena arena;
};

/*
 * Read the accounts. The caller owns one reference to *out and releases it; a release of NULL does
 * nothing.
 *
 * STATUS_INVALID: these wrapping keys cannot open a wrapped account key; the message names the
 * account and the reason.
 */
MUST_USE enum status account_list_load(
    struct pg *pg, const struct wrapping_keys *keys, struct account_list **out, struct error *err);
void account_list_release(struct account_list *list);

struct access_snapshot {
    struct account_list *accounts;
    struct catalogue *catalogue;
};

/*
 * Make a snapshot, which takes its own references to both arguments. The caller must have read the
 * accounts after the catalogue, or know that no account has changed since it read them; so the
 * whole snapshot is at least as new as the catalogue's version.
 */
struct access_snapshot *access_snapshot_new(struct account_list *accounts, const struct catalogue *catalogue);
void access_snapshot_free(struct access_snapshot *snapshot); /* accepts NULL */

/* NULL if no account has this name. */
const struct account *access_snapshot_find(const struct access_snapshot *snapshot, struct str name);

/* The settings of an account's table service; NULL if the account has none. */
const struct service_properties *access_snapshot_service(
    const struct access_snapshot *snapshot, struct str account_id);

#endif
