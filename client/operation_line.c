/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_line.c - see the header. The members of the object are cut out as they stand; the functions that
 * read a member check it.
 */
#include "client/operation_line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/entity_json.h"

#define BLANKS " \t\r\n"

/* ---- cutting ---- */

/* The length of a text in quotes, with them; 0: it is not closed. */
static size_t quoted_length(struct str text)
{
    for (size_t i = 1; i < text.len; i++) {
        if (text.data[i] == '\\')
            i++;
        else if (text.data[i] == '"')
            return i + 1;
    }
    return 0;
}

/* The length of a value: up to the comma or bracket behind it. 0: brackets or quotes are not closed. */
static size_t value_length(struct str text)
{
    int depth = 0;
    size_t i = 0;

    while (i < text.len) {
        char c = text.data[i];
        size_t step = c == '"' ? quoted_length(str_from(text, i)) : 1;

        if (step == 0 || (depth == 0 && (c == ',' || c == '}' || c == ']')))
            return step == 0 ? 0 : i;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        i += step;
    }
    return depth == 0 ? i : 0;
}

/* Cut the next member off *rest, which begins behind the object's bracket. false: there is none. */
static bool next_member(struct str *rest, struct str *name, struct str *value)
{
    struct str text = str_trim(*rest, BLANKS ",");
    size_t len = text.len > 0 && text.data[0] == '"' ? quoted_length(text) : 0;

    if (len == 0)
        return false;
    *name = str_of_bytes(text.data + 1, len - 2);
    text = str_trim(str_from(text, len), BLANKS);
    if (text.len == 0 || text.data[0] != ':')
        return false;
    text = str_trim(str_from(text, 1), BLANKS);
    len = value_length(text);
    *value = str_trim(str_of_bytes(text.data, len), BLANKS);
    *rest = str_from(text, len);
    return value->len > 0;
}

/* ---- members ---- */

static const struct action_name {
    const char *name;
    enum tavola_action action;
    bool is_move;
} actions[] = {
    { "insert", TAVOLA_INSERT, false },
    { "replace", TAVOLA_REPLACE, false },
    { "merge", TAVOLA_MERGE, false },
    { "insertOrReplace", TAVOLA_INSERT_OR_REPLACE, false },
    { "put", TAVOLA_INSERT_OR_REPLACE, false },
    { "insertOrMerge", TAVOLA_INSERT_OR_MERGE, false },
    { "delete", TAVOLA_DELETE, false },
    { "move", TAVOLA_DELETE, true },
};

static const struct action_name *find_action(struct str name)
{
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
        if (str_equal(name, str_of(actions[i].name)))
            return &actions[i];
    return NULL;
}

static enum status read_entity(
    struct str name, struct str value, struct tavola_entity **out, struct error *err)
{
    struct tavola_error error;

    if (*out)
        return error_set(err, STATUS_INVALID, "two actions: one line is one write");
    if (tavola_entity_from_json(value.data, value.len, out, &error) != TAVOLA_OK)
        return error_set(err, STATUS_INVALID, "%.*s: %s", STR_ARG(name), error.message);
    return STATUS_OK;
}

static enum status read_switch(struct str name, struct str value, bool *out, struct error *err)
{
    *out = str_equal(value, STR_LITERAL("true"));
    if (*out || str_equal(value, STR_LITERAL("false")))
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "%.*s is true or false", STR_ARG(name));
}

static enum status read_member(struct str line, struct str name, struct str value, struct arena *arena,
    struct operation_line *out, struct error *err)
{
    const struct action_name *action = find_action(name);
    const char **texts[] = { &out->table, &out->to_table, &out->if_match, &out->write_file, &out->append_file,
        &out->put_blob, &out->delete_blob, &out->http_call, &out->content, &out->content_type,
        &out->blob_if_match, &out->method };
    static const char *const names[] = { "table", "toTable", "ifMatch", "writeFile", "appendFile", "putBlob",
        "deleteBlob", "httpCall", "content", "contentType", "blobIfMatch", "method" };
    struct str text;

    if (action) {
        out->action = action->action;
        out->is_move = action->is_move;
        return read_entity(name, value, &out->entity, err);
    }
    if (str_equal(name, STR_LITERAL("to")))
        return read_entity(name, value, &out->to, err);
    if (str_equal(name, STR_LITERAL("from")))
        return read_entity(name, value, &out->entity, err);
    if (str_equal(name, STR_LITERAL("deleteEntity")))
        return read_switch(name, value, &out->deletes_entity, err);
    if (str_equal(name, STR_LITERAL("blobIfAbsent")))
        return read_switch(name, value, &out->blob_if_absent, err);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!str_equal(name, str_of(names[i])))
            continue;
        TRY(entity_json_read_member(line, names[i], arena, &text, err));
        *texts[i] = arena_copy(arena, text).data;
        return STATUS_OK;
    }
    return error_set(err, STATUS_INVALID,
        "there is no member \"%.*s\"; a line has an action (insert, replace, merge, insertOrReplace, "
        "insertOrMerge, delete, move, writeFile, appendFile, putBlob, deleteBlob, httpCall), table, ifMatch, "
        "to, toTable, content, from, deleteEntity, contentType, blobIfMatch, blobIfAbsent and method",
        STR_ARG(name));
}

