/*
 * catalogue_store.h - reading the catalogue, and changing it through the fence.
 */
#ifndef STORE_CATALOGUE_STORE_H
#define STORE_CATALOGUE_STORE_H

#include "base/error.h"
#include "domain/catalogue.h"
#include "store/pg.h"

/* Read all of it, in one snapshot. The caller frees it. */
MUST_USE enum status catalogue_load(struct pg *pg, struct catalogue **out, struct error *err);
void catalogue_free(struct catalogue *catalogue);

/*
 * Begin a change that every writer must see: takes the fence alone, which waits for open writers and
 * holds new ones back; tries again, with pauses, for a few seconds (guard G1). The caller then makes its
 * changes, ends them with sql_catalogue_bump, and commits.
 */
MUST_USE enum status catalogue_begin_change(struct pg *pg, struct error *err);

/* Bump the version, commit. */
MUST_USE enum status catalogue_commit_change(struct pg *pg, struct error *err);

#endif
