/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remembered.h - what a program remembers of how far its database had come, to notice a restore (guard G29): in memory
 * while it runs, and over a restart as a signed hint that it keeps elsewhere (in Redis).
 *
 * The hint is not trusted: it counts only when this database's key has signed it, and it is asked for once per
 * program. So one that was forged does nothing, and one that was kept and is given again can cost an epoch per
 * program's start where it is of the epoch that holds; one that is lost is nothing remembered.
 *
 * All functions may be called from any thread.
 */
#ifndef STORE_SESSION_REMEMBERED_H
#define STORE_SESSION_REMEMBERED_H

#include "domain/database/history.h"

struct remembered;

struct remembered *remembered_new(void);
void remembered_free(struct remembered *remembered); /* accepts NULL */

/* Whether the hint is still to be asked for: true until remembered_offer. */
bool remembered_wants_hint(struct remembered *remembered);

/* What was kept elsewhere; empty: nothing. Judged when the database is next looked at, and only the first. */
void remembered_offer(struct remembered *remembered, struct str hint);

/* What to keep elsewhere. false: nothing yet, or the hint kept there has not been judged. */
bool remembered_hint(struct remembered *remembered, struct arena *arena, struct str *out);

/* Whether this program has raised the epoch since it was asked last, and to which. */
bool remembered_take_raise(struct remembered *remembered, int64_t *epoch);

/* ---- for epoch.c ---- */

/* All that is remembered of the database whose key this is; system_id 0: nothing. */
struct history remembered_judge(struct remembered *remembered, const struct token_key *key);

/* The database was looked at and is no older than what is remembered. seen: its lsn is flushed. */
void remembered_confirm(struct remembered *remembered, const struct history *seen);

void remembered_raised(struct remembered *remembered, int64_t epoch);

#endif
