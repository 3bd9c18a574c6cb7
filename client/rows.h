/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.h - the messages of a list on standard output, in the form that -o names.
 *
 *   table  for people: the columns, aligned, cut at the width of a terminal
 *   csv    the columns, with the names of their fields in the first line; durations in seconds
 *   jsonl  each message on a line, in the form of `tavola api`
 *   json   one list of them
 */
#ifndef CLIENT_ROWS_H
#define CLIENT_ROWS_H

#include "base/buf.h"
#include "client/arguments.h"
#include "client/lib/tavola.h"
#include "client/output.h"

/* FORM is table, json, jsonl or csv. */
#define ROWS_FORM "[-o FORM]"

enum { ROWS_MAX_COLUMNS = 16, ROWS_MAX_CELL_BYTES = 32 };

enum cell_form {
    CELL_TEXT,
    CELL_LOWER,    /* text in lower case */
    CELL_DASH,     /* text, or "-" in its place */
    CELL_NUMBER,   /* on the right side */
    CELL_RATE,     /* "12.5" */
    CELL_SHARE,    /* "37%", of 1 */
    CELL_DURATION, /* "1.5 s", "17 min"; "-": it is absent */
    CELL_TIME,     /* "2026-01-31T12:00:00Z"; "-": it is absent */
};

/* Append the cell of a row; human: for a table, else for csv. */
typedef void rows_cell_fn(const struct tavola_record *record, bool human, struct buf *out);

struct rows_column {
    const char *title; /* in tables */
    const char *path;  /* of the field; its last name is the column's in csv. NULL: write has the cell */
    enum cell_form form;
    bool of_parent;      /* the field is one of the message that the row's message is in */
    const char *name;    /* in csv, for columns whose field's name does not suffice */
    rows_cell_fn *write; /* NULL: by form */
};

struct rows {
    const struct rows_column *columns; /* the last one has no title */
    size_t count;
    enum output_form form;
    const char *none; /* a table without rows: this line; NULL: its titles alone */
    int64_t printed;
    struct buf
        /* of a table: texts with a NUL behind each, row by row, and behind them the notes of the row */
        cells;
    int64_t table_rows;
    const struct tavola_record *parent;
};

/* By the option -o, a table if it was not given. false: there is no such form; standard error says so. */
bool rows_open(struct rows *rows, const struct arguments *arguments, const struct rows_column *columns);

/* Rows for output that is a table in any case. */
void rows_open_table(struct rows *rows, const struct rows_column *columns);

/*
 * Whether a message is printed as it is, with all that is in it, so that a row for each of its parts would
 * repeat it.
 */
bool rows_are_messages(const struct rows *rows);

void rows_add(struct rows *rows, const struct tavola_record *record);

/* A row of a message in another message, for columns with of_parent. */
void rows_add_part(struct rows *rows, const struct tavola_record *parent, const struct tavola_record *record);

/* In a table, a line below the row that was added last, with a field as text unless that is empty. */
void rows_note(struct rows *rows, const char *title, const char *path, const struct tavola_record *record);

/* A row of texts in the order of the columns, which have names; for what is no message. */
void rows_add_texts(struct rows *rows, const char *const *texts);

/* rows_add for calls_each: context is a struct rows. */
void rows_element(void *context, const struct tavola_record *record);

/* Write what is left. */
void rows_close(struct rows *rows);

/* "1.5 s"; below 0: "-". Returns out. */
const char *rows_duration(double seconds, char out[static ROWS_MAX_CELL_BYTES]);

#endif
