/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_import.c - entities from a file of JSON lines or CSV, or from a table of a storage account.
 *
 * A line is under way until the service has committed or refused its entity; then it is settled. The
 * checkpoint stands behind the last line before which all lines are settled. If a run dies, the next one
 * sends the lines behind the checkpoint again, which is harmless, since an import replaces entities. Rejected
 * lines are written to their file in the order of the input, so the checkpoint has that file's size too.
 *
 * An entity of a storage account counts as a line. The source can be read again from the beginning of a page only, so
 * its checkpoint stands where a page begins before which all entities are settled.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/arguments.h"
#include "client/blob_folder.h"
#include "client/calls.h"
#include "client/checkpoint.h"
#include "client/command.h"
#include "client/csv.h"
#include "client/interrupt.h"
#include "client/progress.h"
#include "client/storage_source.h"

#define IMPORT_ARGUMENTS                                                                                     \
    "TABLE [FILE] [--from CONNECTION] [--source-table NAME] [--csv] [--rejected FILE] [--restart] "          \
    "[--blobs FOLDER]"

enum { MAX_UNDER_WAY = 16384, MAX_REPORTS = 10, NO_ENTITY = -1 };

/* A line that was read and is not settled. */
struct line {
    char *text; /* on the heap, without its line end */
    int64_t number, end_offset;
    int64_t entity; /* its position in the import; NO_ENTITY: the line is not an entity */
    bool is_rejected;
    char *position; /* behind the last line of a page: where the next one begins; on the heap; NULL: none */
    char why[600];
};

struct import_run {
    struct arguments arguments;
    const char *table, *path;      /* path: of a storage account the name of its table */
    struct storage_source *source; /* NULL: lines come from a file */
    struct checkpoint at_page;     /* of a storage account: as the checkpoint was where a page began */
    FILE *input, *rejected;
    bool is_csv, is_stream; /* is_stream: standard input, which cannot be read again from a position */
    struct csv_columns columns;
    char *header; /* header line of a CSV file */
    struct arena arena;
    struct tavola *client;
    struct tavola_import *import;
    struct checkpoint checkpoint;
    struct progress progress;

    struct line *lines;   /* a ring of the lines under way */
    int64_t first, end;   /* of the lines under way: counted since the start of the input */
    int64_t entities;     /* the number of entities given to the import */
    int64_t line, offset; /* position of the reader */
    int64_t reports;
    const char *folder; /* with the blobs that entities hold; NULL: references stay as they are */
    bool has_failed;
    bool is_begun; /* at least one line is settled, so a next run can continue */
};

/* ---- reading ---- */

static char *read_entity(struct import_run *run)
{
    char *text = storage_source_next(run->source);

    run->line += text != NULL;
    return text;
}

/* Read the next record without its line end; on the heap. NULL: the end of the input. */
static char *read_record(struct import_run *run)
{
    struct buf record;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;

    if (run->source)
        return read_entity(run);
    buf_init(&record, NULL);
    while ((len = getline(&line, &capacity, run->input)) > 0) {
        run->line++;
        run->offset += len;
        buf_append(&record, str_of_bytes(line, (size_t)len));
        if (!run->is_csv || csv_is_complete(buf_str(&record)))
            break;
    }
    free(line);
    while (record.len > 0 && (record.data[record.len - 1] == '\n' || record.data[record.len - 1] == '\r'))
        record.len--;
    if (len <= 0 && record.len == 0) {
        buf_cleanup(&record);
        return NULL;
    }
    buf_append_byte(&record, '\0');
    return record.data;
}

static bool report_file(const char *path)
{
    fprintf(stderr, "tavola import: %s: %s\n", path, strerror(errno));
    return false;
}

static bool read_header(struct import_run *run)
{
    const char *mistake = "the file is empty";

    run->header = read_record(run);
    if (run->header)
        mistake = csv_read_header(str_of(run->header), &run->arena, &run->columns);
    if (mistake)
        fprintf(stderr, "tavola import: %s: line 1: %s\n", run->path, mistake);
    return !mistake;
}

/* Begin at the checkpoint of an earlier run, or with the first page. */
static bool open_source(struct import_run *run, const char *connection)
{
    if (checkpoint_open(&run->checkpoint, run->table, ".tavola-import", run->table, 0,
            arguments_value(&run->arguments, "--restart") != NULL))
        fprintf(stderr, "tavola import: going on behind %lld entities; --restart begins anew\n",
            (long long)run->checkpoint.line);
    run->line = run->checkpoint.line;
    run->at_page = run->checkpoint;
    run->source = storage_source_open(connection, run->path, run->checkpoint.token);
    return run->source != NULL;
}

