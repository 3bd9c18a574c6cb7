/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers.h - the private PostgreSQL and Redis of a stack. Both listen on Unix sockets only and trust every
 * client.
 */
#ifndef CLIENT_DEV_SERVERS_H
#define CLIENT_DEV_SERVERS_H

#include "base/arena.h"
#include "client/dev/data_folder.h"
#include "client/dev/process.h"

struct postgres_options {
    const char *const *settings; /* "shared_buffers=256MB"; each in the form of `postgres -c` */
    size_t setting_count;
    bool sync_first; /* wait until the new cluster is on disk before it is used */
};

/* Make the cluster and the database at the first use. */
MUST_USE enum status servers_prepare_postgres(const struct data_folder *folder,
    const struct postgres_options *options, struct arena *arena, struct error *err);

MUST_USE enum status servers_start_postgres(const struct data_folder *folder,
    const struct postgres_options *options, struct arena *arena, struct process *out, struct error *err);

/* Whether this process accepts connections, rather than an earlier one. */
bool servers_postgres_is_ready(const struct data_folder *folder, const struct process *process);

/* The addresses for TAVOLA_POSTGRES and TAVOLA_REDIS. */
const char *servers_postgres_address(const struct data_folder *folder, struct arena *arena);
const char *servers_redis_address(const struct data_folder *folder, struct arena *arena);

MUST_USE enum status servers_start_redis(
    const struct data_folder *folder, struct arena *arena, struct process *out, struct error *err);
bool servers_redis_is_ready(const struct data_folder *folder);

/* Whether a program accepts connections at "host:port" or "unix:/path". */
bool servers_is_taken(const char *address);

#endif
