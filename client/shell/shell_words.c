/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shell_words.c - see the header.
 */
#include "client/shell/shell_words.h"

#include <stdbool.h>
#include <string.h>

#include "base/buf.h"

static const char *skip_blanks(const char *line)
{
    return line + strspn(line, " \t\r\n");
}

/* Append a quoted part, from its quote on. Returns what is behind it; NULL: it is not closed. */
static const char *read_quoted(const char *from, struct buf *out)
{
    char quote = *from++;

    for (; *from && *from != quote; from++) {
        if (*from == '\\' && quote == '"' && from[1])
            from++;
        buf_append_byte(out, (uint8_t)*from);
    }
    return *from ? from + 1 : NULL;
}

/* Append JSON from its bracket on, as it stands. Returns what is behind it; NULL: it is not closed. */
static const char *read_json(const char *from, struct buf *out)
{
    const char *begin = from;
    bool is_text = false;
    int depth = 0;

    for (; *from; from++) {
        if (is_text && *from == '\\' && from[1])
            from++;
        else if (*from == '"')
            is_text = !is_text;
        else if (!is_text)
            depth += (*from == '{') - (*from == '}');
        if (depth == 0 && !is_text)
            break;
    }
    if (!*from)
        return NULL;
    buf_append(out, str_of_bytes(begin, (size_t)(from + 1 - begin)));
    return from + 1;
}

/* Append the word that begins here. Returns what is behind it; NULL: it is not closed. */
static const char *read_word(const char *from, struct buf *out)
{
    if (*from == '{')
        return read_json(from, out);
    while (from && *from && !strchr(" \t\r\n", *from)) {
        if (*from == '\'' || *from == '"') {
            from = read_quoted(from, out);
        } else {
            from += *from == '\\' && from[1];
            buf_append_byte(out, (uint8_t)*from++);
        }
    }
    return from;
}

int shell_words_split(const char *line, struct arena *arena, char *out[static SHELL_MAX_WORDS + 1])
{
    int count = 0;

    for (line = skip_blanks(line); *line && *line != '#'; line = skip_blanks(line)) {
        struct buf word;

        if (count == SHELL_MAX_WORDS)
            return -1;
        buf_init(&word, arena);
        line = read_word(line, &word);
        if (!line)
            return -1;
        buf_append_byte(&word, '\0');
        out[count++] = word.data;
    }
    out[count] = NULL;
    return count;
}
