/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_load.h - reading the catalogue, all of it or what has changed, and changing it through the fence.
 */
#ifndef STORE_SESSION_CATALOGUE_LOAD_H
#define STORE_SESSION_CATALOGUE_LOAD_H

#include "base/error.h"
#include "domain/catalogue/catalogue.h"
#include "store/connection/pg.h"

/* Of catalogue_check.sql. */
enum catalogue_check_column { CHECK_VERSION, CHECK_FLOOR, CHECK_EPOCH, CHECK_NOW_US };

/* What a version has changed: the family with this id, or one of these. Stored: see catalogue_changes. */
enum { CHANGED_NO_FAMILY = 0, CHANGED_ACCOUNTS = -1 };

/*
 * Read the catalogue, in one snapshot. Where it comes from the same database and epoch as `known` and is not older,
 * only the families that have changed since are read. known: may be NULL.
 *
 * *out  the caller's reference; it may be another reference to `known`
 */
MUST_USE enum status catalogue_load(
    struct pg *pg, const struct catalogue *known, struct catalogue **out, struct error *err);

/* The next version of the catalogue; changed: a family's id, or one of the constants above. Into the open flight. */
MUST_USE enum status catalogue_load_send_bump(struct pg *pg, int64_t changed, struct error *err);

/* The end of a change of no family that fence_close (store/session/fence.h) began: bump the version, commit. */
MUST_USE enum status catalogue_load_commit_change(struct pg *pg, struct error *err);

#endif
