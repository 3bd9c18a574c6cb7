/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rows.c - see the header.
 */
#include "client/rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/json/json_forms.h"
#include "client/csv.h"

/* Before a note among the cells of a table. */
#define NOTE_MARK "\001"

const char *rows_duration(double seconds, char out[static ROWS_MAX_CELL_BYTES])
{
    if (seconds < 0)
        snprintf(out, ROWS_MAX_CELL_BYTES, "-");
    else if (seconds < 100)
        snprintf(out, ROWS_MAX_CELL_BYTES, "%.1f s", seconds);
    else if (seconds < 6000)
        snprintf(out, ROWS_MAX_CELL_BYTES, "%.0f min", seconds / 60);
    else
        snprintf(out, ROWS_MAX_CELL_BYTES, "%.0f h", seconds / 3600);
    return out;
}

/* ---- cells ---- */

static void write_text(
    const struct tavola_record *record, const struct rows_column *column, bool human, struct buf *out)
{
    char *text = tavola_record_text(record, column->path);

    if (column->form == CELL_LOWER)
        for (char *letter = text; *letter; letter++)
            *letter = (char)tolower((unsigned char)*letter);
    if (column->form == CELL_TIME && human && strlen(text) > strlen("2026-01-31T12:00:00")) {
        text[strlen("2026-01-31T12:00:00")] = '\0'; /* without parts of a second */
        buf_format(out, "%sZ", text);
    } else {
        buf_append(out, str_of(human && !*text && column->form >= CELL_DASH ? "-" : text));
    }
    tavola_free(text);
}

static void write_number(
    const struct tavola_record *record, const struct rows_column *column, bool human, struct buf *out)
{
    double number = tavola_record_number(record, column->path, -1);
    char text[ROWS_MAX_CELL_BYTES];

    if (column->form == CELL_NUMBER)
        buf_format(out, "%lld", (long long)tavola_record_integer(record, column->path));
    else if (!human && number >= 0)
        json_forms_write_double(out, number);
    else if (human && column->form == CELL_DURATION)
        buf_append(out, str_of(rows_duration(number, text)));
    else if (human)
        buf_format(out, column->form == CELL_SHARE ? "%.0f%%" : "%.1f",
            column->form == CELL_SHARE ? number * 100 : number);
}

static bool is_right(const struct rows_column *column)
{
    return column->form >= CELL_NUMBER && column->form <= CELL_DURATION;
}

static void write_cell(
    struct rows *rows, const struct rows_column *column, const struct tavola_record *record, struct buf *out)
{
    bool human = rows->form == OUTPUT_TABLE;

    if (column->of_parent && rows->parent)
        record = rows->parent;
    if (column->write)
        column->write(record, human, out);
    else if (is_right(column))
        write_number(record, column, human, out);
    else
        write_text(record, column, human, out);
}

/* ---- opening ---- */

static void use_columns(struct rows *rows, const struct rows_column *columns, enum output_form form)
{
    *rows = (struct rows){ .columns = columns, .form = form };
    buf_init(&rows->cells, NULL);
    while (columns[rows->count].title)
        rows->count++;
}

bool rows_open(struct rows *rows, const struct arguments *arguments, const struct rows_column *columns)
{
    enum output_form form;

    if (!output_read_form(arguments, OUTPUT_TABLE, &form))
        return false;
    use_columns(rows, columns, form);
    return true;
}

void rows_open_table(struct rows *rows, const struct rows_column *columns)
{
    use_columns(rows, columns, OUTPUT_TABLE);
}

bool rows_are_messages(const struct rows *rows)
{
    return rows->form == OUTPUT_JSON || rows->form == OUTPUT_JSONL;
}

/* ---- rows ---- */

/* In csv and JSON: "applied_per_second". */
static struct str column_name(const struct rows_column *column)
{
    return column->name ? str_of(column->name) : str_behind_last(str_of(column->path), '.');
}

static void print_csv_header(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        printf("%s%.*s", i > 0 ? "," : "", STR_ARG(column_name(&rows->columns[i])));
    putchar('\n');
}

static void begin_json(const struct rows *rows)
{
    if (rows->form == OUTPUT_JSON)
        printf("%s", rows->printed == 0 ? "[\n" : ",\n");
}

static void print_csv_cell(size_t position, const char *text)
{
    if (position > 0)
        putchar(',');
    csv_write_cell(text, stdout);
}

static void print_csv(struct rows *rows, const struct tavola_record *record)
{
    struct buf cell;

    if (rows->printed == 0)
        print_csv_header(rows);
    for (size_t i = 0; i < rows->count; i++) {
        buf_init(&cell, NULL);
        write_cell(rows, &rows->columns[i], record, &cell);
        buf_append_byte(&cell, '\0');
        print_csv_cell(i, cell.data);
        buf_cleanup(&cell);
    }
    putchar('\n');
}

static void print_message(struct rows *rows, const struct tavola_record *record)
{
    char *json = tavola_record_json(record);

    begin_json(rows);
    printf("%s%s", json, rows->form == OUTPUT_JSONL ? "\n" : "");
    tavola_free(json);
}

static void keep_row(struct rows *rows, const struct tavola_record *record)
{
    for (size_t i = 0; i < rows->count; i++) {
        write_cell(rows, &rows->columns[i], record, &rows->cells);
        buf_append_byte(&rows->cells, '\0');
    }
    rows->table_rows++;
}

