/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_times.h - the times that the store records for an operation.
 *
 * They lie in the operation's arena. An operation that the store makes for its own use may have
 * none; then each time is 0.
 */
#ifndef DOMAIN_OPERATIONS_OPERATION_TIMES_H
#define DOMAIN_OPERATIONS_OPERATION_TIMES_H

#include "domain/operations/operation.h"

/* Record that the operation arrives now; called for each store_submit. */
void operation_times_begin(struct operation *operation);

/* When the operation arrived last, by clock_monotonic_us; 0: not known. */
int64_t operation_times_arrived_us(const struct operation *operation);

/* When the last operation of a list arrived; 0: not known for one of them. */
int64_t operation_times_latest_us(const struct operation *batch);

/* The last run of these operations begins now_us, by clock_monotonic_us; for those that arrived. */
void operation_times_set_begun(struct operation *batch, int64_t now_us);

/* When the operation's last run began; 0: it has not run. */
int64_t operation_times_begun_us(const struct operation *operation);

/*
 * Record that the freshness which the look-up requires was reached at `fresh_us`, by
 * clock_monotonic_us.
 */
void operation_times_set_fresh(struct operation *operation, int64_t fresh_us);

/* The time that operation_times_set_fresh has set; 0: none. */
int64_t operation_times_fresh_us(const struct operation *operation);

/* Whether an operation of a batch has to be run in another way. */
enum operation_detour {
    DETOUR_NONE,
    DETOUR_WAIT,   /* its required freshness is not reached: it waits, and is then run again */
    DETOUR_ALONE,  /* it is large, or is to be refused: it runs by itself */
    DETOUR_LOCKED, /* a write that met another transaction's lock, perhaps that of a write of its batch */
    DETOUR_HELD,   /* a write that met such a lock when it ran alone */
    DETOUR_RETRY,  /* the same, while it waits to be tried again */
};

void operation_times_set_detour(struct operation *operation, enum operation_detour detour);
enum operation_detour operation_times_detour(const struct operation *operation);

#endif
