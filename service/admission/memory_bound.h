/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_bound.h - how much resident memory the server may hold, and what callers may take of it. The other bounds
 * (connections, calls, streams) are chosen so that callers without a credential stay far below it.
 */
#ifndef SERVICE_ADMISSION_MEMORY_BOUND_H
#define SERVICE_ADMISSION_MEMORY_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "rpc/server.h"

enum memory_bound_source { MEMORY_BOUND_SETTING, MEMORY_BOUND_CGROUP, MEMORY_BOUND_DEFAULT };

struct memory_bound {
    int64_t bytes;
    enum memory_bound_source source;
};

#define MEMORY_BOUND_ALLOWED "a number of bytes, or one followed by kB, MB or GB (of 1024), from 64MB on"

/* For the table of settings. */
bool memory_bound_is_valid(const char *setting);

/*
 * setting: the value of TAVOLA_MEMORY_LIMIT, or NULL: then four fifths of what the cgroup allows; without such a limit
 * 2 GB, or half of the machine's memory if that is less.
 */
struct memory_bound memory_bound_find(const char *setting);

/* "setting", "cgroup", "default" */
const char *memory_bound_source_name(enum memory_bound_source source);

/*
 * The smallest limit of a cgroup and those above it, 0: none. cgroup: the text of /proc/self/cgroup; mount: where the
 * hierarchies are mounted (/sys/fs/cgroup). Versions 1 and 2.
 */
int64_t memory_bound_of_cgroup(const char *cgroup, const char *mount);

/*
 * What callers may take of a server with this bound; files: descriptors for connections, 0: not known. Members that
 * are not 0 in *limits are kept.
 */
void memory_bound_set_limits(const struct memory_bound *bound, long long files, struct rpc_limits *limits);

#endif
