/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.h - closing the write fence: the beginning of every change of the catalogue that writers must see (guard G1).
 *
 * Writers queue up behind an attempt to close the fence, so an attempt waits a fifth of a second only, and the pauses
 * between attempts grow: one transaction that stays open for long costs the other writers little.
 */
#ifndef STORE_SESSION_FENCE_H
#define STORE_SESSION_FENCE_H

#include "store/session/session.h"

/*
 * Begin a transaction that has the fence alone: every open writer has ended, and later ones wait. Attempts end after
 * session->fence_limit_us; between them, sessions of our own that stand still are ended
 * (store/connection/stalled_sessions.h). The caller makes its changes, bumps the version and commits.
 *
 * STATUS_OK           inside the transaction
 * STATUS_UNAVAILABLE  with reason CATALOGUE_CHANGE_BLOCKED: some transaction did not end in time; the message says
 *                     which. Without a reason: the database cannot be used
 */
MUST_USE enum status fence_close(struct session *session, struct error *err);

#endif