static bool open_file(struct import_run *run)
{
    size_t len = strlen(run->path);
    struct stat about;

    run->is_stream = strcmp(run->path, "-") == 0;
    run->is_csv = arguments_value(&run->arguments, "--csv") != NULL ||
                  (len > 4 && strcmp(run->path + len - 4, ".csv") == 0);
    run->input = run->is_stream ? stdin : fopen(run->path, "re");
    if (!run->input || (!run->is_stream && fstat(fileno(run->input), &about) != 0))
        return report_file(run->path);
    if (run->is_csv && !read_header(run))
        return false;
    if (run->is_stream || !S_ISREG(about.st_mode))
        return true;
    if (checkpoint_open(&run->checkpoint, run->path, ".tavola-import", run->table, about.st_size,
            arguments_value(&run->arguments, "--restart") != NULL)) {
        fprintf(stderr, "tavola import: going on behind line %lld; --restart begins anew\n",
            (long long)run->checkpoint.line);
        run->offset = run->checkpoint.offset;
        run->line = run->checkpoint.line;
        return fseeko(run->input, run->offset, SEEK_SET) == 0 || report_file(run->path);
    }
    run->checkpoint.offset = run->offset;
    run->checkpoint.line = run->line;
    return true;
}

static bool open_input(struct import_run *run)
{
    const char *connection = arguments_value(&run->arguments, "--from");

    return connection ? open_source(run, connection) : open_file(run);
}

/* ---- rejected lines ---- */

/*
 * Open the file of rejected lines, when the first line is rejected. If the run continues an earlier one, cut
 * off the lines behind the checkpoint.
 */
static bool open_rejected(struct import_run *run)
{
    const char *given = arguments_value(&run->arguments, "--rejected");
    char path[CHECKPOINT_PATH_BYTES];

    if (run->rejected || (!given && run->is_stream))
        return true;
    snprintf(path, sizeof(path), "%s%s",
        given         ? given
        : run->source ? run->table
                      : run->path,
        given ? "" : ".rejected");
    run->rejected = fopen(path, run->checkpoint.rejected_bytes > 0 ? "r+e" : "we");
    if (!run->rejected || ftruncate(fileno(run->rejected), run->checkpoint.rejected_bytes) != 0 ||
        fseeko(run->rejected, 0, SEEK_END) != 0)
        return report_file(path);
    if (run->is_csv && run->checkpoint.rejected_bytes == 0)
        fprintf(run->rejected, "%s\n", run->header);
    return true;
}

static bool write_rejected(struct import_run *run, const struct line *line)
{
    if (run->reports++ < MAX_REPORTS)
        fprintf(stderr, "%stavola import: line %lld: %s\n", run->progress.shown_us > 0 ? "\r" : "",
            (long long)line->number, line->why);
    run->checkpoint.rejected++;
    if (!open_rejected(run))
        return false;
    if (!run->rejected)
        return true;
    fprintf(run->rejected, "%s\n", line->text);
    if (fflush(run->rejected) != 0)
        return report_file("the file of rejected lines");
    run->checkpoint.rejected_bytes = ftello(run->rejected);
    return true;
}

static void reject_line(struct line *line, const struct tavola_error *why)
{
    line->is_rejected = true;
    snprintf(line->why, sizeof(line->why), "%s%s%s", why->reason, why->reason[0] ? ": " : "", why->message);
}

/*
 * Note that the service has rejected the entity with this position. The lines under way are few, so the
 * search is a loop.
 */
static void note_rejection(
    void *context, int64_t position, struct tavola_key key, const struct tavola_error *why)
{
    struct import_run *run = context;

    (void)key;
    for (int64_t i = run->first; i < run->end; i++)
        if (run->lines[i % MAX_UNDER_WAY].entity == position)
            reject_line(&run->lines[i % MAX_UNDER_WAY], why);
}

/* ---- lines under way ---- */

/* Note where the next page of a storage account begins, if all entities before it are settled now. */
static void note_page(struct import_run *run, const struct line *line)
{
    if (!line->position)
        return;
    snprintf(run->checkpoint.token, sizeof(run->checkpoint.token), "%s", line->position);
    run->at_page = run->checkpoint;
}

static bool save_checkpoint(struct import_run *run, bool now)
{
    return checkpoint_save(run->source ? &run->at_page : &run->checkpoint, now);
}

static void free_line(struct line *line)
{
    free(line->text);
    free(line->position);
}

