/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed_purge.h - removes changes that are past their retention, and feeds that no table keeps any
 * more.
 */
#ifndef STORE_FEED_FEED_PURGE_H
#define STORE_FEED_FEED_PURGE_H

#include "base/error.h"

struct worker;

/*
 * Run a round of bounded work over all feeds. The number of removed changes is added to *count;
 * *more: more can be removed now.
 */
MUST_USE enum status feed_purge_round(
    struct worker *store, int64_t age_s, int64_t *count, bool *more, struct error *err);

#endif
