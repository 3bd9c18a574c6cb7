/* SPDX-License-Identifier: Apache-2.0 */
/*
 * servers.h - the private PostgreSQL and Redis of a stack: on Unix sockets only, trust inside.
 */
#ifndef CLIENT_DEV_SERVERS_H
#define CLIENT_DEV_SERVERS_H

#include "base/arena.h"
#include "client/dev/data_folder.h"
#include "client/dev/process.h"

struct postgres_options {
    const char *const *settings; /* "shared_buffers=256MB", each as `postgres -c` takes it */
    size_t setting_count;
    bool sync_first; /* the new cluster must be on disk before it is used */
};

/* Make the cluster and the database on first use. */
MUST_USE enum status servers_prepare_postgres(const struct data_folder *folder,
    const struct postgres_options *options, struct arena *arena, struct error *err);

MUST_USE enum status servers_start_postgres(const struct data_folder *folder,
    const struct postgres_options *options, struct arena *arena, struct process *out, struct error *err);

/* Whether this very process accepts connections. */
bool servers_postgres_is_ready(const struct data_folder *folder, const struct process *process);

/* How programs reach it, as TAVOLA_POSTGRES and TAVOLA_REDIS take it. */
const char *servers_postgres_address(const struct data_folder *folder, struct arena *arena);
const char *servers_redis_address(const struct data_folder *folder, struct arena *arena);

MUST_USE enum status servers_start_redis(
    const struct data_folder *folder, struct arena *arena, struct process *out, struct error *err);
bool servers_redis_is_ready(const struct data_folder *folder);

/* Whether something accepts connections at "host:port" or "unix:/path". */
bool servers_is_taken(const char *address);

#endif
