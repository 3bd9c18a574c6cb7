/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.c - see the header.
 */
#include "client/csv.h"

#include <string.h>

#include "api/json/json_forms.h"
#include "base/buf.h"

static const char *const type_names[] = {
    [TAVOLA_NULL] = NULL,
    [TAVOLA_STRING] = NULL,
    [TAVOLA_BOOLEAN] = "boolean",
    [TAVOLA_INT32] = "int32",
    [TAVOLA_INT64] = "int64",
    [TAVOLA_DOUBLE] = "double",
    [TAVOLA_DATETIME] = "datetime",
    [TAVOLA_GUID] = "guid",
    [TAVOLA_BINARY] = "binary",
};

static const struct csv_column expires_column = { "tavola.expires", "datetime" };

static bool does_expire(const struct tavola_entity *entity)
{
    struct tavola_time expires = tavola_entity_expires(entity);

    return expires.seconds != 0 || expires.nanos != 0;
}

/* ---- reading ---- */

bool csv_is_complete(struct str text)
{
    bool is_open = false;

    for (size_t i = 0; i < text.len; i++)
        is_open ^= text.data[i] == '"';
    return !is_open;
}

/* Take a cell off the front of *rest, which moves to the comma behind the cell. */
static bool take_cell(struct str *rest, struct arena *arena, struct csv_cell *out)
{
    struct buf text;
    size_t i = 1;

    out->is_quoted = rest->len > 0 && rest->data[0] == '"';
    if (!out->is_quoted) {
        const char *comma = rest->len > 0 ? memchr(rest->data, ',', rest->len) : NULL;
        struct str cell = str_of_bytes(rest->data, comma ? (size_t)(comma - rest->data) : rest->len);

        out->text = arena_copy(arena, cell).data;
        *rest = str_of_bytes(rest->data + cell.len, rest->len - cell.len);
        return cell.len == 0 || !memchr(cell.data, '"', cell.len);
    }
    buf_init(&text, arena);
    for (; i < rest->len; i++) {
        if (rest->data[i] == '"' && (i + 1 == rest->len || rest->data[i + 1] != '"'))
            break;
        i += rest->data[i] == '"';
        buf_append_byte(&text, (uint8_t)rest->data[i]);
    }
    buf_append_byte(&text, '\0');
    out->text = text.data;
    if (i >= rest->len)
        return false;
    *rest = str_of_bytes(rest->data + i + 1, rest->len - i - 1);
    return rest->len == 0 || rest->data[0] == ',';
}

bool csv_split(
    struct str record, struct arena *arena, struct csv_cell out[static CSV_MAX_COLUMNS], size_t *count)
{
    *count = 0;
    for (;;) {
        if (*count == CSV_MAX_COLUMNS || !take_cell(&record, arena, &out[*count]))
            return false;
        (*count)++;
        if (record.len == 0)
            return true;
        record = str_of_bytes(record.data + 1, record.len - 1);
    }
}

static bool has_column(const struct csv_columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->columns[i].name, name) == 0)
            return true;
    return false;
}

const char *csv_read_header(struct str line, struct arena *arena, struct csv_columns *out)
{
    struct csv_cell cells[CSV_MAX_COLUMNS];
    size_t count;

    out->count = 0;
    if (!csv_split(line, arena, cells, &count))
        return "the first line is not a list of column names";
    for (size_t i = 0; i < count; i++) {
        struct str rest = str_of(cells[i].text), name = str_take(&rest, ':');
        const char *text = arena_copy(arena, name).data;

        if (has_column(out, text))
            return "a column stands twice in the first line";
        out->columns[out->count++] =
            (struct csv_column){ text, rest.len > 0 ? arena_copy(arena, rest).data : NULL };
    }
    if (!has_column(out, "PartitionKey") || !has_column(out, "RowKey"))
        return "the first line has the names of the columns, PartitionKey and RowKey among them";
    return NULL;
}

static enum tavola_code set_cells(const struct csv_columns *columns, const struct csv_cell *cells,
    struct tavola_entity *entity, struct tavola_error *error)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct csv_column *column = &columns->columns[i];

        if (strcmp(column->name, "PartitionKey") == 0 || strcmp(column->name, "RowKey") == 0 ||
            strcmp(column->name, "Timestamp") == 0 || (!*cells[i].text && !cells[i].is_quoted))
            continue;
        if (tavola_entity_set_text(entity, column->name, column->type, cells[i].text, error) != TAVOLA_OK)
            return error->code;
    }
    return TAVOLA_OK;
}

static const char *key_of(const struct csv_columns *columns, const struct csv_cell *cells, const char *name)
{
    size_t i = 0;

    while (strcmp(columns->columns[i].name, name) != 0)
        i++;
    return cells[i].text;
}

static enum tavola_code refuse_record(
    const struct csv_columns *columns, size_t count, bool is_split, struct tavola_error *error)
{
    *error = (struct tavola_error){ .code = TAVOLA_INVALID_ARGUMENT, .retry_after_ms = -1 };
    if (is_split)
        snprintf(error->message, sizeof(error->message), "the line has %zu cells, the first line %zu", count,
            columns->count);
    else
        snprintf(error->message, sizeof(error->message),
            "the line has a quote that is not closed, or too many cells");
    return error->code;
}

enum tavola_code csv_read_entity(const struct csv_columns *columns, struct str record,
    struct tavola_entity **out, struct tavola_error *error)
{
    struct csv_cell cells[CSV_MAX_COLUMNS];
    struct tavola_entity *entity;
    struct arena arena;
    size_t count = 0;
    bool is_split;

