/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch_request.c - see the header. The body consists of parts; one part may itself consist of parts, which
 * contain no further parts.
 */
#include "odata/batch/batch_request.h"

#include "api/codec_write.h"
#include "domain/limits.h"
#include "domain/reason.h"
#include "odata/batch/multipart.h"

#define HTTP_TYPE "application/http"

enum { CONTENT_ID_BYTES = 64 };

static enum status refuse_body(struct error *err, const char *why)
{
    return reason_set(err, REASON_INVALID_INPUT, "the batch: %s", why);
}

static bool holds_http(struct str part)
{
    struct str type = multipart_header(part, "Content-Type");

    type = str_take(&type, ';');
    while (type.len > 0 && type.data[type.len - 1] == ' ')
        type.len--;
    return str_equal_any_case(type, STR_LITERAL(HTTP_TYPE));
}

static bool content_id_is_valid(struct str id)
{
    if (id.len > CONTENT_ID_BYTES)
        return false;
    for (size_t i = 0; i < id.len; i++)
        if (id.data[i] <= ' ' || id.data[i] > '~')
            return false;
    return true;
}

static struct str without_line_ends(struct str text)
{
    while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
        text.len--;
    return text;
}

/* Read "PUT http://host/acme/people(..) HTTP/1.1"; the version may be missing. */
static enum status read_request_line(struct str line, struct batch_operation *out, struct error *err)
{
    out->method = str_take(&line, ' ');
    out->url = str_take(&line, ' ');
    if (out->method.len == 0 || out->url.len == 0 || str_starts_with(out->url, STR_LITERAL("HTTP/")))
        return refuse_body(err, "a part of application/http begins with METHOD URL HTTP/1.1");
    if (line.len > 0 && !str_starts_with(line, STR_LITERAL("HTTP/1.")))
        return refuse_body(err, "the URL of an operation holds a space, or its version is not HTTP/1.1");
    return STATUS_OK;
}

static enum status read_operation(struct str part, struct batch_operation *out, struct error *err)
{
    struct str rest = multipart_body(part), line = STR_EMPTY;

    if (!holds_http(part))
        return refuse_body(err, "an operation is a part with Content-Type: application/http");
    while (line.len == 0)
        if (!multipart_take_line(&rest, &line))
            return refuse_body(err, "a part of application/http is empty");
    *out = (struct batch_operation){ .head = rest, .body = without_line_ends(multipart_body(rest)) };
    out->content_id = multipart_header(part, "Content-ID");
    if (out->content_id.len == 0)
        out->content_id = multipart_header(rest, "Content-ID");
    if (!content_id_is_valid(out->content_id))
        return refuse_body(err, "a Content-ID has at most 64 visible characters of ASCII");
    return read_request_line(line, out, err);
}

static bool is_read(const struct batch_operation *operation)
{
    return str_equal(operation->method, STR_LITERAL("GET"));
}

static enum status refuse_number(struct error *err)
{
    reason_set(err, REASON_INVALID_INPUT,
        "The batch request operation exceeds the maximum %d changes per change set.", LIMIT_BATCH_OPERATIONS);
    return codec_write_error_at(err, LIMIT_BATCH_OPERATIONS - 1);
}

static enum status refuse_cut_off(struct error *err, const char *what)
{
    return reason_set(
        err, REASON_INVALID_INPUT, "the batch is cut off: the last boundary of the %s is missing", what);
}

static enum status read_change_set(
    struct str part, struct str boundary, struct arena *arena, struct batch_request *out, struct error *err)
{
    struct multipart_reader reader = multipart_read(multipart_body(part), boundary);
    struct str inner;

    out->is_change_set = true;
    out->operations = ARENA_ARRAY(arena, struct batch_operation, LIMIT_BATCH_OPERATIONS);
    while (multipart_next(&reader, &inner)) {
        if (out->count == LIMIT_BATCH_OPERATIONS)
            return refuse_number(err);
        TRY(read_operation(inner, &out->operations[out->count], err));
        if (is_read(&out->operations[out->count]))
            return refuse_body(err, "a GET is not allowed in a change set");
        out->count++;
    }
    if (reader.has_begun && !reader.has_ended)
        return refuse_cut_off(err, "change set");
    if (out->count == 0)
        return refuse_body(err, "the change set is empty");
    return STATUS_OK;
}

static enum status read_single(
    struct str part, struct arena *arena, struct batch_request *out, struct error *err)
{
    out->operations = ARENA_NEW(arena, struct batch_operation);
    out->count = 1;
    TRY(read_operation(part, out->operations, err));
    if (!is_read(out->operations))
        return refuse_body(err, "a write is only allowed in a change set");
    return STATUS_OK;
}

/*
 * Whether no part of the body can be missing. Some clients send --BOUNDARY as the last boundary, in place of
 * --BOUNDARY--, and nothing but blanks behind it. No operation can be missing then: a change set has a last
 * boundary of its own, and there is only one part.
 */
static bool is_whole(const struct multipart_reader *reader)
{
    return reader->has_ended || str_trim(reader->rest, " \t\r\n").len == 0;
}

enum status batch_request_read(struct str content_type, struct str body, struct arena *arena,
    struct batch_request *out, struct error *err)
{
    struct batch_request request = { 0 };
    struct multipart_reader reader;
    struct str boundary, part, other;

    if (!multipart_boundary(content_type, &boundary))
        return refuse_body(err, "its Content-Type is multipart/mixed with a boundary");
    reader = multipart_read(body, boundary);
    if (!multipart_next(&reader, &part))
        return reader.has_begun
                   ? refuse_cut_off(err, "batch")
                   : refuse_body(
                         err, "it has no part: the boundary of the Content-Type does not stand in the body");
    if (multipart_boundary(multipart_header(part, "Content-Type"), &boundary))
        TRY(read_change_set(part, boundary, arena, &request, err));
    else
        TRY(read_single(part, arena, &request, err));
    if (multipart_next(&reader, &other))
        return refuse_body(err, "it must have exactly one change set or one GET");
    if (!is_whole(&reader))
        return refuse_cut_off(err, "batch");
    *out = request;
    return STATUS_OK;
}

struct str batch_request_header(const struct batch_operation *operation, const char *name)
{
    return multipart_header(operation->head, name);
}
