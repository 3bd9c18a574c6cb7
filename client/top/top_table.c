/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_table.c - see the header.
 */
#include "client/top/top_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/rows.h"

/* ---- rounds ---- */

void top_table_begin(struct top_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        table->rows[i].is_fresh = false;
}

struct top_row *top_table_row(struct top_table *table, const char *key)
{
    struct top_row *row = NULL;

    for (size_t i = 0; i < table->count && !row; i++)
        if (strncmp(table->rows[i].key, key, TOP_TEXT - 1) == 0)
            row = &table->rows[i];
    if (!row && table->count < TOP_ROWS) {
        row = &table->rows[table->count++];
        *row = (struct top_row){ .is_fresh = true };
        snprintf(row->key, sizeof(row->key), "%s", key);
    }
    if (row)
        row->is_fresh = true;
    return row;
}

/* The column whose history is kept; -1: none. */
static int history_column(const struct top_table *table)
{
    for (int i = 0; table->columns[i].title; i++)
        if (table->columns[i].has_history)
            return i;
    return -1;
}

static void note_history(struct top_row *row, int column)
{
    double number = row->cells[column].number;

    if (row->history_count == TOP_HISTORY)
        memmove(row->history, row->history + 1, sizeof(row->history) - sizeof(row->history[0]));
    else
        row->history_count++;
    row->history[row->history_count - 1] = number > 0 ? number : 0;
}

static int compare_cells(const struct top_table *table, const struct top_row *a, const struct top_row *b)
{
    const struct top_cell *one = &a->cells[table->sort], *other = &b->cells[table->sort];
    int order;

    if (table->columns[table->sort].is_text)
        order = strcmp(other->text, one->text); /* the largest first is the last text */
    else
        order = (one->number > other->number) - (one->number < other->number);
    order = table->ascending ? order : -order;
    return order != 0 ? order : strcmp(a->key, b->key);
}

static int compare_rows(const void *a, const void *b, void *table)
{
    return compare_cells(table, a, b);
}

static void sort_rows(struct top_table *table)
{
    qsort_r(table->rows, table->count, sizeof(table->rows[0]), compare_rows, table);
}

void top_table_end(struct top_table *table)
{
    int column = history_column(table);
    size_t kept = 0;

    for (size_t i = 0; i < table->count; i++) {
        if (!table->rows[i].is_fresh)
            continue;
        if (column >= 0)
            note_history(&table->rows[i], column);
        if (kept != i)
            table->rows[kept] = table->rows[i];
        kept++;
    }
    table->count = kept;
    sort_rows(table);
}

void top_table_sort_next(struct top_table *table)
{
    table->sort++;
    if (!table->columns[table->sort].title)
        table->sort = 0;
    sort_rows(table);
}

/* ---- text ---- */

bool top_table_matches(const struct top_table *table, const struct top_row *row, const char *text)
{
    if (strcasestr(row->key, text))
        return true;
    for (int i = 0; table->columns[i].title; i++)
        if (table->columns[i].is_text && strcasestr(row->cells[i].text, text))
            return true;
    return false;
}

const char *top_table_cell(
    const struct top_column *column, const struct top_cell *cell, char out[static TOP_TEXT])
{
    char duration[ROWS_MAX_CELL_BYTES];

    if (column->is_text)
        snprintf(out, TOP_TEXT, "%s", cell->text);
    else if (cell->number < 0)
        snprintf(out, TOP_TEXT, "-");
    else if (column->form == TOP_DURATION && cell->number < 1)
        snprintf(out, TOP_TEXT, "%.1f ms", cell->number * 1000);
    else if (column->form == TOP_DURATION)
        snprintf(out, TOP_TEXT, "%s", rows_duration(cell->number, duration));
    else if (column->form == TOP_RATE)
        snprintf(out, TOP_TEXT, "%.1f", cell->number);
    else if (column->form == TOP_SHARE)
        snprintf(out, TOP_TEXT, "%.0f%%", cell->number * 100);
    else
        snprintf(out, TOP_TEXT, "%.0f", cell->number);
    return out;
}

void top_table_sparkline(const struct top_row *row, int width, char *out)
{
    static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    size_t shown = row->history_count < (size_t)width ? row->history_count : (size_t)width;
    double largest = 0;

    *out = '\0';
    for (size_t i = 0; i < row->history_count; i++)
        largest = row->history[i] > largest ? row->history[i] : largest;
    for (size_t i = shown; i < (size_t)width; i++)
        out += sprintf(out, " ");
    for (size_t i = row->history_count - shown; i < row->history_count; i++)
        out += sprintf(out, "%s", blocks[largest > 0 ? (int)(row->history[i] / largest * 7 + 0.5) : 0]);
}
