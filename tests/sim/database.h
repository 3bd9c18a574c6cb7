/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.h - replaces PostgreSQL: rows with locks, transactions that end with their actor, commits in one step.
 * Shared by the files that replace the store.
 */
#ifndef TESTS_SIM_DATABASE_H
#define TESTS_SIM_DATABASE_H

#include "base/error.h"
#include "domain/catalogue/catalogue.h"
#include "domain/indexes/reconcile_plan.h"
#include "domain/intents/intent.h"
#include "domain/writes/write_plan.h"
#include "store/intents/scan_reach.h"
#include "store/session/worker.h"
#include "tests/sim/sim.h"

enum {
    KEYS = 3,
    VALUES = 4, /* of an entity: 0 absent, else 1..3 */
    MAX_INTENTS = 64,
    MAX_ENTRIES = 16,
    MAX_TRANSACTIONS = 6,
    STEPS = 2,
    TABLE_ID = 5,
    INDEX_ID = 70,
};

struct lock {
    int owner;
};

/* An entity. */
struct sim_row {
    struct lock lock;
    struct entity_key key;
    int value;
    int64_t version; /* also of a dead row */
};

/* A row of index_state. */
struct sim_state {
    struct lock lock;
    int64_t applied;
    char manifest[256];
    size_t manifest_len;
};

/* An entry of the index. */
struct sim_entry {
    bool there;
    int source; /* the key whose entry it is */
    char partition[64], row[64];
    size_t partition_len, row_len;
    int64_t version;
};

struct sim_intent {
    bool open;
    struct intent intent;
    int what; /* a key, or a transaction */
    int64_t created_us;
};

/* A row of dead_letters, for a key or a transaction. */
struct sim_dead_letter {
    int32_t failures;
    bool dead;
    int64_t next_us;
};

struct sim_step {
    bool moves;
    int key, to, value; /* a move has no value */
    int effects;        /* how often it took effect: more than once is an error */
};

struct sim_transaction {
    struct lock lock;
    bool there, failed;
    struct sim_step steps[STEPS];
    int steps_done;
    char name[8];
};

struct database {
    struct sim_row rows[KEYS];
    struct sim_state states[KEYS];
    struct sim_entry entries[MAX_ENTRIES];
    struct sim_intent intents[MAX_INTENTS];
    int intent_count;
    struct sim_dead_letter key_dead_letters[KEYS], transaction_dead_letters[MAX_TRANSACTIONS];
    struct sim_transaction transactions[MAX_TRANSACTIONS];
    int transaction_count;
    int64_t clock_offset_us; /* its clock may be stepped */
    int64_t down_until_us;
    bool in_transaction[ACTORS];
    int range_holder[LEASE_RANGES];
    int64_t range_until_us[LEASE_RANGES];
    int poison;      /* a key whose reconcile fails, NONE: none */
    int poison_left; /* how many more times */
};

extern struct database db;
extern const char *const sim_cities[];
extern struct table sim_table; /* with one index over City */

int64_t db_clock_us(void);

/* BEGIN: fails while the database is down. */
enum status db_begin(const char *what, struct error *err);

/* Wait up to a second for a row's lock. */
enum status db_lock(struct lock *lock, const char *what, struct error *err);

/*
 * COMMIT. true: the caller changes the rows at once, and then returns the result of db_committed. false: the
 * transaction had ended before, or the commit failed; err says which.
 */
bool db_may_commit(const char *what, struct error *err);
enum status db_committed(struct error *err);

/* The same for a commit that does not wait for the disk: a crash may undo it until a later commit waits. */
bool db_may_commit_unflushed(const char *what, struct error *err);
enum status db_committed_unflushed(struct error *err);
void db_rollback(void);

/* Draw an id before the commit; add the intent with it at the commit. */
struct intent_id db_draw_id(void);
void db_add_intent(struct intent_id id, enum intent_kind kind, int what, struct intent *out);

struct row_state db_row_state(int key, int value, int64_t version);
void db_write(int key, int value); /* a new version of a locked row */
int db_key_of(const struct intent *intent);
bool db_is_open(int kind, int what);

/* After every commit. */
void check_invariants(void);

/* ---- what a step of the trace is about, and how that stands (check.c); the texts are static ---- */

const char *city_of(int value);
const char *about_key(int key);
const char *about_write(int key); /* the key, and the range of its intents */
const char *about_range(int range);
const char *about_transaction(int number, const struct sim_step *step);

void trace_key(int key);
void trace_transaction(int number);

#endif
