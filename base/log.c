/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.c - see the header.
 */
#include "base/log.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * The end of a value that was cut. Each line keeps room for it and for the end of the line: quote,
 * brace, newline.
 */
#define CUT_MARK "..."
enum { RESERVED_BYTES = sizeof(CUT_MARK) + 2, NUMBER_BYTES = 24 };

/* The text before, between and after the parts of a line, for each format. */
struct form {
    const char *begin, *end;
    const char *separator; /* between fields */
    const char *before_name, *after_name;
    bool bare_text; /* a text of plain characters is written without quotes */
};

static const struct form forms[] = {
    [LOG_LOGFMT] = { .begin = "",
        .end = "",
        .separator = " ",
        .before_name = "",
        .after_name = "=",
        .bare_text = true },
    [LOG_JSON] = { .begin = "{", .end = "}", .separator = ",", .before_name = "\"", .after_name = "\":" },
};

static const char *program_name = "tavola";
static _Atomic(enum log_level) min_level = LOG_INFO;
static const struct form *form = &forms[LOG_LOGFMT];

static const char *const level_names[] = { "debug", "info", "warn", "error" };

struct line {
    char data[LOG_LINE_BYTES];
    size_t len;
    bool full;
};

void log_init(const char *program, enum log_level min, enum log_format format)
{
    program_name = program;
    form = &forms[format];
    log_set_level(min);
}

void log_set_level(enum log_level min)
{
    atomic_store_explicit(&min_level, min, memory_order_relaxed);
}

/* ---- values ---- */

static bool append_bytes(struct line *line, const char *bytes, size_t len)
{
    if (line->full || line->len + len > sizeof(line->data) - RESERVED_BYTES) {
        line->full = true;
        return false;
    }
    memcpy(line->data + line->len, bytes, len);
    line->len += len;
    return true;
}

static bool append_text(struct line *line, const char *text)
{
    return append_bytes(line, text, strlen(text));
}

static bool is_plain(unsigned char byte)
{
    return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
           (byte != '\0' && strchr("._:/@+-", byte));
}

static bool stands_bare(const char *text)
{
    if (!*text)
        return false;
    while (is_plain((unsigned char)*text))
        text++;
    return !*text;
}

/*
 * The length in bytes of the character at this position, by Unicode's table of well-formed UTF-8;
 * 0: malformed.
 */
static size_t utf8_length(const unsigned char *at)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;

    if (at[0] > 0xf4 || (at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* Write one character of a quoted value. Returns the number of bytes read, at least one. */
static size_t put_character(struct line *line, const char *at)
{
    static const char escaped[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
    unsigned char byte = (unsigned char)*at;
    const char *special = strchr(escaped, byte);
    size_t length = utf8_length((const unsigned char *)at);
    char out[8];

    if (special) {
        append_bytes(line, (char[]){ '\\', letters[special - escaped] }, 2);
    } else if (byte < 0x20 || byte == 0x7f) {
        append_bytes(line, out, (size_t)snprintf(out, sizeof(out), "\\u%04x", byte));
    } else if (length == 0) {
        append_bytes(line, "\xef\xbf\xbd", 3);
        return 1;
    } else {
        append_bytes(line, at, length);
    }
    return length;
}

static void put_quoted(struct line *line, const char *text)
{
    append_bytes(line, "\"", 1);
    while (*text && !line->full)
        text += put_character(line, text);
    if (line->full) {
        memcpy(line->data + line->len, CUT_MARK, sizeof(CUT_MARK) - 1);
        line->len += sizeof(CUT_MARK) - 1;
    }
    line->data[line->len++] = '"';
}

/* Write a field, or nothing if it does not fit; only its value may be cut. */
static void put_field(struct line *line, const struct log_field *field)
{
    char digits[NUMBER_BYTES];
    const char *text = field->text;
    size_t before = line->len, bare;

    snprintf(digits, sizeof(digits), "%lld", field->number);
    bare = !text ? strlen(digits) : form->bare_text && stands_bare(text) ? strlen(text) : 0;
    text = text ? text : digits;
    if (!append_text(line, before == strlen(form->begin) ? "" : form->separator) ||
        !append_text(line, form->before_name) || !append_text(line, field->name) ||
        !append_text(line, form->after_name) || line->len + bare + 2 > sizeof(line->data) - RESERVED_BYTES) {
        line->full = true;
        line->len = before;
    } else if (bare > 0) {
        append_bytes(line, text, bare);
    } else {
        put_quoted(line, text);
    }
}

/* ---- lines ---- */

static void put_head(struct line *line, enum log_level level, const char *event)
{
    struct timespec now;
    struct tm utc;
    char when[48];
    size_t len;

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    len = strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(when + len, sizeof(when) - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
    put_field(line, &(struct log_field){ .name = "time", .text = when });
    put_field(line, &(struct log_field){ .name = "level", .text = level_names[level] });
    put_field(line, &(struct log_field){ .name = "program", .text = program_name });
    put_field(line, &(struct log_field){ .name = "event", .text = event });
}

static void write_line(int fd, enum log_level level, const char *event, const struct log_field *fields)
{
    struct line line;

    line.len = 0;
    line.full = false;
    append_text(&line, form->begin);
    put_head(&line, level, event);
    for (const struct log_field *field = fields; field && field->name; field++)
        put_field(&line, field);
    line.len += (size_t)snprintf(line.data + line.len, sizeof(line.data) - line.len, "%s", form->end);
    line.data[line.len++] = '\n';
    if (write(fd, line.data, line.len) < 0)
        return;
}

bool log_wants(enum log_level level)
{
    return level >= atomic_load_explicit(&min_level, memory_order_relaxed);
}

void log_write(enum log_level level, const char *event, const struct log_field *fields)
{
    if (log_wants(level))
        write_line(STDERR_FILENO, level, event, fields);
}

void log_announce(const char *event, const struct log_field *fields)
{
    write_line(STDOUT_FILENO, LOG_INFO, event, fields);
}
