/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stray_remover.h - the thread that removes bytes that no blob needs from chunk stores outside of the database. It is a
 * thread of its own, so that a slow store delays nothing else.
 */
#ifndef WORKERS_STRAY_REMOVER_H
#define WORKERS_STRAY_REMOVER_H

/* argument: the thread's struct worker_ctx. */
void *stray_remover_thread(void *argument);

#endif
