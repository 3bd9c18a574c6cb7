/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fence.h - closes the write fence, which begins every change of the catalogue that writers must
 * notice (guard G1).
 *
 * Writers queue behind an attempt to close the fence, so an attempt waits a fifth of a second only,
 * and the pauses between attempts grow: a transaction that stays open for long delays other writers
 * little.
 */
#ifndef STORE_SESSION_FENCE_H
#define STORE_SESSION_FENCE_H

#include "store/session/session.h"

/*
 * Begin a transaction that holds the fence exclusively: all open writers have ended, and later ones
 * wait. The attempts end after session->fence_limit_us; between them, our own sessions that stand
 * still are ended (store/connection/stalled_sessions.h). The caller then makes its changes, raises
 * the version and commits.
 *
 *   STATUS_OK           the transaction is open
 *   STATUS_UNAVAILABLE  with reason CATALOGUE_CHANGE_BLOCKED: a transaction did not end in time, and the
 *                       message names it; without a reason: the database cannot be used
 */
MUST_USE enum status fence_close(struct session *session, struct error *err);

#endif
