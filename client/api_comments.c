/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_comments.c - reads protos line by line: comments, declarations, and the scopes in which they stand. The protos
 * are formatted by one tool, with a declaration on each line or, if it is long, beginning on a line of its own.
 */
#include "client/api_comments.h"

#include <ctype.h>
#include <string.h>

#include "base/buf.h"
#include "client/proto_texts.h"

enum { MAX_DEPTH = 8 };

struct reader {
    struct str scopes[MAX_DEPTH]; /* names; of a oneof: empty, since its fields are those of the message */
    int depth;
    struct buf comment; /* above the next declaration */
};

static struct str trim_left(struct str text)
{
    while (text.len > 0 && (*text.data == ' ' || *text.data == '\t'))
        text = str_from(text, 1);
    return text;
}

/* Take the word at the beginning of the text: letters, digits, underscores and dots. */
static struct str take_word(struct str *text)
{
    size_t len = 0;

    *text = trim_left(*text);
    while (len < text->len && (isalnum((unsigned char)text->data[len]) || strchr("_.", text->data[len])))
        len++;
    text->len -= len;
    text->data += len;
    return str_of_bytes(text->data - len, len);
}

static void add_comment(struct reader *reader, struct str line)
{
    line = trim_left(str_from(line, 2));
    if (reader->comment.len > 0)
        buf_append_byte(&reader->comment, ' ');
    buf_append(&reader->comment, line);
}

/* Whether the open scopes are the wanted one: "Step.Move". */
static bool is_in_scope(const struct reader *reader, struct str wanted)
{
    for (int i = 0; i < reader->depth; i++) {
        if (reader->scopes[i].len == 0)
            continue;
        if (!str_starts_with(wanted, reader->scopes[i]))
            return false;
        wanted = str_from(wanted, reader->scopes[i].len);
        if (wanted.len > 0 && *wanted.data != '.')
            return false;
        wanted = wanted.len > 0 ? str_from(wanted, 1) : wanted;
    }
    return wanted.len == 0;
}

/* The name of a field or value: the word before its number. Empty: the line has none. */
static struct str assigned_name(struct str line)
{
    const char *sign = memchr(line.data, '=', line.len);
    size_t end, begin;

    if (!sign)
        return STR_EMPTY;
    end = (size_t)(sign - line.data);
    while (end > 0 && line.data[end - 1] == ' ')
        end--;
    for (begin = end;
         begin > 0 && (isalnum((unsigned char)line.data[begin - 1]) || line.data[begin - 1] == '_');)
        begin--;
    return str_of_bytes(line.data + begin, end - begin);
}

/* Read a line that is no comment. true: it declares what is wanted, whose comment is in the reader. */
static bool read_declaration(struct reader *reader, struct str line, struct str scope, struct str member)
{
    struct str rest = line, keyword = take_word(&rest), name = take_word(&rest);
    bool opens = line.len > 0 && line.data[line.len - 1] == '{';

    if (opens && reader->depth < MAX_DEPTH) {
        reader->scopes[reader->depth++] = str_equal(keyword, STR_LITERAL("oneof")) ? STR_EMPTY : name;
        return member.len == 0 && is_in_scope(reader, scope);
    }
    if (line.len > 0 && *line.data == '}' && reader->depth > 0) {
        reader->depth--;
        return false;
    }
    if (member.len == 0 || !is_in_scope(reader, scope))
        return false;
    return str_equal(member, str_equal(keyword, STR_LITERAL("rpc")) ? name : assigned_name(line));
}

struct str api_comments_find_in(const char *proto, struct str scope, struct str member, struct arena *arena)
{
    struct str rest = str_of(proto);
    struct reader reader = { .depth = 0 };

    buf_init(&reader.comment, arena);
    while (rest.len > 0) {
        struct str line = trim_left(str_take(&rest, '\n'));

        if (str_starts_with(line, STR_LITERAL("//"))) {
            add_comment(&reader, line);
            continue;
        }
        if (read_declaration(&reader, line, scope, member))
            return buf_str(&reader.comment);
        reader.comment.len = 0;
    }
    return STR_EMPTY;
}

struct str api_comments_find(struct str scope, struct str member, struct arena *arena)
{
    static const struct str package = STR_LITERAL("tavola.v1.");
    struct str found = STR_EMPTY;

    if (!str_starts_with(scope, package))
        return found;
    for (size_t i = 0; i < proto_texts_count && found.len == 0; i++)
        found = api_comments_find_in(proto_texts_all[i]->text, str_from(scope, package.len), member, arena);
    return found;
}

void api_comments_print(struct str text, int indent, int width, FILE *out)
{
    int column = 0;

    while (text.len > 0) {
        struct str word = str_take(&text, ' ');

        if (column > 0 && column + 1 + (int)word.len > width) {
            fputc('\n', out);
            column = 0;
        }
        column += fprintf(out, "%*s%.*s", column > 0 ? 1 : indent, "", STR_ARG(word));
    }
    if (column > 0)
        fputc('\n', out);
}
