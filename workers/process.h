/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process.h - the threads of a worker process, from start to end.
 */
#ifndef WORKERS_PROCESS_H
#define WORKERS_PROCESS_H

#include "workers/config.h"

/* Run until SIGTERM or SIGINT; returns the process' exit code. */
int process_run_worker(const struct worker_config *config);

#endif
