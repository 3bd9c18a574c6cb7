/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_append.h - the changes of a batch of writes, for the feeds of their tables.
 */
#ifndef STORE_FEED_FEED_APPEND_H
#define STORE_FEED_FEED_APPEND_H

#include "domain/writes/write_plan.h"
#include "store/session/session.h"

/*
 * Send the changes of all rows whose tables keep a feed, or nothing. The last class of locks before requests,
 * intents and commits: feeds, sorted.
 */
MUST_USE enum status feed_append_send(
    struct session *session, const struct plan_row *rows, size_t count, struct error *err);

#endif
