/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_selection.h - the option $select: the properties that a reply has.
 */
#ifndef ODATA_ODATA_SELECTION_H
#define ODATA_ODATA_SELECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct odata_selection {
    struct str *names;              /* properties, in ascending order, without the three below; NULL: all */
    size_t count;                   /* of names */
    bool partition, row, timestamp; /* all true if nothing is selected */
    struct str text;                /* as received; empty: all properties */
};

/*
 * Read the option: names separated by commas, or "*". Empty: all properties. STATUS_INVALID: INVALID_INPUT:
 * an invalid property name, or more names than an entity has properties.
 */
MUST_USE enum status odata_selection_parse(
    struct str text, struct arena *arena, struct odata_selection *out, struct error *err);

#endif
