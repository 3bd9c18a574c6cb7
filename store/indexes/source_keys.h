/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_keys.h - the source keys of a batch of intents: each once, in the order of locks, with
 * what was read about them while their state rows were locked.
 */
#ifndef STORE_INDEXES_SOURCE_KEYS_H
#define STORE_INDEXES_SOURCE_KEYS_H

#include "domain/indexes/reconcile_plan.h"
#include "domain/intents/intent.h"
#include "store/session/session.h"

struct source_key {
    int64_t table_id;
    int16_t bucket;
    struct entity_key key;
    const struct table *table; /* NULL: the table was deleted */
    struct intent_ctids ctids; /* of one of the key's intents and of the source: hints */
    bool is_open;              /* the key has open intents */
    bool is_read;              /* its source has a row, which was read */
    bool is_selected;          /* the key is to be reconciled */
    int64_t applied;           /* 0: this transaction has inserted the state row */
    struct str ctid;           /* of the state row */
    struct manifest stored;
    bool is_undecodable; /* the manifest cannot be decoded */
    struct row_state source;
    uint32_t unowned; /* as in struct reconcile_case */
    struct reconcile_plan plan;
};

struct source_keys {
    struct source_key *keys;
    size_t count;
};

/* Plan the changes of a key's entries from what was read about it. */
void source_keys_plan(const struct source_key *key, struct arena *arena, struct reconcile_plan *out);

/*
 * List the source keys of the intents of kind INTENT_RECONCILE, borrowed, with their tables in the
 * session's catalogue.
 */
void source_keys_build(struct source_keys *keys, const struct session *session, struct arena *arena,
    const struct intent *intents, size_t count);

/* Some of the keys, in their order. */
struct key_list {
    struct source_key **keys;
    size_t count;
};

/* is_wanted NULL: all. */
struct key_list source_keys_list(
    const struct source_keys *keys, bool (*is_wanted)(const struct source_key *key), struct arena *arena);

/* Add arrays of the keys of the list, or of all keys, as the first four parameters. */
void source_keys_list_params(struct key_list list, struct arena *arena, struct pg_params *params);
void source_keys_params(const struct source_keys *keys, struct arena *arena, struct pg_params *params);

/* Add arrays of the properties that the entries of wide entities are made from: two parameters of source_get. */
void source_keys_add_names(const struct source_keys *keys, struct arena *arena, struct pg_params *params);

/*
 * Statements that go in one flight with the lock of the state rows, behind it; `take` takes their answers. If another
 * transaction has inserted a row first, both are called again, with is_open, is_read and source of the keys empty.
 */
struct source_flight {
    enum status (*send)(struct session *session, void *context, struct error *err);
    enum status (*take)(struct session *session, void *context, struct error *err);
    void *context;
};

/*
 * Begin a transaction that writes, and lock the state rows of all keys: first the rows that exist,
 * then the missing ones, which this transaction inserts (guard G8). Fills applied, ctid, stored and
 * is_undecodable. behind NULL: no more statements.
 *
 *   STATUS_STALE    see session_take_begin
 *   STATUS_TIMEOUT  other transactions kept inserting the missing rows
 */
MUST_USE enum status source_keys_begin(
    struct session *session, struct source_keys *keys, const struct source_flight *behind, struct error *err);

/*
 * Fill the same members from the rows of state_lock_or_create or state_get that have a position.
 */
void source_keys_take_states(struct source_keys *keys, const PGresult *states, struct arena *arena);

/* STATUS_INTERNAL: the manifest of a key cannot be decoded. */
MUST_USE enum status source_keys_check(const struct source_keys *keys, struct error *err);

/*
 * Send the statement that searches by key for the intents of the locked keys of the list: it reads them
 * (sql_intent_of_keys) or removes them (sql_intent_take, and with their traces sql_intent_take_traced).
 */
MUST_USE enum status source_keys_send_intents(
    struct session *session, struct key_list list, const struct embedded *sql, struct error *err);

/*
 * Columns of intent_take_traced.sql; intent_of_keys.sql has the first two, intent_take.sql and
 * intent_take_at.sql the first one.
 */
enum open_intent_column { OPEN_INTENT_N, OPEN_INTENT_ID, OPEN_INTENT_TRACE };

/* Set is_open of the keys of the list that the result names, which has a row for each intent. */
void source_keys_mark_open(struct key_list list, const PGresult *intents);

/* Send the statement that deletes the state rows of the keys for which is_wanted returns true. */
MUST_USE enum status source_keys_send_state_delete(struct session *session, const struct source_keys *keys,
    bool (*is_wanted)(const struct source_key *key), struct error *err);

#endif
