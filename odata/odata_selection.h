/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_selection.h - the option $select: which properties a reply has.
 */
#ifndef ODATA_ODATA_SELECTION_H
#define ODATA_ODATA_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct odata_selection {
    struct str *names; /* of properties, ascending, without those of the three below; NULL: all */
    size_t count;      /* of names */
    bool partition, row, timestamp; /* true where nothing is selected */
    struct str text;                /* as it was given; empty: everything */
};

/*
 * Read the option: names with commas between them, or "*". Empty: everything.
 * STATUS_INVALID  INVALID_INPUT: no name of a property, or more names than an entity has properties
 */
MUST_USE enum status odata_selection_parse(
    struct str text, struct arena *arena, struct odata_selection *out, struct error *err);

#endif
