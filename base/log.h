/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log.h - one line per event on standard error, in strict logfmt or as a JSON object: time, level,
 * program and event first, then the event's own fields.
 *
 *   time=2026-11-22T08:00:01.250Z level=warn program=tavolad event=database why="no route to host" failures=3
 *   {"time":"2026-11-22T08:00:01.250Z","level":"warn","program":"tavolad","event":"database",
 *    "why":"no route to host","failures":3}
 *
 * A name is lower-case letters, digits and underscores. A number stands bare; in logfmt so does a
 * text of letters, digits and ._:/@+- alone. Other values stand in double quotes with the escapes
 * of JSON (\" \\ \n \r \t \u00xx); bytes that are not UTF-8 become U+FFFD. A line has up to
 * LOG_LINE_BYTES bytes: a value that does not fit is cut, and ends with "...", and the fields
 * behind it are left out.
 *
 * Only the edges log. Never log the values of keys or properties, tokens or secrets.
 * A line is written with one write(2), so lines of several threads and processes do not mix.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum { LOG_LINE_BYTES = 4096 };

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_LOGFMT, LOG_JSON };

/* name NULL: the end of the fields. text NULL: the value is the number. Borrows both texts. */
struct log_field {
    const char *name, *text;
    long long number;
};

static inline struct log_field log_text(const char *name, const char *text)
{
    return (struct log_field){ .name = name, .text = text ? text : "" };
}

static inline struct log_field log_number(const char *name, long long number)
{
    return (struct log_field){ .name = name, .number = number };
}

/* Call once at the start. Borrows program for the life of the process. */
void log_init(const char *program, enum log_level min, enum log_format format);

/* Change the lowest level that is written, at any time, from any thread. */
void log_set_level(enum log_level min);

/* Whether a line of this level is written. */
bool log_wants(enum log_level level);

/* fields: the last has no name; NULL: the event has no fields. */
void log_write(enum log_level level, const char *event, const struct log_field *fields);

/*
 * log_event(LOG_WARN, "sweep_failed", log_text("why", err.message), log_number("rows", count)); at
 * least one field.
 */
#define log_event(level, event, ...)                                                                         \
    do {                                                                                                     \
        if (log_wants(level))                                                                                \
            log_write((level), (event), (const struct log_field[]){ __VA_ARGS__, { 0 } });                   \
    } while (0)

/*
 * Write a line of level info to standard output, whatever the log level is: other programs wait for
 * it.
 */
void log_announce(const char *event, const struct log_field *fields);

#endif
