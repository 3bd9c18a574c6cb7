/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_selection.c - see the header.
 */
#include "odata/odata_selection.h"

#include <stdlib.h>

#include "domain/limits.h"
#include "domain/properties/property_name.h"
#include "domain/reason.h"

enum { MAX_NAMES = LIMIT_PROPERTIES + 3 };

static bool *find_system(struct str name, struct odata_selection *selection)
{
    if (str_equal(name, STR_LITERAL("PartitionKey")))
        return &selection->partition;
    if (str_equal(name, STR_LITERAL("RowKey")))
        return &selection->row;
    return str_equal(name, STR_LITERAL("Timestamp")) ? &selection->timestamp : NULL;
}

static int compare_names(const void *left, const void *right)
{
    const struct str *a = left, *b = right;

    return str_compare(*a, *b);
}

/* Sort the names and remove repeated names. */
static void order_names(struct odata_selection *selection)
{
    size_t kept = 0;

    qsort(selection->names, selection->count, sizeof(selection->names[0]), compare_names);
    for (size_t i = 0; i < selection->count; i++)
        if (kept == 0 || !str_equal(selection->names[kept - 1], selection->names[i]))
            selection->names[kept++] = selection->names[i];
    selection->count = kept;
}

static enum status add_name(struct str name, struct odata_selection *selection, struct error *err)
{
    bool *system = find_system(name, selection);
    struct error ignored;

    if (system) {
        *system = true;
        return STATUS_OK;
    }
    /*
     * A property of an index entry may begin with a dollar sign, which property_name_check does not accept.
     */
    if (property_name_check(str_from(name, name.len > 0 && name.data[0] == '$'), &ignored) != STATUS_OK)
        return reason_set(
            err, REASON_INVALID_INPUT, "$select names %.*s, which no property can be called", STR_ARG(name));
    if (selection->count == MAX_NAMES)
        return reason_set(err, REASON_INVALID_INPUT, "$select has more than %d names", MAX_NAMES);
    selection->names[selection->count++] = name;
    return STATUS_OK;
}

enum status odata_selection_parse(
    struct str text, struct arena *arena, struct odata_selection *out, struct error *err)
{
    struct odata_selection selection = { .text = text };
    struct str rest = text;

    if (text.len == 0 || str_equal(str_trim(text, " "), STR_LITERAL("*"))) {
        *out = (struct odata_selection){ .partition = true, .row = true, .timestamp = true };
        return STATUS_OK;
    }
    selection.names = ARENA_ARRAY(arena, struct str, MAX_NAMES);
    while (rest.len > 0)
        TRY(add_name(str_trim(str_take(&rest, ','), " "), &selection, err));
    order_names(&selection);
    *out = selection;
    return STATUS_OK;
}
