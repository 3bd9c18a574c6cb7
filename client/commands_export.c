/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_export.c - the entities of a table into a file of JSON lines or CSV.
 *
 * The checkpoint has the token of a scan's message, and the file's size before the entities that follow the
 * token. A run that continues cuts the file to this size, so no entity is missing and none is there twice.
 *
 * An export of one snapshot cannot continue. It writes to another file, which gets its name when it is complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "client/arguments.h"
#include "client/blob_folder.h"
#include "client/calls.h"
#include "client/checkpoint.h"
#include "client/command.h"
#include "client/csv.h"
#include "client/interrupt.h"
#include "client/progress.h"
#include "client/time_text.h"
#include "domain/ticks.h"

#define EXPORT_ARGUMENTS                                                                                     \
    "TABLE [--output FILE] [--csv] [--filter TEXT] [--snapshot] [--restart] [--blobs FOLDER]"

enum { SAMPLE = 1000, LINE_BYTES = 65536, PART_BYTES = CHECKPOINT_PATH_BYTES };

struct export_run {
    struct arguments arguments;
    const char *table, *path; /* path NULL: standard output */
    const char *folder;       /* for the blobs that entities hold; NULL: these are left out */
    bool is_snapshot, has_told_snapshot;
    char part[PART_BYTES]; /* of a snapshot: the file until it is complete; empty: none */
    FILE *output;
    bool is_csv;
    struct csv_columns columns; /* columns of a CSV file: the properties of the first entities */
    struct tavola_entity *sample[SAMPLE];
    size_t sampled;
    bool has_header;
    struct arena arena;
    struct tavola *client;
    struct checkpoint checkpoint;
    struct progress progress;
    int64_t whole; /* number of entities in the table, for the progress; 0: not counted */
};

static bool report_file(const struct export_run *run)
{
    fprintf(stderr, "tavola export: %s: %s\n", run->path ? run->path : "standard output", strerror(errno));
    return false;
}

/* ---- the file ---- */

static bool read_back_header(struct export_run *run)
{
    char line[LINE_BYTES];
    const char *mistake = "the file is empty";

    if (fgets(line, sizeof(line), run->output)) {
        line[strcspn(line, "\r\n")] = '\0';
        mistake = csv_read_header(str_of(line), &run->arena, &run->columns);
    }
    if (mistake)
        fprintf(stderr, "tavola export: %s: line 1: %s; --restart begins anew\n", run->path, mistake);
    run->has_header = !mistake;
    return !mistake;
}

static bool go_on(struct export_run *run)
{
    fprintf(stderr, "tavola export: going on behind %lld entities; --restart begins anew\n",
        (long long)run->checkpoint.done);
    run->output = fopen(run->path, "r+e");
    if (!run->output || ftruncate(fileno(run->output), run->checkpoint.offset) != 0)
        return report_file(run);
    if (run->is_csv && !read_back_header(run))
        return false;
    return fseeko(run->output, 0, SEEK_END) == 0 || report_file(run);
}

static bool open_part(struct export_run *run)
{
    int len = snprintf(run->part, sizeof(run->part), "%s.tavola-part", run->path);

    if (len < 0 || (size_t)len >= sizeof(run->part)) {
        run->part[0] = '\0';
        errno = ENAMETOOLONG;
        return report_file(run);
    }
    run->output = fopen(run->part, "we");
    return run->output || report_file(run);
}

/* Close the file. A snapshot's file gets its name if the export is complete, and is removed otherwise. */
static int close_output(struct export_run *run, int code)
{
    if (!run->output || !run->path)
        return code;
    if (fclose(run->output) != 0 && code == COMMAND_OK && !report_file(run))
        code = COMMAND_FAILED;
    if (!run->part[0])
        return code;
    if (code == COMMAND_OK && rename(run->part, run->path) != 0 && !report_file(run))
        code = COMMAND_FAILED;
    if (code != COMMAND_OK) {
        (void)unlink(run->part);
        fprintf(stderr, "tavola export: %s is not written: a snapshot is exported as a whole or not at all\n",
            run->path);
    }
    return code;
}

