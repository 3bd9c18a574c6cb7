/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_rows.h - writes intents, in the open transaction.
 */
#ifndef STORE_SESSION_INTENT_ROWS_H
#define STORE_SESSION_INTENT_ROWS_H

#include "domain/intents/intent.h"
#include "store/session/session.h"

/* Send the intents in one statement, and their traces if one of them has any. */
MUST_USE enum status intent_rows_send(
    struct session *session, const struct intent *intents, size_t count, struct error *err);

/* Take the answer: fills the ctids of the intents. A caller that does not need them leaves the answer to pg_end. */
MUST_USE enum status intent_rows_take(
    struct session *session, struct intent *intents, size_t count, struct error *err);

#endif
