/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remembered.h - what a program remembers of the progress of its database, to notice a restore
 * (guard G29): in memory while it runs, and across restarts as a signed hint that is stored
 * elsewhere (in Redis).
 *
 * The hint is not trusted: it counts only if it is signed with this database's key, and a program
 * takes only one. So a forged hint has no effect. An old hint that is presented again can cost one
 * epoch per start of the program, if it is of the present epoch. A lost hint means that nothing is
 * remembered.
 *
 * All functions are thread-safe.
 */
#ifndef STORE_CONNECTION_REMEMBERED_H
#define STORE_CONNECTION_REMEMBERED_H

#include "domain/database/history.h"

struct remembered;

struct remembered *remembered_new(void);
void remembered_free(struct remembered *remembered); /* accepts NULL */

/* Whether the program has not offered a hint yet. */
bool remembered_wants_hint(struct remembered *remembered);

/*
 * Offer the hint that was stored elsewhere; empty: there is none. It is judged when the database's
 * history is next read. Only the first call counts.
 */
void remembered_offer(struct remembered *remembered, struct str hint);

/*
 * The hint to be stored elsewhere. false: there is none yet, or the offered one has not been
 * judged.
 */
bool remembered_hint(struct remembered *remembered, struct arena *arena, struct str *out);

/* Whether this program has raised the epoch since the last call, and to which number. */
bool remembered_take_raise(struct remembered *remembered, int64_t *epoch);

/* ---- used by epoch.c ---- */

/*
 * Judge an offered hint with the database's key, and return what is remembered of this database.
 * system_id 0: nothing.
 */
struct history remembered_judge(struct remembered *remembered, const struct token_key *key);

/*
 * Remember the state of the database, which was found to be no older than what is remembered. The
 * log must be flushed up to seen->lsn.
 */
void remembered_confirm(struct remembered *remembered, const struct history *seen);

void remembered_raised(struct remembered *remembered, int64_t epoch);

#endif
