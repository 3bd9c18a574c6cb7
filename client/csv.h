/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - entities as lines of comma-separated values (RFC 4180). The first line has the names of the columns with their types:
 *
 *     PartitionKey,RowKey,Name,Age:int32,Born:datetime
 *
 * A name without a type is of text. An empty cell is no property; "" is an empty text.
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
    const char *type; /* "int32"; NULL: text */
};

struct csv_columns {
    struct csv_column columns[CSV_MAX_COLUMNS];
    size_t count;
};

/* Whether a record ends with the text, as no quoted cell is open. */
bool csv_is_complete(struct str text);

/* Split a record, without its line end, into cells in the arena. false: a quote in the wrong place, or too many cells. */
bool csv_split(
    struct str record, struct arena *arena, struct csv_cell out[static CSV_MAX_COLUMNS], size_t *count);

/* Read the first line; texts in the arena. NULL: done; else what is wrong. */
const char *csv_read_header(struct str line, struct arena *arena, struct csv_columns *out);

/* An entity of a record. TAVOLA_INVALID_ARGUMENT: the error says what is wrong. tavola_entity_free ends it. */
enum tavola_code csv_read_entity(const struct csv_columns *columns, struct str record,
    struct tavola_entity **out, struct tavola_error *error);

/* Write the header, or an entity; the column names and types are borrowed. NULL: done; else the property that has no column. */
void csv_write_header(const struct csv_columns *columns, FILE *out);
const char *csv_write_entity(
    const struct csv_columns *columns, const struct tavola_entity *entity, FILE *out);

/* Add the columns that an entity has and that are not there yet; names in the arena. false: too many. */
bool csv_add_columns(struct csv_columns *columns, const struct tavola_entity *entity, struct arena *arena);

/* A property's value as text, in the arena. */
const char *csv_value_text(const struct tavola_value *value, struct arena *arena);

#endif
