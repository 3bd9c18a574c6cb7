/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_line.h - a write as a line of JSON, for `tavola batch` and `tavola tx submit`:
 *
 *     {"insert": {"PartitionKey": "sales", "RowKey": "1", "Age": 36}}
 *     {"delete": {"PartitionKey": "sales", "RowKey": "2"}, "ifMatch": "\"...\""}
 *     {"move": {"PartitionKey": "a", "RowKey": "1"}, "table": "open",
 *      "to": {"PartitionKey": "b", "RowKey": "1"}, "toTable": "done"}
 *
 * The actions are insert, replace, merge, insertOrReplace (also: put), insertOrMerge, delete and move;
 * entities are those of tavola_entity_from_json.
 */
#ifndef CLIENT_OPERATION_LINE_H
#define CLIENT_OPERATION_LINE_H

#include "base/arena.h"
#include "base/error.h"
#include "client/lib/tavola.h"

struct operation_line {
    enum tavola_action action;
    bool is_move;
    /*
     * Of a step outside the tables, which has no action: {"writeFile": PATH, "content": TEXT} or, with an entity,
     * {"writeFile": PATH, "from": KEY, "table": TABLE, "deleteEntity": true}; likewise appendFile, httpCall with a URL
     * and perhaps a method, and putBlob, whose blob_* are about the blob; and {"deleteBlob": NAME}. NULL: it is another
     * line.
     */
    const char *write_file, *append_file, *put_blob, *delete_blob, *http_call;
    const char *content; /* NULL: the entity is the content */
    const char *content_type, *blob_if_match, *method;
    bool deletes_entity, blob_if_absent;
    struct tavola_entity *entity;
    struct tavola_entity *to;                /* of a move: its key; else NULL */
    const char *table, *to_table, *if_match; /* in the arena; NULL: not given */
};

/*
 * Read a line. operation_line_cleanup ends it, also after a failure.
 *
 * STATUS_INVALID  no JSON object, no action or two, a member that is not known; what tavola_entity_from_json
 * refuses
 */
MUST_USE enum status operation_line_read(
    struct str line, struct arena *arena, struct operation_line *out, struct error *err);
/* Whether it is a step outside the tables. */
bool operation_line_is_outside(const struct operation_line *line);
void operation_line_cleanup(struct operation_line *line);

/* What operation_line_read_file does with each line: number counts from 1. A failure ends the reading. */
typedef enum status operation_line_fn(
    void *context, const struct operation_line *line, int number, struct error *err);

/*
 * Read the lines of a file, or of standard input where path is NULL or "-". Empty lines are passed over.
 * STATUS_INVALID: err has the line.
 */
MUST_USE enum status operation_line_read_file(
    const char *path, operation_line_fn *run, void *context, struct error *err);

#endif
