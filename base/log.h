/*
 * log.h - one line per event on standard error: time, level, program, event, then key=value pairs.
 *
 * Only the edges log. Never log the values of keys or properties, tokens or secrets.
 * A line is written with one write(2), so lines of several threads and processes do not mix.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/macros.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Set once at start; program must outlive the process. */
void log_init(const char *program, enum log_level least);

PRINTF_LIKE(2, 3)
void log_event(enum log_level level, const char *format, ...);

#endif
