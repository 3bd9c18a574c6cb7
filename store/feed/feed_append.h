/*
 * feed_append.h - the changes of a batch of writes, for the feeds of their tables.
 */
#ifndef STORE_FEED_FEED_APPEND_H
#define STORE_FEED_FEED_APPEND_H

#include "store/entities/write_set.h"
#include "store/session/session.h"

/*
 * Send the changes of all rows whose tables keep a feed, or nothing. The last class of locks before requests,
 * intents and commits: feeds, sorted. *statements counts what was sent.
 */
MUST_USE enum status feed_append_send(
    struct session *session, const struct write_set *set, int *statements, struct error *err);

#endif
