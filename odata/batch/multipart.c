/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multipart.c - see the header. The reader goes through the lines of the body once: a line is a boundary, or
 * belongs to the part that began behind the last boundary.
 */
#include "odata/batch/multipart.h"

#include <strings.h>

#define TYPE "multipart/mixed"
#define PARAMETER "boundary="

static bool begins_with_word(struct str text, const char *word)
{
    return text.len >= strlen(word) && strncasecmp(text.data, word, strlen(word)) == 0;
}

bool multipart_take_line(struct str *text, struct str *line)
{
    if (text->len == 0)
        return false;
    *line = str_take(text, '\n');
    if (line->len > 0 && line->data[line->len - 1] == '\r')
        line->len--;
    return true;
}

/* ---- the boundary ---- */

static bool boundary_is_valid(struct str boundary)
{
    if (boundary.len == 0 || boundary.len > MULTIPART_BOUNDARY_BYTES)
        return false;
    for (size_t i = 0; i < boundary.len; i++)
        if (boundary.data[i] <= ' ' || boundary.data[i] > '~')
            return false;
    return true;
}

static struct str unquote(struct str value)
{
    if (value.len < 2 || value.data[0] != '"' || value.data[value.len - 1] != '"')
        return value;
    return str_of_bytes(value.data + 1, value.len - 2);
}

bool multipart_boundary(struct str content_type, struct str *out)
{
    struct str rest = content_type, parameter, boundary;
    struct str type = str_trim(str_take(&rest, ';'), " \t");

    if (type.len != sizeof(TYPE) - 1 || !begins_with_word(type, TYPE))
        return false;
    while (rest.len > 0) {
        parameter = str_trim(str_take(&rest, ';'), " \t");
        if (!begins_with_word(parameter, PARAMETER))
            continue;
        boundary = unquote(str_from(parameter, sizeof(PARAMETER) - 1));
        if (!boundary_is_valid(boundary))
            return false;
        *out = boundary;
        return true;
    }
    return false;
}

/* ---- the parts ---- */

enum line_kind { LINE_TEXT, LINE_BOUNDARY, LINE_LAST_BOUNDARY };

static enum line_kind kind_of(struct str line, struct str boundary)
{
    struct str rest;

    if (line.len < boundary.len + 2 || line.data[0] != '-' || line.data[1] != '-' ||
        memcmp(line.data + 2, boundary.data, boundary.len) != 0)
        return LINE_TEXT;
    rest = str_trim(str_from(line, boundary.len + 2), " \t");
    if (rest.len == 0)
        return LINE_BOUNDARY;
    return str_equal(rest, STR_LITERAL("--")) ? LINE_LAST_BOUNDARY : LINE_TEXT;
}

struct multipart_reader multipart_read(struct str body, struct str boundary)
{
    return (struct multipart_reader){ .boundary = boundary, .rest = body };
}

static struct str without_line_end(const char *begin, const char *end)
{
    if (end > begin && end[-1] == '\n')
        end--;
    if (end > begin && end[-1] == '\r')
        end--;
    return str_of_bytes(begin, (size_t)(end - begin));
}

/* Skip the lines before the first boundary. */
static bool find_first(struct multipart_reader *reader)
{
    struct str line;

    while (multipart_take_line(&reader->rest, &line))
        switch (kind_of(line, reader->boundary)) {
        case LINE_BOUNDARY:
            reader->has_begun = true;
            return true;
        case LINE_LAST_BOUNDARY:
            reader->has_ended = true;
            return false;
        case LINE_TEXT:
            break;
        }
    return false;
}

bool multipart_next(struct multipart_reader *reader, struct str *part)
{
    struct str rest, line;

    if (reader->has_ended || (!reader->has_begun && !find_first(reader)))
        return false;
    rest = reader->rest;
    while (multipart_take_line(&rest, &line)) {
        enum line_kind kind = kind_of(line, reader->boundary);

        if (kind == LINE_TEXT)
            continue;
        *part = without_line_end(reader->rest.data, line.data);
        reader->has_ended = kind == LINE_LAST_BOUNDARY;
        reader->rest = rest;
        return true;
    }
    return false;
}

/* ---- the headers of a part ---- */

struct str multipart_header(struct str part, const char *name)
{
    struct str line, found;

    while (multipart_take_line(&part, &line) && line.len > 0) {
        found = str_trim(str_take(&line, ':'), " \t");
        if (str_equal_any_case(found, str_of(name)))
            return str_trim(line, " \t");
    }
    return STR_EMPTY;
}

struct str multipart_body(struct str part)
{
    struct str line;

    while (multipart_take_line(&part, &line))
        if (line.len == 0)
            return part;
    return STR_EMPTY;
}

/* ---- writing ---- */

void multipart_write_boundary(struct buf *out, struct str boundary, bool is_last)
{
    buf_append(out, STR_LITERAL("--"));
    buf_append(out, boundary);
    buf_append(out, is_last ? STR_LITERAL("--\r\n") : STR_LITERAL("\r\n"));
}