    arena_init(&arena);
    error->code = TAVOLA_OK;
    is_split = csv_split(record, &arena, cells, &count);
    if (!is_split || count != columns->count) {
        (void)refuse_record(columns, count, is_split, error);
    } else {
        entity = tavola_entity_new(
            TAVOLA_KEY(key_of(columns, cells, "PartitionKey"), key_of(columns, cells, "RowKey")));
        if (set_cells(columns, cells, entity, error) == TAVOLA_OK)
            *out = entity;
        else
            tavola_entity_free(entity);
    }
    arena_cleanup(&arena);
    return error->code;
}

/* ---- writing ---- */

void csv_write_cell(const char *text, FILE *out)
{
    if (*text && !strpbrk(text, ",\"\r\n")) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static const char *value_text(const struct tavola_value *value, struct arena *arena)
{
    struct buf out;

    buf_init(&out, arena);
    switch (value->type) {
    case TAVOLA_NULL:
        break;
    case TAVOLA_STRING:
    case TAVOLA_GUID:
        buf_append(&out, str_of_bytes(value->data, value->size));
        break;
    case TAVOLA_BINARY:
        json_forms_write_bytes(&out, str_of_bytes(value->data, value->size));
        break;
    case TAVOLA_BOOLEAN:
        buf_append(&out, value->integer ? STR_LITERAL("true") : STR_LITERAL("false"));
        break;
    case TAVOLA_INT32:
    case TAVOLA_INT64:
        buf_format(&out, "%lld", (long long)value->integer);
        break;
    case TAVOLA_DOUBLE:
        json_forms_write_double(&out, value->number);
        break;
    case TAVOLA_DATETIME:
        if (!json_forms_write_timestamp(&out, value->time.seconds, value->time.nanos))
            break;
    }
    buf_append_byte(&out, '\0');
    /* JSON writes NaN and the infinities in quotes, which CSV does not need. */
    if (value->type == TAVOLA_DOUBLE && out.data[0] == '"')
        return arena_copy(arena, str_of_bytes(out.data + 1, out.len - 3)).data;
    return out.data;
}

const char *csv_cell_text(const struct tavola_entity *entity, const char *name, struct arena *arena)
{
    struct tavola_value expires = { .type = TAVOLA_DATETIME, .time = tavola_entity_expires(entity) };
    const struct tavola_value *value;

    if (strcmp(name, "PartitionKey") == 0)
        return tavola_entity_key(entity).partition;
    if (strcmp(name, "RowKey") == 0)
        return tavola_entity_key(entity).row;
    if (strcmp(name, expires_column.name) == 0)
        return does_expire(entity) ? value_text(&expires, arena) : NULL;
    value = tavola_entity_get(entity, name);
    return value ? value_text(value, arena) : NULL;
}

/* Add a column unless it is there. false: too many columns. */
static bool add_column(struct csv_columns *columns, struct csv_column column)
{
    if (has_column(columns, column.name))
        return true;
    if (columns->count == CSV_MAX_COLUMNS)
        return false;
    columns->columns[columns->count++] = column;
    return true;
}

bool csv_add_columns(struct csv_columns *columns, const struct tavola_entity *entity, struct arena *arena)
{
    const struct tavola_value *value;
    const char *name;

    if (does_expire(entity) && !add_column(columns, expires_column))
        return false;
    for (size_t i = 0; (value = tavola_entity_at(entity, i, &name)) != NULL; i++)
        if (!add_column(columns,
                (struct csv_column){ arena_copy(arena, str_of(name)).data, type_names[value->type] }))
            return false;
    return true;
}

void csv_write_header(const struct csv_columns *columns, FILE *out)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct csv_column *column = &columns->columns[i];

        fprintf(out, "%s%s%s%s", i > 0 ? "," : "", column->name, column->type ? ":" : "",
            column->type ? column->type : "");
    }
    fputc('\n', out);
}

static bool is_of_column(const struct csv_column *column, const char *name, enum tavola_type type)
{
    const char *wanted = type_names[type];

    return strcmp(column->name, name) == 0 &&
           (!column->type ? !wanted : wanted && strcmp(column->type, wanted) == 0);
}

/* Whether a line can hold the value: a text with U+0000 would end there. */
static bool is_writable(const struct tavola_value *value)
{
    return value->type != TAVOLA_STRING || value->size == 0 || !memchr(value->data, '\0', value->size);
}

static bool find_misfit(
    const struct csv_columns *columns, const struct tavola_entity *entity, struct csv_misfit *out)
{
    const struct tavola_value *value;

    *out = (struct csv_misfit){ expires_column.name, "has no column: those of the first entities are all" };
    if (does_expire(entity) && !has_column(columns, expires_column.name))
        return true;
    for (size_t i = 0; (value = tavola_entity_at(entity, i, &out->name)) != NULL; i++) {
        size_t k = 0;

        while (k < columns->count && !is_of_column(&columns->columns[k], out->name, value->type))
            k++;
        out->why = k == columns->count ? "has no column of its type: those of the first entities are all"
                                       : "has a character U+0000";
        if (k == columns->count || !is_writable(value))
            return true;
    }
    return false;
}

bool csv_write_entity(const struct csv_columns *columns, const struct tavola_entity *entity, FILE *out,
    struct csv_misfit *misfit)
{
    struct arena arena;

    if (find_misfit(columns, entity, misfit))
        return false;
    arena_init(&arena);
    for (size_t i = 0; i < columns->count; i++) {
        const char *text = csv_cell_text(entity, columns->columns[i].name, &arena);

        if (i > 0)
            fputc(',', out);
        if (text)
            csv_write_cell(text, out);
    }
    fputc('\n', out);
    arena_cleanup(&arena);
    return true;
}
