/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - what a program remembers of a database, to notice that the database was put back:
 * restored from a cold copy, a volume snapshot, or a base backup of an earlier time.
 *
 * Within one system and timeline the flushed log only grows: a crash loses only what was not
 * flushed. Pure.
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
    int64_t lsn;   /* a position in this timeline's log, up to which it was flushed */
};

/*
 * Guard G29: whether the database was put back behind the remembered state. now: the present state,
 * with the position of the next record as its lsn. If the database is another system, or its epoch
 * has been raised since, the answer is false: in the second case the loss is known already.
 */
bool history_was_put_back(const struct history *remembered, const struct history *now);

/* Remember `seen`: the later of each number or, if `seen` is of another system, `seen` alone. */
void history_remember(struct history *known, const struct history *seen);

/*
 * The remembered state as signed text, for storage that is not trusted. false: the text was not
 * made with this key.
 */
struct str history_seal(const struct history *history, const struct token_key *key, struct arena *arena);
bool history_open(struct str text, const struct token_key *key, struct arena *arena, struct history *out);

#endif
