/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_purge.h - removing changes that are older than they are kept, and feeds that are over.
 */
#ifndef STORE_FEED_FEED_PURGE_H
#define STORE_FEED_FEED_PURGE_H

#include "store/session/worker.h"

/* A round over all feeds, of bounded work. *count is added to; *more: there is more to do now. */
MUST_USE enum status feed_purge_round(
    struct worker *store, int64_t age_s, int64_t *count, bool *more, struct error *err);

#endif
