/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - a private stack: PostgreSQL, Redis, the schema, and when asked for the server and a worker.
 *
 *     stack_open --> (stack_check while it is used) --> stack_close
 *
 * Started in that order, stopped in the other: worker, server, Redis, PostgreSQL.
 */
#ifndef CLIENT_DEV_STACK_H
#define CLIENT_DEV_STACK_H

#include "base/arena.h"
#include "client/client_config.h"
#include "client/dev/data_folder.h"
#include "client/dev/process.h"

enum stack_part { STACK_POSTGRES, STACK_REDIS, STACK_SERVER, STACK_WORKER, STACK_PARTS };

/* What the server's address speaks, by TAVOLA_TLS_CERT and TAVOLA_TLS_CLIENT_CA of the environment. */
enum transport { TRANSPORT_PLAIN, TRANSPORT_TLS, TRANSPORT_MUTUAL_TLS };

struct stack_options {
    const char *data;                     /* NULL: a temporary folder */
    const char *const *postgres_settings; /* "NAME=VALUE" */
    size_t postgres_setting_count;
    const char *listen; /* where the server serves; NULL: on a socket in the stack's folder */
    const char *
        http_listen; /* where it serves HTTP, if the environment says nothing else and the address is free; NULL: nowhere */
    bool with_server; /* these two need the schema, so it is migrated for them */
    bool with_worker;
    const struct client_config *client; /* what its user talks TLS with: ca, certificate, key */
    bool talks;                         /* say what is going on, on standard output */
};

struct stack {
    const struct stack_options *options;
    struct arena *arena;
    struct data_folder folder;
    const char *server_path, *worker_path;
    struct process parts[STACK_PARTS];
    const char *postgres; /* TAVOLA_POSTGRES */
    const char *redis;    /* TAVOLA_REDIS */
    const char *target;   /* where the server answers; NULL without one */
    const char *http;     /* where it answers over HTTP; NULL: nowhere */
    const char *health;   /* where it answers about its health in plain text: target, unless that is TLS */
    enum transport transport;
    const char
        *authentication; /* TAVOLA_AUTHENTICATION of the server: none, unless the environment says it */
};

/*
 * Returns when every part that was asked for is ready. On failure nothing is left running; the last lines
 * of a part that ended by itself are on standard error.
 *
 * STATUS_CANCELLED  a signal asked us to stop
 */
MUST_USE enum status stack_open(
    const struct stack_options *options, struct arena *arena, struct stack *out, struct error *err);

/* STATUS_UNAVAILABLE: a part has ended by itself; its last lines are on standard error. */
MUST_USE enum status stack_check(struct stack *stack, struct error *err);

void stack_close(struct stack *stack);

#endif