void rows_add(struct rows *rows, const struct tavola_record *record)
{
    if (rows_are_messages(rows))
        print_message(rows, record);
    else if (rows->form == OUTPUT_CSV)
        print_csv(rows, record);
    else
        keep_row(rows, record);
    rows->printed++;
}

void rows_add_part(struct rows *rows, const struct tavola_record *parent, const struct tavola_record *record)
{
    rows->parent = parent;
    rows_add(rows, record);
    rows->parent = NULL;
}

void rows_note(struct rows *rows, const char *title, const char *path, const struct tavola_record *record)
{
    struct str rest, line;
    char *text;

    if (rows->form != OUTPUT_TABLE)
        return;
    text = tavola_record_text(record, path);
    for (rest = str_of(text); rest.len > 0; title = "") {
        line = str_take(&rest, '\n');
        buf_format(&rows->cells, NOTE_MARK "    %-8s %.*s", title, STR_ARG(line));
        buf_append_byte(&rows->cells, '\0');
    }
    tavola_free(text);
}

void rows_element(void *context, const struct tavola_record *record)
{
    rows_add(context, record);
}

static void print_object(struct rows *rows, const char *const *texts)
{
    struct buf line;

    buf_init(&line, NULL);
    for (size_t i = 0; i < rows->count; i++) {
        buf_append(&line, str_of(i > 0 ? "," : "{"));
        json_forms_write_text(&line, column_name(&rows->columns[i]));
        buf_append_byte(&line, ':');
        json_forms_write_text(&line, str_of(texts[i]));
    }
    begin_json(rows);
    printf("%.*s}%s", STR_ARG(buf_str(&line)), rows->form == OUTPUT_JSONL ? "\n" : "");
    buf_cleanup(&line);
}

void rows_add_texts(struct rows *rows, const char *const *texts)
{
    if (rows_are_messages(rows))
        print_object(rows, texts);
    if (rows->form == OUTPUT_CSV && rows->printed == 0)
        print_csv_header(rows);
    for (size_t i = 0; i < rows->count && rows->form == OUTPUT_CSV; i++)
        print_csv_cell(i, texts[i]);
    if (rows->form == OUTPUT_CSV)
        putchar('\n');
    for (size_t i = 0; i < rows->count && rows->form == OUTPUT_TABLE; i++) {
        buf_append(&rows->cells, str_of(texts[i]));
        buf_append_byte(&rows->cells, '\0');
    }
    rows->table_rows += rows->form == OUTPUT_TABLE;
    rows->printed++;
}

/* ---- tables ---- */

/* The cells behind the notes of a row; they are printed, unless out is NULL. */
static const char *pass_notes(const struct rows *rows, const char *cell, FILE *out)
{
    const char *end = rows->cells.data + rows->cells.len;

    for (; cell < end && *cell == *NOTE_MARK; cell += strlen(cell) + 1)
        if (out)
            fprintf(out, "%s\n", cell + 1);
    return cell;
}

static void measure(const struct rows *rows, size_t widths[static ROWS_MAX_COLUMNS])
{
    const char *cell = rows->cells.data;

    for (size_t i = 0; i < rows->count; i++)
        widths[i] = output_characters(rows->columns[i].title);
    for (int64_t row = 0; row < rows->table_rows; row++) {
        for (size_t i = 0; i < rows->count; i++) {
            size_t width = output_characters(cell);

            widths[i] = width > widths[i] ? width : widths[i];
            cell += strlen(cell) + 1;
        }
        cell = pass_notes(rows, cell, NULL);
    }
}

/* cell NULL: the titles. Returns what is behind the row. */
static const char *print_row(
    const struct rows *rows, const size_t widths[static ROWS_MAX_COLUMNS], const char *cell)
{
    size_t left = output_width();

    for (size_t i = 0; i < rows->count; i++) {
        const struct rows_column *column = &rows->columns[i];
        const char *text = cell ? cell : column->title;
        size_t used = output_characters(text), gap = i + 1 < rows->count ? 2 : 0;

        if (is_right(column))
            left = output_cell("", widths[i] - used, left);
        left = output_cell(text, gap == 0 || is_right(column) ? used : widths[i], left);
        left = output_cell("", gap, left);
        cell = cell ? cell + strlen(cell) + 1 : NULL;
    }
    putchar('\n');
    return cell;
}

static void print_table(const struct rows *rows)
{
    size_t widths[ROWS_MAX_COLUMNS];
    const char *cell = rows->cells.data;

    if (rows->table_rows == 0 && rows->none) {
        printf("%s\n", rows->none);
        return;
    }
    measure(rows, widths);
    (void)print_row(rows, widths, NULL);
    for (int64_t row = 0; row < rows->table_rows; row++)
        cell = pass_notes(rows, print_row(rows, widths, cell), stdout);
}

void rows_close(struct rows *rows)
{
    if (rows->form == OUTPUT_TABLE)
        print_table(rows);
    if (rows->form == OUTPUT_CSV && rows->printed == 0)
        print_csv_header(rows);
    if (rows->form == OUTPUT_JSON)
        printf("%s]\n", rows->printed == 0 ? "[" : "\n");
    buf_cleanup(&rows->cells);
}
