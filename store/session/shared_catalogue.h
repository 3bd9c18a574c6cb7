/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_catalogue.h - the newest catalogue that the sessions of a program have read, so that each
 * version is read once and is in memory once.
 *
 * While one session reads, others that need a newer catalogue wait and then take its result. All
 * functions are thread-safe.
 */
#ifndef STORE_SESSION_SHARED_CATALOGUE_H
#define STORE_SESSION_SHARED_CATALOGUE_H

#include "base/error.h"
#include "domain/catalogue/catalogue.h"
#include "store/connection/pg.h"

struct shared_catalogue;

struct shared_catalogue *shared_catalogue_new(void);
void shared_catalogue_free(struct shared_catalogue *shared); /* accepts NULL */

/*
 * A catalogue, and a time (clock_monotonic_us): the database had the catalogue at that time or
 * later.
 */
struct catalogue_reading {
    struct catalogue *catalogue; /* a reference of the caller's */
    int64_t asked_us;
};

/* As since_us: no shared reading is new enough, so the caller's own connection reads. */
#define SHARED_CATALOGUE_OWN INT64_MAX

/*
 * Get a catalogue that is not `known` and that the database had at since_us or later: one that
 * another session has read; or else this call reads it on its connection and shares it. known: the
 * caller's catalogue; may be NULL.
 *
 * A caller waits for another session's reading as long as it would wait for its own connection, and
 * then reads by itself, in what is left of that time, at least a fifteenth of it.
 */
MUST_USE enum status shared_catalogue_get(struct shared_catalogue *shared, struct pg *pg,
    const struct catalogue *known, int64_t since_us, struct catalogue_reading *out, struct error *err);

#endif
