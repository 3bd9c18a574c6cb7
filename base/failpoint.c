/* SPDX-License-Identifier: Apache-2.0 */
/*
 * failpoint.c - the environment is read when the first point is passed. Each passage is logged
 * before the action, with one write in append mode, so that lines of several processes do not mix
 * and no line is lost.
 */
#include "base/failpoint.h"

#ifdef TAVOLA_FAILPOINTS

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_BYTES = 64, ACTION_BYTES = 8 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char wanted[NAME_BYTES];
static char action[ACTION_BYTES];
static int wanted_pass = 1;
static int log_fd = -1;
static atomic_int passes;

static void read_environment(void)
{
    const char *text = getenv("TAVOLA_FAILPOINT");
    const char *path = getenv("TAVOLA_FAILPOINT_LOG");

    if (text && *text && sscanf(text, "%63[^:]:%7[a-z]:%d", wanted, action, &wanted_pass) < 2) {
        fprintf(stderr, "TAVOLA_FAILPOINT is not name:action:n\n");
        abort();
    }
    if (path && *path)
        log_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static void log_passage(const char *name)
{
    char line[NAME_BYTES + 1];
    int len = snprintf(line, sizeof(line), "%s\n", name);

    if (log_fd >= 0 && len > 0 && write(log_fd, line, (size_t)len) < 0)
        abort();
}

enum status failpoint_pass(const char *name, struct error *err)
{
    pthread_once(&once, read_environment);
    log_passage(name);
    if (strcmp(name, wanted) != 0 || atomic_fetch_add(&passes, 1) + 1 != wanted_pass)
        return STATUS_OK;
    if (strcmp(action, "kill") == 0)
        kill(getpid(), SIGKILL);
    else if (strcmp(action, "stop") == 0)
        kill(getpid(), SIGSTOP);
    else if (strcmp(action, "error") == 0 && err)
        return error_set(err, STATUS_UNAVAILABLE, "failpoint %s", name);
    return STATUS_OK;
}

#endif
