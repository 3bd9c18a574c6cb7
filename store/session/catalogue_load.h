/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue_load.h - reading the catalogue, and changing it through the fence.
 */
#ifndef STORE_SESSION_CATALOGUE_LOAD_H
#define STORE_SESSION_CATALOGUE_LOAD_H

#include "base/error.h"
#include "domain/catalogue/catalogue.h"
#include "store/connection/pg.h"

/* Of catalogue_check.sql. */
enum catalogue_check_column { CHECK_VERSION, CHECK_FLOOR, CHECK_EPOCH, CHECK_NOW_US };

/* Read all of it, in one snapshot. The caller frees it. */
MUST_USE enum status catalogue_load(struct pg *pg, struct catalogue **out, struct error *err);
void catalogue_load_free(struct catalogue *catalogue);

/* The end of a change that fence_close (store/session/fence.h) began: bump the version, commit. */
MUST_USE enum status catalogue_load_commit_change(struct pg *pg, struct error *err);

#endif
