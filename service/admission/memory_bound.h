/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory_bound.h - how much resident memory the server may have, and the bounds that follow from it for
 * connections, calls and streams. Those are chosen so that callers without a credential stay far below the
 * memory bound.
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

/* Whether the value of TAVOLA_MEMORY_LIMIT is valid; for the table of settings. */
bool memory_bound_is_valid(const char *setting);

/*
 * Find the bound. setting: the value of TAVOLA_MEMORY_LIMIT. NULL: four fifths of the cgroup's limit or, if
 * there is none, 2 GB, but at most half of the machine's memory.
 */
struct memory_bound memory_bound_find(const char *setting);

/* Where the bound comes from: "setting", "cgroup", "default". */
const char *memory_bound_source_name(enum memory_bound_source source);

/*
 * The smallest limit of a cgroup and its ancestors; 0: none. cgroup: the text of /proc/self/cgroup; mount:
 * the folder in which the hierarchies are mounted (/sys/fs/cgroup). Versions 1 and 2.
 */
int64_t memory_bound_of_cgroup(const char *cgroup, const char *mount);

/*
 * Set those members of *limits that are 0 to what suits the bound. files: descriptors for connections; 0: not
 * known.
 */
void memory_bound_set_limits(const struct memory_bound *bound, long long files, struct rpc_limits *limits);

#endif
