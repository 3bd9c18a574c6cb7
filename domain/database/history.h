/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - what a program remembers of a database, to notice that the database was put back: restored from a cold
 * copy, a volume snapshot, or a base backup of an earlier time.
 *
 * Within one system and timeline the flushed log only grows: a crash takes back only what was not flushed.
 *
 * Pure.
 */
#ifndef DOMAIN_DATABASE_HISTORY_H
#define DOMAIN_DATABASE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "domain/token.h"

struct history {
    int64_t system_id; /* of the PostgreSQL cluster; 0: nothing is remembered */
    int64_t timeline;
    int64_t epoch; /* of the catalogue */
    int64_t lsn;   /* a position in the log of this timeline; the log was flushed up to it */
};

/*
 * Guard G29: whether the database has been put back behind the remembered state. now: the state of the database, with
 * lsn where the next record would go. The answer is false for another system, and if the epoch has been raised since:
 * what was lost before is then known.
 */
bool history_was_put_back(const struct history *remembered, const struct history *now);

/* Add `seen` to what is remembered: the later of both counts, or `seen` if it is of another system. */
void history_remember(struct history *known, const struct history *seen);

/*
 * The remembered state as signed text, for storage that is not trusted. false: the text was not made with this key.
 */
struct str history_seal(const struct history *history, const struct token_key *key, struct arena *arena);
bool history_open(struct str text, const struct token_key *key, struct arena *arena, struct history *out);

#endif
