/*
 * log.c - see the header.
 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *program_name = "tavola";
static enum log_level least_level = LOG_INFO;

static const char *const level_names[] = { "debug", "info", "warn", "error" };

void log_init(const char *program, enum log_level least)
{
    program_name = program;
    least_level = least;
}

void log_event(enum log_level level, const char *format, ...)
{
    char line[2048];
    struct timespec now;
    struct tm utc;
    size_t len;
    int written;
    va_list args;

    if (level < least_level)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    len = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &utc);
    written = snprintf(line + len, sizeof(line) - len, ".%03ldZ %s %s: ", now.tv_nsec / 1000000,
        level_names[level], program_name);
    len += written > 0 ? (size_t)written : 0;
    va_start(args, format);
    written = vsnprintf(line + len, sizeof(line) - len - 1, format, args);
    va_end(args);
    len += written > 0 ? (size_t)written : 0;
    if (len > sizeof(line) - 2)
        len = sizeof(line) - 2;
    for (size_t i = 0; i < len; i++)
        if (line[i] == '\n' || line[i] == '\r')
            line[i] = ' ';
    line[len++] = '\n';
    if (write(STDERR_FILENO, line, len) < 0)
        return;
}
