/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_table.h - the rows of a section of `tavola top`: sorted, filtered, with the history of a number as a
 * sparkline. Pure.
 */
#ifndef CLIENT_TOP_TOP_TABLE_H
#define CLIENT_TOP_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOP_COLUMNS = 8, TOP_ROWS = 256, TOP_TEXT = 96, TOP_HISTORY = 40 };

/* How a number is shown. */
enum top_form { TOP_PLAIN, TOP_RATE, TOP_DURATION, TOP_SHARE };

struct top_column {
    const char *title; /* NULL behind the last column */
    int width;         /* in characters; 0: what is left of the line */
    bool is_text;
    enum top_form form;
    bool has_history; /* a sparkline of it stands behind the column where there is room */
};

struct top_cell {
    char text[TOP_TEXT]; /* of a text column */
    double number;       /* below 0: it is not known */
};

/* A row is the same row as before if its key is. */
struct top_row {
    char key[TOP_TEXT];
    struct top_cell cells[TOP_COLUMNS];
    double history[TOP_HISTORY]; /* the newest last */
    size_t history_count;
    bool is_fresh; /* it was told in this round */
};

struct top_table {
    const char *title;
    const struct top_column *columns;
    struct top_row rows[TOP_ROWS];
    size_t count;
    int sort; /* the column to sort by */
    bool ascending;
    int selected;
};

/* A round of numbers: begin, give every row, end. Rows that were not given are gone. */
void top_table_begin(struct top_table *table);

/* The row of a key, made if there is none. NULL: there are TOP_ROWS already. */
struct top_row *top_table_row(struct top_table *table, const char *key);
void top_table_end(struct top_table *table);

/* Sort by the next column, which begins with the largest. */
void top_table_sort_next(struct top_table *table);

/* Whether a row has the text in its key or in a text cell, in any case; an empty text is in each. */
bool top_table_matches(const struct top_table *table, const struct top_row *row, const char *text);

/* The cell as it is shown. Returns out. */
const char *top_table_cell(
    const struct top_column *column, const struct top_cell *cell, char out[static TOP_TEXT]);

/*
 * The last `width` numbers of a row as blocks of eighths of the largest one, in UTF-8. out has 3 * width + 1
 * bytes.
 */
void top_table_sparkline(const struct top_row *row, int width, char *out);

#endif