static bool open_output(struct export_run *run)
{
    size_t len = run->path ? strlen(run->path) : 0;

    run->is_csv = arguments_value(&run->arguments, "--csv") != NULL ||
                  (len > 4 && strcmp(run->path + len - 4, ".csv") == 0);
    run->output = stdout;
    if (!run->path)
        return true;
    if (checkpoint_open(&run->checkpoint, run->path, ".tavola-export", run->table, 0,
            run->is_snapshot || arguments_value(&run->arguments, "--restart") != NULL))
        return go_on(run);
    if (run->is_snapshot)
        return open_part(run);
    run->output = fopen(run->path, "we");
    return run->output || report_file(run);
}

/* ---- entities ---- */

static bool write_csv(struct export_run *run, const struct tavola_entity *entity)
{
    struct csv_misfit misfit;

    if (csv_write_entity(&run->columns, entity, run->output, &misfit))
        return true;
    fprintf(stderr, "tavola export: %s of %s/%s %s; JSON lines hold any entity\n", misfit.name,
        tavola_entity_key(entity).partition, tavola_entity_key(entity).row, misfit.why);
    return false;
}

/* Write the header, and the entities that the columns were taken from. */
static bool write_sample(struct export_run *run)
{
    bool written = true;

    if (run->has_header || !run->is_csv)
        return true;
    run->has_header = true;
    run->columns.columns[0] = (struct csv_column){ "PartitionKey", NULL };
    run->columns.columns[1] = (struct csv_column){ "RowKey", NULL };
    run->columns.count = 2;
    for (size_t i = 0; i < run->sampled; i++)
        if (!csv_add_columns(&run->columns, run->sample[i], &run->arena))
            written = false;
    if (!written)
        fprintf(stderr, "tavola export: more than %d columns; JSON lines hold any\n", CSV_MAX_COLUMNS);
    if (written)
        csv_write_header(&run->columns, run->output);
    for (size_t i = 0; i < run->sampled; i++) {
        written = written && write_csv(run, run->sample[i]);
        tavola_entity_free(run->sample[i]);
    }
    return written;
}

static void put_equals(struct buf *filter, const char *name, const char *key)
{
    buf_append(filter, str_of(name));
    buf_append(filter, STR_LITERAL(" eq '"));
    for (; *key; key++)
        buf_append(filter, *key == '\'' ? STR_LITERAL("''") : str_of_bytes(key, 1));
    buf_append_byte(filter, '\'');
}

/* Read an entity of any size again, so by a scan. *json: NULL if it was deleted. */
static bool read_again(struct export_run *run, struct tavola_key key, char **json, struct tavola_error *error)
{
    const struct tavola_entity *entity;
    struct tavola_cursor *cursor;
    struct buf filter;

    buf_init(&filter, NULL);
    put_equals(&filter, "PartitionKey", key.partition);
    buf_append(&filter, STR_LITERAL(" and "));
    put_equals(&filter, "RowKey", key.row);
    buf_append_byte(&filter, '\0');
    cursor = tavola_scan(
        run->client, &(struct tavola_query){ .table = run->table, .filter = buf_str(&filter).data });
    *json = tavola_cursor_next(cursor, &entity, error) ? tavola_entity_to_json(entity) : NULL;
    tavola_cursor_free(cursor);
    buf_cleanup(&filter);
    return error->code == TAVOLA_OK;
}

/*
 * Save the contents that the entity holds. If it was changed since, it is read again. *json: NULL if it was deleted.
 * An entity that has not changed has a string from the time before its table had blob_properties, without a content.
 */
