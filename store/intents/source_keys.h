/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_keys.h - the source keys a piece of work is about: each once, in the order of locks, with what
 * was read about them under the lock of their state rows.
 */
#ifndef STORE_INTENTS_SOURCE_KEYS_H
#define STORE_INTENTS_SOURCE_KEYS_H

#include "domain/indexes/reconcile_plan.h"
#include "domain/intents/intent.h"
#include "store/connection/row_arrays.h"
#include "store/session/session.h"

struct source_key {
    int64_t table_id;
    int16_t bucket;
    struct entity_key key;
    const struct table *table; /* NULL: it is gone */
    bool is_open;              /* it has open intents */
    bool is_selected;          /* it is to be reconciled */
    int64_t applied;           /* 0: the state row was made by this transaction */
    struct str place;          /* the state row's ctid */
    struct manifest stored;
    bool is_ill; /* its manifest cannot be read */
    struct row_state source;
    uint32_t unowned; /* as in struct reconcile_case */
    struct reconcile_plan plan;
};

struct source_keys {
    struct source_key *keys;
    size_t count;
};

/* What is to be done about a key, by what was read about it. */
void source_keys_plan(const struct source_key *key, struct arena *arena, struct reconcile_plan *out);

/* The keys of the intents of kind INTENT_RECONCILE, borrowed, with their tables by the session's catalogue. */
void source_keys_build(struct source_keys *keys, const struct session *session, struct arena *arena,
    const struct intent *intents, size_t count);

/* Arrays of all of them, as the first four parameters. */
void source_keys_params(const struct source_keys *keys, struct arena *arena, struct pg_params *params);

/*
 * Begin a transaction that writes, with the state rows of all of them locked: those that are there first, then those
 * that had to be made (guard G8). Fills applied, place, stored and is_ill. STATUS_STALE: see session_take_begin;
 * STATUS_TIMEOUT: others kept making them.
 */
MUST_USE enum status source_keys_begin(struct session *session, struct source_keys *keys, struct error *err);

/* Fill the same by rows of state_hold or state_get for all of them. */
void source_keys_take_states(struct source_keys *keys, const PGresult *states, struct arena *arena);

/* STATUS_INTERNAL: the manifest of one of them cannot be read. */
MUST_USE enum status source_keys_check(const struct source_keys *keys, struct error *err);

/* Read (sql_intent_of_keys) or remove (sql_intent_take) their intents, under the lock (guard G9). */
MUST_USE enum status source_keys_send_intents(
    struct session *session, const struct source_keys *keys, const struct embedded *sql, struct error *err);

/* Of intent_of_keys.sql; intent_take.sql has the first one alone. */
enum open_intent_column { OPEN_INTENT_N, OPEN_INTENT_ID };

/* By its result, a row for each intent. */
void source_keys_mark_open(struct source_keys *keys, const PGresult *intents);

/* Delete the state rows of those keys for which is_wanted says true. */
MUST_USE enum status source_keys_send_state_delete(struct session *session, const struct source_keys *keys,
    bool (*is_wanted)(const struct source_key *key), struct error *err);

#endif
