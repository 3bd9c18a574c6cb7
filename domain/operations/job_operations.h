/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_operations.h - operations on long-running operations: get, list, wait, control.
 */
#ifndef DOMAIN_OPERATIONS_JOB_OPERATIONS_H
#define DOMAIN_OPERATIONS_JOB_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum job_control { JOB_PAUSE = 1, JOB_RESUME = 2, JOB_CANCEL = 3, JOB_THROTTLE = 4 };

enum job_state { JOB_RUNNING = 1, JOB_PAUSED = 2, JOB_DONE = 3, JOB_FAILED = 4, JOB_CANCELLED = 5 };

struct job_view {
    struct str operation_id; /* e.g. "build-1a2b" */
    /*
     * "build", "drop_index", "delete_table", "delete_range", "update_index", "verify_index",
     * "repair_index", "replace_index", "move_chunks"
     */
    struct str kind;
    struct str target; /* the name of a table or an index, or of a store of chunks */
    enum job_state state;
    int64_t done, total;
    int64_t started, ended; /* ticks; 0: not yet */
    struct str error;
};

/*
 * The prefix of the ids of operations that replace an index. Cancelling such an operation is a
 * change of the catalogue.
 */
#define JOB_REPLACEMENT_PREFIX "replace"

struct operation_jobs {
    struct str operation_id; /* get, wait, control */
    enum job_control control;
    int64_t rate;  /* JOB_THROTTLE: rows per second; 0: no limit */
    int32_t limit; /* list */
    struct str after;
};

struct outcome_jobs {
    struct job_view *jobs;
    size_t count;
    bool more;
    struct str position;
};

#endif
