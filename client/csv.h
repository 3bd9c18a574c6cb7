/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - entities as lines of comma-separated values (RFC 4180). The first line has the names of the columns
 * with their types:
 *
 *     PartitionKey,RowKey,Name,Age:int32,Born:datetime
 *
 * A column without a type has strings. An empty cell means that the entity does not have the property; "" is
 * an empty string. The column tavola.expires:datetime has the times at which entities expire.
 */
#ifndef CLIENT_CSV_H
#define CLIENT_CSV_H

#include <stdbool.h>
#include <stdio.h>

#include "base/arena.h"
#include "client/lib/tavola.h"

enum { CSV_MAX_COLUMNS = 256 };

struct csv_cell {
    const char *text;
    bool is_quoted;
};

struct csv_column {
    const char *name;
    const char *type; /* "int32"; NULL: a string */
};

struct csv_columns {
    struct csv_column columns[CSV_MAX_COLUMNS];
    size_t count;
};

/* Whether a record ends with this text: no quoted cell is open. */
bool csv_is_complete(struct str text);

/*
 * Split a record, without its line end, into cells in the arena. false: a misplaced quote, or too many cells.
 */
bool csv_split(
    struct str record, struct arena *arena, struct csv_cell out[static CSV_MAX_COLUMNS], size_t *count);

/* Read the first line; texts are in the arena. Returns NULL, or what is wrong. */
const char *csv_read_header(struct str line, struct arena *arena, struct csv_columns *out);

/*
 * Read the entity of a record. TAVOLA_INVALID_ARGUMENT: the error says what is wrong. Free the entity with
 * tavola_entity_free.
 */
enum tavola_code csv_read_entity(const struct csv_columns *columns, struct str record,
    struct tavola_entity **out, struct tavola_error *error);

/* Write a cell, in quotes if it needs them or is empty. */
void csv_write_cell(const char *text, FILE *out);

/* What of an entity a line cannot hold, a property or tavola.expires, and the cause: "has a character U+0000". */
struct csv_misfit {
    const char *name, *why;
};

/*
 * Write the header, or an entity. Names and types of columns are borrowed. false: a property does not fit; nothing was
 * written.
 */
void csv_write_header(const struct csv_columns *columns, FILE *out);
bool csv_write_entity(const struct csv_columns *columns, const struct tavola_entity *entity, FILE *out,
    struct csv_misfit *misfit);

/* Add the columns of an entity that are missing; names are in the arena. false: too many columns. */
bool csv_add_columns(struct csv_columns *columns, const struct tavola_entity *entity, struct arena *arena);

/* What an entity has in the column of this name, as text in the arena; NULL: nothing. */
const char *csv_cell_text(const struct tavola_entity *entity, const char *name, struct arena *arena);

#endif
