/*
 * change_write.h - the changes of a batch of writes, for the feeds of their tables.
 */
#ifndef STORE_CHANGE_WRITE_H
#define STORE_CHANGE_WRITE_H

#include "store/session.h"
#include "store/write_set.h"

/*
 * Send the changes of all rows whose tables keep a feed, or nothing. The last class of locks before requests,
 * intents and commits: feeds, sorted. *statements counts what was sent.
 */
MUST_USE enum status change_write_send(
    struct session *session, const struct write_set *set, int *statements, struct error *err);

#endif
