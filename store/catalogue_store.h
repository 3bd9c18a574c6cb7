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

/* The end of a change that fence_close (store/fence.h) began: bump the version, commit. */
MUST_USE enum status catalogue_commit_change(struct pg *pg, struct error *err);

#endif
