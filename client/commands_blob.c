/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands_blob.c - files into blobs, and blobs into files.
 *
 * A get writes to another file, which gets its name when the content is complete and has its SHA-256. A put with
 * --upload asks how far an earlier run has come, and continues there.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/arguments.h"
#include "client/calls.h"
#include "client/command.h"
#include "client/rows.h"

#define PUT_ARGUMENTS "NAME FILE [--type TYPE] [--upload ID] [--if-match ETAG] [--if-absent]"
#define GET_ARGUMENTS "NAME [FILE] [--offset N] [--length N] [--if-match ETAG]"
#define DELETE_ARGUMENTS "NAME [--if-match ETAG]"
#define LIST_ARGUMENTS "[PREFIX] " ROWS_FORM

enum { PART_BYTES = 4096 };

static int report_file(const char *command, const char *path)
{
    fprintf(stderr, "tavola %s: %s: %s\n", command, path, strerror(errno));
    return COMMAND_FAILED;
}

/* ---- put ---- */

static int64_t read_file(void *context, void *buffer, size_t room)
{
    FILE *input = context;
    size_t count = fread(buffer, 1, room, input);

    return count == 0 && ferror(input) ? -1 : (int64_t)count;
}

/* Position the file behind what an earlier run of the upload has stored. *offset: that position. */
static bool find_offset(struct tavola *client, const char *upload, FILE *input, int64_t *offset)
{
    struct tavola_error error;
    struct tavola_reply *reply;
    struct tavola_record record;
    struct request request;

    request_begin(&request);
    request_text(&request, "uploadId", upload);
    (void)tavola_ask(
        client, &(struct tavola_question){ "GetUpload", request_json(&request), 0 }, &reply, &error);
    request_end(&request);
    if (error.code == TAVOLA_NOT_FOUND)
        return true;
    if (error.code != TAVOLA_OK) {
        (void)calls_failed(&error);
        return false;
    }
    record = tavola_reply_record(reply);
    *offset = tavola_record_integer(&record, "complete") ? 0 : tavola_record_integer(&record, "stored");
    tavola_reply_free(reply);
    if (fseeko(input, *offset, SEEK_SET) == 0)
        return true;
    (void)report_file("blob put", "the file");
    return false;
}

static int put_file(struct tavola *client, const struct arguments *arguments, FILE *input)
{
    struct tavola_blob_put put = { .name = arguments->words[0],
        .content_type = arguments_value(arguments, "--type"),
        .if_match = arguments_value(arguments, "--if-match"),
        .if_absent = arguments_value(arguments, "--if-absent") != NULL,
        .upload_id = arguments_value(arguments, "--upload"),
        .read = read_file,
        .context = input };
    struct tavola_error error;
    struct tavola_blob blob;

    if (put.upload_id && !find_offset(client, put.upload_id, input, &put.offset))
        return COMMAND_FAILED;
    if (put.offset > 0)
        fprintf(stderr, "tavola blob put: going on behind %lld bytes\n", (long long)put.offset);
    if (tavola_put_blob(client, &put, &blob, &error) != TAVOLA_OK)
        return calls_failed(&error);
    printf("%s  %lld  %s\n", blob.sha256, (long long)blob.size, blob.etag);
    return COMMAND_OK;
}

static int run_put(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "blob put" };
    struct tavola *client;
    bool is_stdin;
    FILE *input;
    int code;

    if (!arguments_read(PUT_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 2)
        return command_misused("blob put", PUT_ARGUMENTS);
    is_stdin = strcmp(arguments.words[1], "-") == 0;
    if (is_stdin && arguments_value(&arguments, "--upload")) {
        fprintf(
            stderr, "tavola blob put: --upload needs a file, since standard input cannot be read again\n");
        return COMMAND_MISUSED;
    }
    input = is_stdin ? stdin : fopen(arguments.words[1], "re");
    if (!input)
        return report_file("blob put", arguments.words[1]);
    client = calls_open(config);
    code = client ? put_file(client, &arguments, input) : COMMAND_FAILED;
    if (!is_stdin)
        (void)fclose(input);
    return calls_close(client, code);
}

/* ---- get ---- */

static bool write_file(void *context, const void *bytes, size_t count)
{
    return fwrite(bytes, 1, count, context) == count;
}

static int get_range(struct tavola *client, const struct arguments *arguments, FILE *output)
{
    struct tavola_blob_get get = { .name = arguments->words[0],
        .if_match = arguments_value(arguments, "--if-match"),
        .write = write_file,
        .context = output };
    struct tavola_error error;

    if (!arguments_number(arguments, "--offset", INT64_MAX, &get.offset) ||
        !arguments_number(arguments, "--length", INT64_MAX, &get.length))
        return COMMAND_MISUSED;
    return tavola_get_blob(client, &get, NULL, &error) == TAVOLA_OK ? COMMAND_OK : calls_failed(&error);
}

