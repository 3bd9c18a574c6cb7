/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stack.h - a private stack: PostgreSQL, Redis and the schema; optionally the server and a worker.
 *
 *     stack_open --> (stack_check while it is used) --> stack_close
 *
 * The parts start in the order PostgreSQL, Redis, server, worker, and stop in the reverse order.
 */
#ifndef CLIENT_DEV_STACK_H
#define CLIENT_DEV_STACK_H

#include "base/arena.h"
#include "client/client_config.h"
#include "client/dev/data_folder.h"
#include "client/dev/process.h"

enum stack_part { STACK_POSTGRES, STACK_REDIS, STACK_SERVER, STACK_WORKER, STACK_PARTS };

/* What the server's address uses; TAVOLA_TLS_CERT and TAVOLA_TLS_CLIENT_CA of the environment decide. */
enum transport { TRANSPORT_PLAIN, TRANSPORT_TLS, TRANSPORT_MUTUAL_TLS };

struct stack_options {
    const char *data;                     /* NULL: a temporary folder */
    const char *const *postgres_settings; /* each "NAME=VALUE" */
    size_t postgres_setting_count;
    const char *listen; /* address of the server; NULL: a socket in the stack's folder */
    const char *
        /*
         * HTTP address, used if the environment does not set one and no other program uses it; NULL: no HTTP
         */
        http_listen;
    bool with_server; /* server and worker need the schema, so it is migrated first */
    bool with_worker;
    const struct client_config *client; /* the TLS settings of the user's client: ca, certificate, key */
    bool talks;                         /* print progress on standard output */
};

struct stack {
    const struct stack_options *options;
    struct arena *arena;
    struct data_folder folder;
    const char *server_path, *worker_path;
    struct process parts[STACK_PARTS];
    const char *postgres; /* value for TAVOLA_POSTGRES */
    const char *redis;    /* value for TAVOLA_REDIS */
    const char *target;   /* address of the server; NULL: the stack has none */
    const char *http;     /* HTTP address of the server; NULL: none */
    const char *health;   /* address for health checks in plain text: target, unless target uses TLS */
    enum transport transport;
    const char *authentication; /* the server's TAVOLA_AUTHENTICATION: none, unless the environment sets it */
};

/*
 * Start the stack. Returns when every part is ready. If it fails, all parts are stopped; if a part ended by
 * itself, its last lines are on standard error.
 *
 * STATUS_CANCELLED  a signal asked this program to stop
 */
MUST_USE enum status stack_open(
    const struct stack_options *options, struct arena *arena, struct stack *out, struct error *err);

/* STATUS_UNAVAILABLE: a part has ended by itself; its last lines are on standard error. */
MUST_USE enum status stack_check(struct stack *stack, struct error *err);

void stack_close(struct stack *stack);

#endif