/* Move the checkpoint behind the settled lines. false: a file cannot be written. */
static bool settle_lines(struct import_run *run)
{
    int64_t settled = tavola_import_settled(run->import);
    bool written = true;

    while (written && run->first < run->end) {
        struct line *line = &run->lines[run->first % MAX_UNDER_WAY];

        if (line->entity != NO_ENTITY && line->entity >= settled)
            break;
        if (line->is_rejected)
            written = write_rejected(run, line);
        else
            run->checkpoint.done++;
        run->checkpoint.offset = line->end_offset;
        run->checkpoint.line = line->number;
        note_page(run, line);
        free_line(line);
        run->first++;
    }
    return written && save_checkpoint(run, false);
}

static enum tavola_code parse_line(
    struct import_run *run, const char *text, struct tavola_entity **out, struct tavola_error *error)
{
    if (run->is_csv)
        return csv_read_entity(&run->columns, str_of(text), out, error);
    return tavola_entity_from_json(text, strlen(text), out, error);
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;

    return memcpy(xcalloc(1, size), text, size);
}

/* Send one line. false: the import cannot continue. */
static bool send_line(struct import_run *run, char *text)
{
    struct line *line = &run->lines[run->end++ % MAX_UNDER_WAY];
    struct tavola_entity *entity = NULL;
    struct tavola_error error;

    *line = (struct line){
        .text = text, .number = run->line, .end_offset = run->offset, .entity = run->entities
    };
    if (run->source && storage_source_position(run->source))
        line->position = copy_text(storage_source_position(run->source));
    error = (struct tavola_error){ .code = TAVOLA_OK };
    if (run->folder && !blob_folder_put(run->folder, run->client, text, &error)) {
        if (error.code != TAVOLA_OK)
            (void)calls_failed(&error);
        return false;
    }
    if (parse_line(run, text, &entity, &error) != TAVOLA_OK ||
        tavola_import_add(run->import, entity, &error) != TAVOLA_OK) {
        line->entity = NO_ENTITY;
        if (!tavola_import_has_ended(run->import))
            reject_line(line, &error);
    } else {
        run->entities++;
    }
    tavola_entity_free(entity);
    return !tavola_import_has_ended(run->import);
}

static bool send_lines(struct import_run *run)
{
    char *text;

    while (!interrupt_came() && (text = read_record(run)) != NULL) {
        if (*text == '\0') {
            free(text);
            continue;
        }
        if (!send_line(run, text) || !settle_lines(run))
            return false;
        if (run->end - run->first == MAX_UNDER_WAY) { /* reached only if most lines are not entities */
            fprintf(stderr, "tavola import: more than %d lines in a row are not entities\n", MAX_UNDER_WAY);
            return false;
        }
        progress_show(&run->progress, run->checkpoint.done, run->checkpoint.offset, run->checkpoint.size);
    }
    if (run->source)
        return !storage_source_has_failed(run->source);
    return !ferror(run->input) || report_file(run->path);
}

/* ---- the end ---- */

static int report_end(struct import_run *run, const struct tavola_error *error)
{
    const struct checkpoint *checkpoint = &run->checkpoint;
    bool failed = error->code != TAVOLA_OK || run->has_failed;

    progress_clear(&run->progress);
    if (error->code != TAVOLA_OK)
        (void)calls_failed(error);
    if (run->reports > MAX_REPORTS)
        fprintf(stderr, "tavola import: %lld more rejected lines\n", (long long)(run->reports - MAX_REPORTS));
    fprintf(stderr, "tavola import: %lld imported, %lld rejected, %.0f/s\n", (long long)checkpoint->done,
        (long long)checkpoint->rejected, progress_rate(&run->progress, checkpoint->done));
    if ((failed || interrupt_came()) && checkpoint->path[0] && run->is_begun)
        fprintf(stderr, "tavola import: the same command goes on behind %s %lld\n",
            run->source ? "entity" : "line", (long long)(run->source ? run->at_page.line : checkpoint->line));
    if (interrupt_came())
        return INTERRUPT_EXIT;
    if (failed)
        return COMMAND_FAILED;
    return checkpoint->rejected > 0 ? COMMAND_PARTLY : COMMAND_OK;
}

static int import_lines(struct import_run *run)
{
    struct tavola_error error = { .code = TAVOLA_OK };
    bool complete;

    run->import = tavola_import(run->client,
        &(struct tavola_import_options){ .table = run->table, .rejected = note_rejection, .context = run });
    progress_init(&run->progress, run->checkpoint.done);
    complete = send_lines(run);
    (void)tavola_import_finish(run->import, &error);
    run->has_failed = !settle_lines(run) || !complete;
    run->is_begun = run->checkpoint.done + run->checkpoint.rejected > 0;
    if (run->is_begun && (run->has_failed || error.code != TAVOLA_OK || interrupt_came()))
        (void)save_checkpoint(run, true);
    else
        checkpoint_remove(&run->checkpoint);
    tavola_import_free(run->import);
    return report_end(run, &error);
}