static int outside_actions(const struct operation_line *line)
{
    return !!line->write_file + !!line->append_file + !!line->put_blob + !!line->delete_blob +
           !!line->http_call;
}

bool operation_line_is_outside(const struct operation_line *line)
{
    return outside_actions(line) > 0;
}

/* What belongs to another kind of line than this one. */
static enum status check_members(const struct operation_line *line, struct error *err)
{
    bool has_content = line->content || line->deletes_entity;

    if (has_content && (outside_actions(line) == 0 || line->delete_blob))
        return error_set(err, STATUS_INVALID,
            "content and deleteEntity belong to writeFile, appendFile, putBlob and httpCall");
    if (line->content_type && !line->put_blob && !line->http_call)
        return error_set(err, STATUS_INVALID, "contentType belongs to putBlob and httpCall");
    if (line->method && !line->http_call)
        return error_set(err, STATUS_INVALID, "method belongs to httpCall");
    if (line->blob_if_absent && !line->put_blob)
        return error_set(err, STATUS_INVALID, "blobIfAbsent belongs to putBlob");
    if (line->blob_if_match && !line->put_blob && !line->delete_blob)
        return error_set(err, STATUS_INVALID, "blobIfMatch belongs to putBlob and deleteBlob");
    return STATUS_OK;
}

static enum status check_outside(const struct operation_line *line, struct error *err)
{
    if (outside_actions(line) > 1)
        return error_set(err, STATUS_INVALID, "two actions: one line is one step");
    if (line->delete_blob && (line->entity || line->if_match))
        return error_set(err, STATUS_INVALID, "a deleteBlob has no entity: its condition is \"blobIfMatch\"");
    if (!line->delete_blob && (line->content != NULL) == (line->entity != NULL))
        return error_set(err, STATUS_INVALID, "a file, a blob or a call has either \"content\" or \"from\"");
    return STATUS_OK;
}

enum status operation_line_read(
    struct str line, struct arena *arena, struct operation_line *out, struct error *err)
{
    struct str text = str_trim(line, BLANKS), rest, name, value;

    *out = (struct operation_line){ .entity = NULL };
    if (text.len < 2 || text.data[0] != '{' || text.data[text.len - 1] != '}')
        return error_set(err, STATUS_INVALID, "the line is not a JSON object, such as {\"insert\": {...}}");
    rest = str_of_bytes(text.data + 1, text.len - 2);
    while (next_member(&rest, &name, &value))
        TRY(read_member(line, name, value, arena, out, err));
    if (str_trim(rest, BLANKS).len > 0)
        return error_set(err, STATUS_INVALID, "the line is not a JSON object: see \"%.*s\"",
            (int)(rest.len < 40 ? rest.len : 40), rest.data);
    TRY(check_members(out, err));
    if (operation_line_is_outside(out))
        return check_outside(out, err);
    if (!out->entity)
        return error_set(err, STATUS_INVALID, "the line has no action, such as {\"insert\": {...}}");
    if (out->is_move != (out->to != NULL))
        return error_set(err, STATUS_INVALID, "a move has a member \"to\", and nothing else has one");
    return STATUS_OK;
}

void operation_line_cleanup(struct operation_line *line)
{
    tavola_entity_free(line->entity);
    tavola_entity_free(line->to);
}

/* ---- files ---- */

struct reading {
    operation_line_fn *run;
    void *context;
    int number;
};

static enum status run_line(struct reading *reading, struct str text, struct error *err)
{
    struct operation_line line;
    struct arena arena;
    enum status status;

    arena_init(&arena);
    status = operation_line_read(text, &arena, &line, err);
    if (status == STATUS_OK)
        status = reading->run(reading->context, &line, reading->number, err);
    operation_line_cleanup(&line);
    arena_cleanup(&arena);
    return status;
}

static enum status read_all(FILE *input, struct reading *reading, struct error *err)
{
    enum status status = STATUS_OK;
    struct error why = { 0 };
    size_t capacity = 0;
    char *line = NULL;
    ssize_t len;

    while (status == STATUS_OK && (len = getline(&line, &capacity, input)) > 0) {
        reading->number++;
        if (str_trim(str_of_bytes(line, (size_t)len), BLANKS).len > 0)
            status = run_line(reading, str_of_bytes(line, (size_t)len), &why);
    }
    free(line);
    if (status != STATUS_OK)
        return error_set(err, STATUS_INVALID, "line %d: %s", reading->number, why.message);
    return STATUS_OK;
}

enum status operation_line_read_file(
    const char *path, operation_line_fn *run, void *context, struct error *err)
{
    struct reading reading = { run, context, 0 };
    bool is_file = path && strcmp(path, "-") != 0;
    FILE *input = is_file ? fopen(path, "re") : stdin;
    enum status status;

    if (!input)
        return error_set(err, STATUS_INVALID, "%s: %s", path, strerror(errno));
    status = read_all(input, &reading, err);
    if (is_file)
        fclose(input);
    return status;
}
