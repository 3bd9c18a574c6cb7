/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - a child process of the supervisor. The child runs in a session of its own and is stopped when
 * the supervisor dies; its output goes to a file whose last lines can be printed.
 *
 * Used by one thread. Call process_catch_signals first, before any other thread exists: it blocks the signals
 * that process_wait waits for.
 */
#ifndef CLIENT_DEV_PROCESS_H
#define CLIENT_DEV_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/error.h"

struct process {
    const char *name;
    pid_t pid; /* 0: never started */
    bool ended;
    int wait_status;         /* valid when the process has ended */
    const char *log;         /* NULL: no log */
    off_t log_start;         /* size of the log before this run */
    int stop_signal;         /* asks for an orderly end */
    int hurry_signal;        /* sent if the process has not ended after stop_timeout_ms */
    int64_t stop_timeout_ms; /* time between the two signals */
};

struct process_plan {
    const char *name;
    char **argv; /* ends with NULL; argv[0] is a path or is found in PATH */
    char **environment;
    const char *log;  /* the file that the output is appended to; NULL: see output */
    int output;       /* without a log: a descriptor for the output; 0: the output of this program */
    const char *text; /* the text of its standard input; NULL: empty */
    bool as_postgres; /* run as user postgres (this program is root) */
    bool foreground;  /* keep session, terminal and working directory */
    int stop_signal;  /* also sent if the supervisor dies; 0: SIGTERM */
    int hurry_signal; /* 0: SIGKILL */
    int64_t stop_timeout_ms;
};

void process_catch_signals(void);

/* Wait for SIGINT, SIGTERM, SIGHUP or SIGCHLD. Returns the signal; 0: none came in time. */
int process_wait(int64_t timeout_ms);

/* STATUS_UNAVAILABLE: the process or its log file could not be made. */
MUST_USE enum status process_start(const struct process_plan *plan, struct process *out, struct error *err);

/* Whether the process was started and has not ended. Notices the end of the process. */
bool process_is_running(struct process *process);

/* Start a process and wait for its end. STATUS_INTERNAL: the exit code was not 0. */
MUST_USE enum status process_run(const struct process_plan *plan, struct error *err);

/*
 * Ask the process to stop; if it has not stopped in time, send hurry_signal. A further signal to this program
 * ends the wait.
 */
void process_stop(struct process *process);

/* "ended with exit code 3", "was killed by signal 9 (Killed)" */
void process_describe_end(const struct process *process, char *out, size_t size);

/* The exit code that a shell would report. */
int process_exit_code(const struct process *process);

/* Print the last lines that this run has written to its log. */
void process_print_tail(const struct process *process, FILE *out);

#endif