/* Get the blob into a file that gets its name if the content is complete, and is removed otherwise. */
static int get_file(struct tavola *client, const struct arguments *arguments, const char *path)
{
    char part[PART_BYTES];
    FILE *output;
    int code;

    if (snprintf(part, sizeof(part), "%s.tavola-part", path) >= (int)sizeof(part)) {
        errno = ENAMETOOLONG;
        return report_file("blob get", path);
    }
    output = fopen(part, "we");
    if (!output)
        return report_file("blob get", part);
    code = get_range(client, arguments, output);
    if (fclose(output) != 0 && code == COMMAND_OK)
        code = report_file("blob get", part);
    if (code == COMMAND_OK && rename(part, path) != 0)
        code = report_file("blob get", path);
    if (code != COMMAND_OK)
        (void)unlink(part);
    return code;
}

static int run_get(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "blob get" };
    struct tavola *client;
    int code;

    if (!arguments_read(GET_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count < 1 || arguments.count > 2)
        return command_misused("blob get", GET_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    code = arguments.count == 2 ? get_file(client, &arguments, arguments.words[1])
                                : get_range(client, &arguments, stdout);
    return calls_close(client, code);
}

/* ---- stat, delete, list ---- */

static int run_stat(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "blob stat" };
    struct tavola *client;
    struct tavola_reply *reply;
    struct tavola_record record;
    struct request request;
    char *json;

    if (!command_arguments("NAME", 1, argc, argv, &arguments))
        return COMMAND_MISUSED;
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    request_begin(&request);
    request_text(&request, "name", arguments.words[0]);
    reply = calls_ask(client, "StatBlob", &request);
    if (!reply)
        return calls_close(client, COMMAND_FAILED);
    record = tavola_reply_record(reply);
    record = tavola_record_part(&record, "blob");
    json = tavola_record_json(&record);
    printf("%s\n", json);
    tavola_free(json);
    tavola_reply_free(reply);
    return calls_close(client, COMMAND_OK);
}

static int run_delete(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "blob delete" };
    struct tavola *client;
    struct tavola_reply *reply;
    struct request request;
    const char *if_match;

    if (!arguments_read(DELETE_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count != 1)
        return command_misused("blob delete", DELETE_ARGUMENTS);
    client = calls_open(config);
    if (!client)
        return COMMAND_FAILED;
    request_begin(&request);
    request_text(&request, "name", arguments.words[0]);
    if_match = arguments_value(&arguments, "--if-match");
    if (if_match)
        request_text(&request, "ifMatch", if_match);
    reply = calls_ask(client, "DeleteBlob", &request);
    if (!reply)
        return calls_close(client, COMMAND_FAILED);
    tavola_reply_free(reply);
    return calls_close(client, COMMAND_OK);
}

static const struct rows_column columns[] = {
    { "blob", "name", CELL_TEXT, false, NULL, NULL },
    { "bytes", "size", CELL_NUMBER, false, NULL, NULL },
    { "type", "content_type", CELL_DASH, false, NULL, NULL },
    { "created", "created", CELL_TIME, false, NULL, NULL },
    { NULL, NULL, CELL_TEXT, false, NULL, NULL },
};

static int run_list(const struct client_config *config, int argc, char **argv)
{
    struct arguments arguments = { .command = "blob list" };
    struct request request;
    struct rows rows;

    if (!arguments_read(LIST_ARGUMENTS, argc, argv, &arguments))
        return COMMAND_MISUSED;
    if (arguments.count > 1)
        return command_misused("blob list", LIST_ARGUMENTS);
    if (!rows_open(&rows, &arguments, columns))
        return COMMAND_MISUSED;
    request_begin(&request);
    request_text(&request, "prefix", arguments.count == 1 ? arguments.words[0] : "");
    return calls_print_list(config, "ListBlobs", "blobs", &rows, &request);
}

static const struct command commands[] = {
    { .words = "blob put",
        .arguments = PUT_ARGUMENTS,
        .help = "store a file, or - for standard input; prints the SHA-256, the size and the ETag. With "
                "--upload a run that was broken off goes on",
        .examples = "tavola blob put photos/ada.jpg ada.jpg --type image/jpeg\n"
                    "tavola blob put backups/monday.tar monday.tar --upload monday\n",
        .run = run_put },
    { .words = "blob get",
        .arguments = GET_ARGUMENTS,
        .help = "the content of a blob, or a range of it, on standard output or in a file, which is complete "
                "or not there",
        .examples = "tavola blob get photos/ada.jpg ada.jpg\n"
                    "tavola blob get logs/today --offset 1000 --length 100\n",
        .run = run_get },
    { .words = "blob stat",
        .arguments = "NAME",
        .help = "size, type, SHA-256 and ETag of a blob",
        .run = run_stat },
    { .words = "blob delete", .arguments = DELETE_ARGUMENTS, .help = "delete a blob", .run = run_delete },
    { .words = "blob list",
        .arguments = LIST_ARGUMENTS,
        .help = "the blobs whose names begin with PREFIX",
        .run = run_list },
};

const struct command_group commands_blob = { "Blobs", commands, ARRAY_LEN(commands) };
