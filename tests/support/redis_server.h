/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_server.h - a Redis of a test's own: on a Unix socket in a folder of its own, without persistence. It ends
 * with the test, however the test ends.
 */
#ifndef TESTS_SUPPORT_REDIS_SERVER_H
#define TESTS_SUPPORT_REDIS_SERVER_H

#include <stddef.h>
#include <sys/types.h>

#include "tests/support/temporary.h"

struct redis_server {
    pid_t pid; /* 0: not running */
    char folder[MAX_TEMPORARY_PATH];
    char url[MAX_TEMPORARY_PATH + 16]; /* "unix:/..." */
};

/* Start the server and wait until it answers. Also makes this process ignore SIGPIPE. Fails the test on failure. */
void redis_server_start(struct redis_server *server);

/* Stop the server and remove its folder. */
void redis_server_stop(struct redis_server *server);

/* Kill the server with SIGKILL; start it again at the same address, empty. */
void redis_server_kill(struct redis_server *server);
void redis_server_restart(struct redis_server *server);

/* Run one command, words ended by NULL, and fail the test if it answers with an error. Returns its integer.
 */
long long redis_server_command(struct redis_server *server, const char *word, ...) __attribute__((sentinel));

/* How many scripts the server has been asked to run. */
long long redis_server_script_calls(struct redis_server *server);

#endif
