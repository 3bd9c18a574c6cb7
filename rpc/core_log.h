/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_log.h - what gRPC's core has to say goes into our log, as lines of ours.
 */
#ifndef RPC_CORE_LOG_H
#define RPC_CORE_LOG_H

/* For the whole process; from then on the core writes nothing to standard error by itself. */
void core_log_take_over(void);

#endif
