/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_log.h - writes the log lines of gRPC's core into this program's log, in its format.
 */
#ifndef RPC_CORE_LOG_H
#define RPC_CORE_LOG_H

/*
 * Take over the log of the core, for the whole process. Afterwards the core writes nothing to standard error
 * itself.
 */
void core_log_take_over(void);

#endif
