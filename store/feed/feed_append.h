/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_append.h - appends the changes of a batch of writes to the feeds of their tables.
 */
#ifndef STORE_FEED_FEED_APPEND_H
#define STORE_FEED_FEED_APPEND_H

#include "domain/writes/write_plan.h"

struct session;

/*
 * Send the changes of all rows whose tables have a feed; nothing if no table has one. Waits for no
 * other transaction.
 */
MUST_USE enum status feed_append_send(
    struct session *session, const struct plan_row *rows, size_t count, struct error *err);

#endif
