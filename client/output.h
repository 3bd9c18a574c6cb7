/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - prints entities on standard output, in the form that the option -o names.
 *
 *   jsonl  one entity per line, the form that `tavola import` reads
 *   json   one list
 *   csv    with types in the first line; the columns are those of the first 1,000 entities
 *   table  for people: the same columns, cut at the width of the terminal
 */
#ifndef CLIENT_OUTPUT_H
#define CLIENT_OUTPUT_H

#include "client/arguments.h"
#include "client/csv.h"

enum { OUTPUT_SAMPLE = 1000 };

enum output_form { OUTPUT_JSONL, OUTPUT_JSON, OUTPUT_CSV, OUTPUT_TABLE };

struct output {
    enum output_form form;
    int64_t count; /* number of entities so far */
    struct csv_columns columns;
    size_t widths[CSV_MAX_COLUMNS]; /* of a table's columns, in characters */
    struct tavola_entity *sample[OUTPUT_SAMPLE];
    size_t sampled;
    bool has_columns;
    struct arena arena;
};

/* By the option -o. false: there is no such form; standard error says so. */
bool output_read_form(const struct arguments *arguments, enum output_form fallback, enum output_form *out);

/* The columns of the terminal; a file has no bound. */
size_t output_width(void);

/* The characters of a text, of which UTF-8 may need several bytes each. */
size_t output_characters(const char *text);

/*
 * Print at most `left` characters, and spaces up to `width`. Line ends inside become spaces. Returns what is
 * left.
 */
size_t output_cell(const char *text, size_t width, size_t left);

/* By the option -o, jsonl if it was not given. false: there is no such form; standard error says so. */
bool output_open(struct output *out, const struct arguments *arguments);

/* Print an entity. false: it does not fit the columns; the cause is on standard error. */
bool output_entity(struct output *out, const struct tavola_entity *entity);

/* Print what is left. If there was no entity, standard error says so. */
bool output_close(struct output *out);

#endif