static bool save_blobs(struct export_run *run, const struct tavola_entity *entity, char **json)
{
    struct tavola_error error = { .code = TAVOLA_OK };
    bool is_unchanged = false;

    while (*json && !blob_folder_save(run->folder, run->client, *json, &error)) {
        struct tavola_error failure = error;
        char *again = NULL;

        if (!is_unchanged && strcmp(error.reason, "BLOB_CHANGED") == 0 &&
            read_again(run, tavola_entity_key(entity), &again, &error)) {
            is_unchanged = again && strcmp(again, *json) == 0;
            tavola_free(*json);
            *json = again;
            continue;
        }
        if (failure.code != TAVOLA_OK)
            (void)calls_failed(error.code != TAVOLA_OK ? &error : &failure);
        tavola_free(*json);
        *json = NULL;
        return false;
    }
    return true;
}

static bool write_json(struct export_run *run, const struct tavola_entity *entity)
{
    char *json = tavola_entity_to_json(entity);

    if (run->folder && !save_blobs(run, entity, &json))
        return false;
    if (json)
        fprintf(run->output, "%s\n", json);
    tavola_free(json);
    return true;
}

static bool write_entity(struct export_run *run, const struct tavola_entity *entity)
{
    if (run->is_csv && !run->has_header) {
        run->sample[run->sampled++] = tavola_entity_copy(entity);
        return run->sampled < SAMPLE || write_sample(run);
    }
    return run->is_csv ? write_csv(run, entity) : write_json(run, entity);
}

/* Note the token of a message, and the file's size: all entities before the token are in the file. */
static bool note_message(struct export_run *run, const char *token, int64_t done)
{
    if (!run->path || (run->is_csv && !run->has_header))
        return true;
    if (fflush(run->output) != 0)
        return report_file(run);
    snprintf(run->checkpoint.token, sizeof(run->checkpoint.token), "%s", token);
    run->checkpoint.offset = ftello(run->output);
    run->checkpoint.done = done;
    return checkpoint_save(&run->checkpoint, false);
}

static void tell_snapshot(struct export_run *run, const struct tavola_cursor *cursor)
{
    int64_t taken_us, until_us;
    char taken[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES];

    if (run->has_told_snapshot || !tavola_cursor_snapshot(cursor, &taken_us, &until_us))
        return;
    run->has_told_snapshot = true;
    progress_clear(&run->progress);
    fprintf(stderr,
        "tavola export: one snapshot, of %s. Until the export ends, at %s at the latest, vacuum cannot "
        "remove "
        "deleted rows from the database\n",
        time_text_format(ticks_from_unix_us(taken_us), taken),
        time_text_format(ticks_from_unix_us(until_us), until));
}

/* Write all entities of the scan. false: the file cannot be written. *error: how the scan ended. */
static bool copy_entities(
    struct export_run *run, struct tavola_cursor *cursor, int64_t *done, struct tavola_error *error)
{
    char token[CHECKPOINT_TEXT_BYTES];
    const struct tavola_entity *entity;

    snprintf(token, sizeof(token), "%s", run->checkpoint.token);
    while (!interrupt_came() && tavola_cursor_next(cursor, &entity, error)) {
        tell_snapshot(run, cursor);
        if (strcmp(token, tavola_cursor_token(cursor)) != 0) {
            if (*token && !note_message(run, token, *done))
                return false;
            snprintf(token, sizeof(token), "%s", tavola_cursor_token(cursor));
        }
        if (!write_entity(run, entity))
            return false;
        if (ferror(run->output))
            return report_file(run);
        (*done)++;
        progress_show(&run->progress, *done, *done, run->whole);
    }
    tell_snapshot(run, cursor);
    return true;
}

/* ---- the end ---- */

static int report_end(struct export_run *run, int64_t done, bool failed, const struct tavola_error *error)
{
    bool interrupted = interrupt_came();

    progress_clear(&run->progress);
    if (error->code != TAVOLA_OK)
        (void)calls_failed(error);
    fprintf(stderr, "tavola export: %lld exported, %.0f/s\n", (long long)done,
        progress_rate(&run->progress, done));
    if (failed || interrupted || error->code != TAVOLA_OK) {
        if (strcmp(error->reason, "PAGE_TOKEN_INVALID") == 0)
            fprintf(stderr, "tavola export: the interrupted run had another filter, or the table is another "
                            "one; --restart begins anew\n");
        else if (run->checkpoint.token[0] && checkpoint_save(&run->checkpoint, true))
            fprintf(stderr, "tavola export: the same command goes on\n");
        return interrupted ? INTERRUPT_EXIT : COMMAND_FAILED;
    }
    checkpoint_remove(&run->checkpoint);
    return COMMAND_OK;
}

