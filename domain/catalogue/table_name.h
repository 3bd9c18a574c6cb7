/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_name.h - the rule for names of tables and indexes: ^[A-Za-z][A-Za-z0-9]{2,62}$. Names are
 * stored as given and compared without case.
 */
#ifndef DOMAIN_CATALOGUE_TABLE_NAME_H
#define DOMAIN_CATALOGUE_TABLE_NAME_H

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

/*
 * STATUS_OK
 * STATUS_OUT_OF_RANGE  OUT_OF_RANGE_INPUT: shorter than 3 or longer than 63
 * STATUS_INVALID       INVALID_RESOURCE_NAME: other characters, a leading digit; INVALID_INPUT: "tables"
 */
MUST_USE enum status table_name_check(struct str name, struct error *err);

/* The name in lower case: what names are compared by. */
struct str table_name_fold(struct str name, struct arena *arena);

/* Whether the name, in lower case, equals `folded`. */
bool table_name_is(struct str name, struct str folded);

#endif
