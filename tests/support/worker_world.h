/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_world.h - a small world for tests of workers: a database of its own with one table and its indexes, a
 * writer, and a worker.
 *
 * The table has the id TABLE_ID; its entities have the properties City and Note. Functions fail the test if the
 * database refuses a statement.
 */
#ifndef TESTS_SUPPORT_WORKER_WORLD_H
#define TESTS_SUPPORT_WORKER_WORLD_H

#include "domain/intents/intent.h"
#include "store/indexes/reconcile.h"
#include "store/intents/lease_work.h"
#include "store/session/session.h"
#include "store/session/worker.h"
#include "tests/support/postgres_server.h"

enum { TABLE_ID = 1000, BY_CITY = 2000, BY_NOTE = 2001 };

struct world {
    const char *conninfo;
    PGconn *sql; /* for preparing and inspecting data */
    struct session writer;
    struct worker *worker;
    struct arena arena;
    struct intent announced; /* the last one that a write has left, as it goes to the queue */
};

/* A world with the table People, and no index. */
void world_open(struct world *world);
void world_close(struct world *world);

/* Crash the database after test_postgres_hold_log. The worker connects again by itself. */
void world_crash(struct world *world);

struct worker *world_worker(const struct world *world, const char *name);

/*
 * An index on one property, in state READY. BY_CITY projects everything, all others keys only. width > 0: it
 * takes numbers only, so every text is a violation.
 */
void world_index(struct world *world, int64_t index_id, const char *property, int width);

/* Any declaration, in state READY; its name is made from the id, and its table is People. */
void world_add_index(struct world *world, int64_t index_id, struct index index);

/* Run SQL as a catalogue change: through the fence, with a new version. */
__attribute__((format(printf, 2, 3))) void world_change(struct world *world, const char *format, ...);

/* Insert or replace an entity in partition "p"; NULL: without this property. Returns the version. */
int64_t world_put(struct world *world, const char *row, const char *city, const char *note);
void world_delete(struct world *world, const char *row);

/* A message about a key, as the queue would deliver it. */
struct intent world_message(const char *row);

/* Reconcile one key, or all keys with an open intent. */
struct reconcile_counts world_reconcile(struct world *world, const char *row);
struct reconcile_counts world_reconcile_all(struct world *world);

/* A scan from the beginning. */
struct intents_found world_scan(struct world *world, const struct intent_scan *what);

/*
 * Invariant I2: for every index, entries = manifests = project(source), byte by byte; entries in the partition of
 * their source have no manifest. All intents must have been removed before.
 */
void world_check(struct world *world);

long long world_intents(const struct world *world);
long long world_entries(const struct world *world, int64_t index_id);

#endif
