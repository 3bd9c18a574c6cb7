/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - a child of the supervisor: started in a session of its own, told to stop when the supervisor
 * dies, its output in a file whose last lines can be shown.
 *
 * For one thread. process_catch_signals comes first; it blocks the signals process_wait waits for, so it
 * must run before any other thread exists.
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
    int wait_status;         /* when ended */
    const char *log;         /* NULL: none */
    off_t log_start;         /* where this run's lines begin */
    int stop_signal;         /* asks for an orderly end */
    int hurry_signal;        /* when it takes too long */
    int64_t stop_timeout_ms; /* before that */
};

struct process_plan {
    const char *name;
    char **argv; /* ended by NULL; argv[0] is a path or found in PATH */
    char **environment;
    const char *log;  /* its output is appended here; NULL: see output */
    int output;       /* without a log: a descriptor for its output; 0: the terminal's */
    const char *text; /* what it reads on standard input; NULL: nothing */
    bool as_postgres; /* run as user postgres (we are root) */
    bool foreground;  /* keep session, terminal and working directory */
    int stop_signal;  /* also sent when the supervisor dies; 0: SIGTERM */
    int hurry_signal; /* 0: SIGKILL */
    int64_t stop_timeout_ms;
};

void process_catch_signals(void);

/* Wait for SIGINT, SIGTERM, SIGHUP or SIGCHLD; 0: none came in time. */
int process_wait(int64_t timeout_ms);

/* STATUS_UNAVAILABLE: no process or no log file could be made. */
MUST_USE enum status process_start(const struct process_plan *plan, struct process *out, struct error *err);

/* Whether it was started and has not ended; notices the end. */
bool process_is_running(struct process *process);

/* Start and wait for the end; STATUS_INTERNAL when it was not exit code 0. */
MUST_USE enum status process_run(const struct process_plan *plan, struct error *err);

/* Ask it to stop, wait, then insist. A further signal to us ends the wait. */
void process_stop(struct process *process);

/* "ended with exit code 3", "was killed by signal 9 (Killed)" */
void process_describe_end(const struct process *process, char *out, size_t size);

/* The exit code a shell would report. */
int process_exit_code(const struct process *process);

/* The last lines this run has written to its log. */
void process_print_tail(const struct process *process, FILE *out);

#endif
