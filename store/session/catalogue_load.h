/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_load.h - reads the catalogue, as a whole or the part that has changed, and changes it
 * through the fence.
 */
#ifndef STORE_SESSION_CATALOGUE_LOAD_H
#define STORE_SESSION_CATALOGUE_LOAD_H

#include "base/error.h"
#include "domain/catalogue/catalogue.h"
#include "store/connection/pg.h"

/* The columns of catalogue_check.sql. */
enum catalogue_check_column { CHECK_VERSION, CHECK_FLOOR, CHECK_EPOCH, CHECK_NOW_US };

/*
 * What a version of the catalogue has changed: the id of a family, or one of these. Stored in
 * catalogue_changes.
 */
enum { CHANGED_NO_FAMILY = 0, CHANGED_ACCOUNTS = -1 };

/*
 * Read the catalogue in one snapshot. If it comes from the same database and epoch as `known` and
 * is not older, only the families that have changed since `known` are read. known: may be NULL.
 *
 * *out  a reference of the caller's; may be another reference to `known`
 */
MUST_USE enum status catalogue_load(
    struct pg *pg, const struct catalogue *known, struct catalogue **out, struct error *err);

/*
 * Send the statement that makes the next version of the catalogue, in the open flight. changed: a
 * family's id, or one of the constants above.
 */
MUST_USE enum status catalogue_load_send_bump(struct pg *pg, int64_t changed, struct error *err);

/*
 * End a change that concerns no family and that fence_close (store/session/fence.h) has begun:
 * raise the version, commit.
 */
MUST_USE enum status catalogue_load_commit_change(struct pg *pg, struct error *err);

#endif
