/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core_locks.h - switches off what a debug build of gRPC's core checks at each lock.
 */
#ifndef RPC_CORE_LOCKS_H
#define RPC_CORE_LOCKS_H

/* For the whole process, and for locks that are made later. Does nothing if the core has no such checks. */
void core_locks_unchecked(void);

#endif
