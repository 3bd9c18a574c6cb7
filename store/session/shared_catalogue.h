/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_catalogue.h - the newest catalogue that the sessions of a program have read, so that each version is read once
 * and held once.
 *
 * While one session reads, others that need a newer catalogue wait for it, and then take what it has read. All
 * functions may be called from any thread.
 */
#ifndef STORE_SESSION_SHARED_CATALOGUE_H
#define STORE_SESSION_SHARED_CATALOGUE_H

#include "base/error.h"
#include "domain/catalogue/catalogue.h"
#include "store/connection/pg.h"

struct shared_catalogue;

struct shared_catalogue *shared_catalogue_new(void);
void shared_catalogue_free(struct shared_catalogue *shared); /* accepts NULL */

/* A catalogue, and a time (clock_monotonic_us) at which, or later, the database had it. */
struct catalogue_reading {
    struct catalogue *catalogue; /* a reference of the caller */
    int64_t asked_us;
};

/* asked_us of no reading reaches it: the caller's own connection reads. */
#define SHARED_CATALOGUE_OWN INT64_MAX

/*
 * A catalogue that is not `known` and that the database had at since_us or later: one that another session has read, or
 * else one that this call reads on its connection and shares with the other sessions. known: the caller's catalogue;
 * may be NULL.
 *
 * A caller waits for another session's reading as long as for its own connection, and then reads by itself.
 */
MUST_USE enum status shared_catalogue_get(struct shared_catalogue *shared, struct pg *pg,
    const struct catalogue *known, int64_t since_us, struct catalogue_reading *out, struct error *err);

#endif
