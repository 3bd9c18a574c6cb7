/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - see the header.
 */
#include "client/output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { MIN_WIDTH = 20, UNBOUNDED = 1 << 20 };

bool output_read_form(const struct arguments *arguments, enum output_form fallback, enum output_form *out)
{
    static const char *const names[] = { "jsonl", "json", "csv", "table" };
    const char *given = arguments_value(arguments, "-o");

    for (size_t i = 0; i < 4; i++)
        if (given ? strcmp(given, names[i]) == 0 : i == (size_t)fallback) {
            *out = (enum output_form)i;
            return true;
        }
    fprintf(stderr, "tavola %s: -o takes jsonl, json, csv or table, not \"%s\"\n", arguments->command, given);
    return false;
}

bool output_open(struct output *out, const struct arguments *arguments)
{
    *out = (struct output){ .form = OUTPUT_JSONL };
    arena_init(&out->arena);
    return output_read_form(arguments, OUTPUT_JSONL, &out->form);
}

/* ---- tables ---- */

size_t output_width(void)
{
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return UNBOUNDED;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < MIN_WIDTH)
        return MIN_WIDTH;
    return size.ws_col;
}

size_t output_characters(const char *text)
{
    size_t count = 0;

    for (; *text; text++)
        count += (*text & 0xC0) != 0x80;
    return count;
}

size_t output_cell(const char *text, size_t width, size_t left)
{
    size_t used = 0;

    for (; *text; text++) {
        used += (*text & 0xC0) != 0x80;
        if (used > left)
            return 0;
        putchar((unsigned char)*text < ' ' ? ' ' : *text);
    }
    for (; used < width && used < left; used++)
        putchar(' ');
    return left - used;
}

static const char *cell_text(const struct tavola_entity *entity, const char *name, struct arena *arena)
{
    const char *text = csv_cell_text(entity, name, arena);

    return text ? text : "";
}

/* Print a row of a table. entity NULL: the row of column names. */
static void print_row(struct output *out, const struct tavola_entity *entity)
{
    size_t left = output_width();
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < out->columns.count && left > 0; i++) {
        const char *name = out->columns.columns[i].name;
        bool is_last = i + 1 == out->columns.count;

        left = output_cell(
            entity ? cell_text(entity, name, &arena) : name, is_last ? 0 : out->widths[i] + 2, left);
    }
    putchar('\n');
    arena_cleanup(&arena);
}

static void measure_columns(struct output *out)
{
    for (size_t i = 0; i < out->columns.count; i++) {
        const char *name = out->columns.columns[i].name;

        out->widths[i] = output_characters(name);
        for (size_t k = 0; k < out->sampled; k++) {
            size_t width = output_characters(cell_text(out->sample[k], name, &out->arena));

            if (width > out->widths[i])
                out->widths[i] = width;
        }
    }
}

/* ---- columns ---- */

static bool print_entity(struct output *out, const struct tavola_entity *entity)
{
    struct csv_misfit misfit;

    if (out->form == OUTPUT_TABLE) {
        print_row(out, entity);
        return true;
    }
    if (csv_write_entity(&out->columns, entity, stdout, &misfit))
        return true;
    fprintf(stderr, "tavola: %s of %s/%s %s; -o jsonl holds any entity\n", misfit.name,
        tavola_entity_key(entity).partition, tavola_entity_key(entity).row, misfit.why);
    return false;
}

static bool print_sample(struct output *out)
{
    bool printed = true;

    out->has_columns = true;
    out->columns.columns[0] = (struct csv_column){ "PartitionKey", NULL };
    out->columns.columns[1] = (struct csv_column){ "RowKey", NULL };
    out->columns.count = 2;
    for (size_t i = 0; i < out->sampled; i++)
        printed = csv_add_columns(&out->columns, out->sample[i], &out->arena) && printed;
    if (out->form == OUTPUT_TABLE) {
        measure_columns(out);
        print_row(out, NULL);
    } else {
        csv_write_header(&out->columns, stdout);
    }
    for (size_t i = 0; i < out->sampled; i++) {
        printed = printed && print_entity(out, out->sample[i]);
        tavola_entity_free(out->sample[i]);
    }
    out->sampled = 0;
    return printed;
}

bool output_entity(struct output *out, const struct tavola_entity *entity)
{
    char *json;

    out->count++;
    if (out->form == OUTPUT_CSV || out->form == OUTPUT_TABLE) {
        if (out->has_columns)
            return print_entity(out, entity);
        out->sample[out->sampled++] = tavola_entity_copy(entity);
        return out->sampled < OUTPUT_SAMPLE || print_sample(out);
    }
    json = tavola_entity_to_json(entity);
    if (out->form == OUTPUT_JSON)
        printf("%s", out->count == 1 ? "[\n" : ",\n");
    printf("%s%s", json, out->form == OUTPUT_JSON ? "" : "\n");
    tavola_free(json);
    return true;
}

bool output_close(struct output *out)
{
    bool printed = true;

    if (out->sampled > 0)
        printed = print_sample(out);
    if (out->form == OUTPUT_JSON)
        printf("%s]\n", out->count == 0 ? "[" : "\n");
    if (out->count == 0)
        fprintf(stderr, "tavola: nothing was found\n");
    arena_cleanup(&out->arena);
    return printed;
}