/* A table that comes from elsewhere is made, unless it is there. */
static bool make_table(struct import_run *run)
{
    struct tavola_error error;

    if (!run->source || tavola_create_table(run->client, run->table, &error) == TAVOLA_OK ||
        error.code == TAVOLA_ALREADY_EXISTS)
        return true;
    (void)calls_failed(&error);
    return false;
}

/* Read the words and options. false: they do not fit together. */
static bool read_words(struct import_run *run)
{
    const char *source_table = arguments_value(&run->arguments, "--source-table");
    bool has_source = arguments_value(&run->arguments, "--from") != NULL;

    if (run->arguments.count != (has_source ? 1 : 2) || (source_table && !has_source) ||
        (has_source && arguments_value(&run->arguments, "--csv")))
        return false;
    run->table = run->arguments.words[0];
    run->path = !has_source ? run->arguments.words[1] : source_table ? source_table : run->table;
    return true;
}

/* false: the option does not go with the others. */
static bool read_folder(struct import_run *run)
{
    run->folder = arguments_value(&run->arguments, "--blobs");
    if (!run->folder ||
        (!arguments_value(&run->arguments, "--from") && !arguments_value(&run->arguments, "--csv")))
        return true;
    fprintf(stderr, "tavola import: --blobs goes with JSON lines\n");
    return false;
}

static int run_import(const struct client_config *config, int argc, char **argv)
{
    static struct import_run run;
    int code = COMMAND_FAILED;

    run = (struct import_run){ .arguments.command = "import" };
    if (!arguments_read(IMPORT_ARGUMENTS, argc, argv, &run.arguments))
        return COMMAND_MISUSED;
    if (!read_words(&run))
        return command_misused("import", IMPORT_ARGUMENTS);
    if (!read_folder(&run))
        return COMMAND_MISUSED;
    arena_init(&run.arena);
    interrupt_catch();
    run.lines = xcalloc(MAX_UNDER_WAY, sizeof(*run.lines));
    if (open_input(&run) && (run.client = calls_open(config)) != NULL)
        code = calls_close(run.client, make_table(&run) ? import_lines(&run) : COMMAND_FAILED);
    for (; run.first < run.end; run.first++)
        free_line(&run.lines[run.first % MAX_UNDER_WAY]);
    storage_source_close(run.source);
    free(run.lines);
    free(run.header);
    if (run.input && !run.is_stream)
        fclose(run.input);
    if (run.rejected && fclose(run.rejected) != 0)
        code = COMMAND_FAILED;
    arena_cleanup(&run.arena);
    return code;
}

static void print_forms(FILE *out)
{
    fputs(
        "\n"
        "A file of JSON lines has an entity on each line, as `tavola entity get` prints it. A CSV file has "
        "the names of its\n"
        "columns in its first line, with types: PartitionKey,RowKey,Name,Age:int32. An entity that is there "
        "is replaced.\n"
        "\n"
        "The time at which an entity expires is the member \"tavola.expires\" of JSON, or the column "
        "tavola.expires:datetime\n"
        "of CSV; without it an entity does not expire. ETag and Timestamp of the file are ignored: the "
        "service gives new ones.\n"
        "\n"
        "Lines that are no entities, or that the service refuses, go to FILE.rejected, and the exit code is "
        "3. A run that was\n"
        "interrupted goes on where it was: how far it had come is in FILE.tavola-import.\n"
        "\n"
        "With --from the entities of a table of a storage account are copied: of Azure Tables, of its "
        "emulator\n"
        "(UseDevelopmentStorage=true), or of another Tavola, from which the times at which entities expire "
        "come along.\n"
        "CONNECTION is its connection string, or @FILE for the file that has it, since other users of a "
        "machine see\n"
        "arguments. The table is made if it is not there. How far the copy had come is in "
        "TABLE.tavola-import, and refused\n"
        "entities are in TABLE.rejected, in the working folder.\n"
        "\n"
        "With --blobs the contents that the entities held are put from the files that `tavola export "
        "--blobs` has written\n"
        "to FOLDER; the table has blob_properties.\n",
        out);
}

static const struct command commands[] = {
    {
        .words = "import",
        .arguments = IMPORT_ARGUMENTS,
        .help = "write the entities of a file of JSON lines or CSV (- is standard input), going on where an "
                "earlier "
                "run was interrupted",
        .examples = "tavola import people people.jsonl\n"
                    "tavola import people people.csv --rejected wrong.csv\n"
                    "zcat people.jsonl.gz | tavola import people -\n"
                    "tavola import people --from @connection.txt --source-table people2019\n",
        .print_more = print_forms,
        .run = run_import,
    },
};

const struct command_group commands_import = { "Many entities in", commands, ARRAY_LEN(commands) };
