/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lag.h - how far the workers have come.
 */
#ifndef STORE_INTENTS_LAG_H
#define STORE_INTENTS_LAG_H

#include "domain/operations/operation.h"
#include "store/session/session.h"

/* Lag over all bucket ranges, as the relay last saw it. */
MUST_USE enum status lag_read(struct session *session, struct lag *out, struct error *err);

/* Of a strong index: there is none as of now, by the database's clock. */
MUST_USE enum status lag_read_strong(struct session *session, struct lag *out, struct error *err);

#endif
