/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - how far a program has seen a database come, to notice one that was put back: restored from a cold
 * copy, a volume snapshot, or a base backup of an earlier time.
 *
 * Within one system and timeline what is on disk only grows: a crash takes back what was not flushed, nothing else.
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
    int64_t system_id; /* of the PostgreSQL cluster; 0: nothing is known */
    int64_t timeline;
    int64_t epoch; /* of the catalogue */
    int64_t lsn;   /* a place in the log of this timeline: what is remembered was flushed up to here */
};

/*
 * Guard G29: has the database been put back behind what is remembered? now: as it is found, its lsn where the next
 * record would go. Of another system nothing is said; an epoch that was raised since forgives what was lost before.
 */
bool history_was_put_back(const struct history *remembered, const struct history *now);

/* Remember `seen` too: the later of both, or `seen` if it is of another system. */
void history_remember(struct history *known, const struct history *seen);

/* As signed text, for a place that is not trusted. false: not made with this key. */
struct str history_seal(const struct history *history, const struct token_key *key, struct arena *arena);
bool history_open(struct str text, const struct token_key *key, struct arena *arena, struct history *out);

#endif