static int export_entities(struct export_run *run)
{
    const struct tavola_query query = { .table = run->table,
        .filter = arguments_value(&run->arguments, "--filter"),
        .token = run->checkpoint.token,
        .snapshot = run->is_snapshot };
    struct tavola_error error = { .code = TAVOLA_OK };
    struct tavola_cursor *cursor;
    int64_t done = run->checkpoint.done;
    bool failed;

    progress_init(&run->progress, done);
    if (run->progress.is_shown && run->path &&
        tavola_count(run->client, run->table, query.filter, &run->whole, &error) != TAVOLA_OK)
        return report_end(run, done, true, &error);
    cursor = tavola_scan(run->client, &query);
    failed = !copy_entities(run, cursor, &done, &error);
    tavola_cursor_free(cursor);
    failed = failed || !write_sample(run);
    if (!failed && fflush(run->output) != 0)
        failed = !report_file(run);
    return report_end(run, done, failed, &error);
}

static int run_export(const struct client_config *config, int argc, char **argv)
{
    static struct export_run run;
    int code = COMMAND_FAILED;

    run = (struct export_run){ .arguments.command = "export" };
    if (!arguments_read(EXPORT_ARGUMENTS, argc, argv, &run.arguments))
        return COMMAND_MISUSED;
    if (run.arguments.count != 1)
        return command_misused("export", EXPORT_ARGUMENTS);
    run.table = run.arguments.words[0];
    run.path = arguments_value(&run.arguments, "--output");
    run.is_snapshot = arguments_value(&run.arguments, "--snapshot") != NULL;
    run.folder = arguments_value(&run.arguments, "--blobs");
    if (run.folder && arguments_value(&run.arguments, "--csv")) {
        fprintf(stderr, "tavola export: --blobs goes with JSON lines\n");
        return COMMAND_MISUSED;
    }
    arena_init(&run.arena);
    interrupt_catch();
    if (open_output(&run) && (run.client = calls_open(config)) != NULL)
        code = calls_close(run.client, export_entities(&run));
    code = close_output(&run, code);
    arena_cleanup(&run.arena);
    return code;
}

static void print_content(FILE *out)
{
    fputs("\n"
          "The file has of each entity its keys, its properties with their types, and when it expires "
          "(tavola.expires).\n"
          "ETag and Timestamp, which JSON lines have too, are given anew by an import. The table's settings, "
          "its indexes,\n"
          "copy rules and change feed are not in the file.\n"
          "\n"
          "The columns of CSV are the properties of the first 1,000 entities. An export to CSV ends with an "
          "error where an\n"
          "entity has a property that has no column of its type, an expiry without a column, or a text with "
          "a character\n"
          "U+0000; JSON lines hold any entity.\n",
        out);
}

static const struct command commands[] = {
    {
        .words = "export",
        .arguments = EXPORT_ARGUMENTS,
        .help =
            "write the entities of a table to a file, or to standard output, as JSON lines or CSV that "
            "`tavola "
            "import` reads. By default other writes may be seen in part. With --snapshot the entities are "
            "those of one moment: the server holds that snapshot for a few minutes at most, one for an "
            "account at once; vacuum cannot remove deleted rows meanwhile, and the export cannot be resumed. "
            "With --blobs the contents "
            "that entities hold are files of FOLDER",
        .examples = "tavola export people --output people.jsonl\n"
                    "tavola export people --csv --filter 'Age ge 36' | head\n"
                    "tavola export people --snapshot --output people.jsonl\n",
        .print_more = print_content,
        .run = run_export,
    },
};

const struct command_group commands_export = { "Many entities out", commands, ARRAY_LEN(commands) };
