/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_server.h - a Redis of a test's own: on a Unix socket in a folder of its own, without persistence,
 * gone when the test ends, however it ends.
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

/* Start it and wait until it answers. Also makes this process ignore SIGPIPE. Fails the test if it cannot. */
void redis_server_start(struct redis_server *server);

/* Remove it and its folder. */
void redis_server_stop(struct redis_server *server);

/* kill -9; and start it anew in the same place, empty. */
void redis_server_kill(struct redis_server *server);
void redis_server_restart(struct redis_server *server);

/* Run one command, words ended by NULL, and fail the test if it answers with an error. Returns its integer.
 */
long long redis_server_command(struct redis_server *server, const char *word, ...) __attribute__((sentinel));

#endif
