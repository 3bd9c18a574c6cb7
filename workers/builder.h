/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builder.h - one thread per worker that carries long-running operations on, chunk by chunk: index
 * builds, index drops, purges of deleted tables.
 */
#ifndef WORKERS_BUILDER_H
#define WORKERS_BUILDER_H

/* Does chunk after chunk until the worker stops; argument: a struct worker_ctx *. */
void *builder_thread(void *argument);

#endif
