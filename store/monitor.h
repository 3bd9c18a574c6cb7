/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.h - the thread that reads three things from the database twice a second: whether it
 * answers, the access snapshot, and the map of queues. It has a connection of its own, on which no
 * caller's operation runs, so no caller can delay the check of other callers' credentials.
 *
 * It reports through the callbacks of struct store_options.
 */
#ifndef STORE_MONITOR_H
#define STORE_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct monitor;
struct shared_catalogue;
struct store_options;

enum { MONITOR_TOKEN_KEY_BYTES = 32 };

/*
 * Start the monitor; its thread begins to read at once. Options and catalogue must outlive the
 * monitor.
 */
struct monitor *monitor_start(const struct store_options *options, struct shared_catalogue *catalogue);

/* Join the thread and free; NULL is allowed. */
void monitor_stop(struct monitor *monitor);

/* Whether the last read has reached the database. */
bool monitor_sees_database(const struct monitor *monitor);

/* See store_look_at_access. */
void monitor_look_at_access(struct monitor *monitor);

/* See store_token_key. */
MUST_USE enum status monitor_token_key(
    struct monitor *monitor, uint8_t out[MONITOR_TOKEN_KEY_BYTES], struct error *err);

#endif
