/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag_work.h - how far all workers together are behind, for one of them.
 */
#ifndef STORE_INTENTS_LAG_WORK_H
#define STORE_INTENTS_LAG_WORK_H

#include "store/intents/lag.h"
#include "store/session/worker.h"

/*
 * Read the lag over all bucket ranges, as the relays have stored it last. An as_of of 0: not known.
 *
 * Statuses: those of worker_attempt.
 */
MUST_USE enum status lag_work_read(struct worker *store, struct lag *out, struct error *err);

#endif
