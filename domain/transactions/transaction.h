/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction.h - eventually consistent transactions: steps, their outcomes, and the state machine.
 *
 *             submit            first step           last step
 *   (none) -----------> PENDING -----------> RUNNING ----------> DONE
 *                          |                   |  precondition
 *                          |                   +------------> FAILED   the effects of its steps stay: see timeline
 *                          |                   |  too many failures
 *                          +-------------------+------------> DEAD     an operator can redrive it
 */
#ifndef DOMAIN_TRANSACTIONS_TRANSACTION_H
#define DOMAIN_TRANSACTIONS_TRANSACTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/entities/etag.h"
#include "domain/keys/entity_key.h"
#include "domain/properties/property.h"

enum transaction_state {
    TRANSACTION_PENDING = 1,
    TRANSACTION_RUNNING = 2,
    TRANSACTION_DONE = 3,
    TRANSACTION_FAILED = 4,
    TRANSACTION_CANCELLED = 5,
    TRANSACTION_DEAD = 6,
};

enum step_kind {
    STEP_INSERT_OR_REPLACE = 1,
    STEP_INSERT_OR_MERGE = 2,
    STEP_DELETE_IF_EXISTS = 3,
    STEP_MOVE = 4,
    STEP_WRITE_FILE = 5, /* this and later kinds have their effect outside the database: effect.h */
    STEP_APPEND_FILE = 6,
    STEP_PUT_BLOB = 7,
    STEP_DELETE_BLOB = 8,
    STEP_HTTP_CALL = 9,
    STEP_KIND_LAST = STEP_HTTP_CALL,
};

struct step {
    enum step_kind kind;
    struct str table; /* of the entity, for a move of its source */
    struct entity_key key;
    struct property_list properties; /* of the two upserts */
    struct str to_table;             /* of moves */
    struct entity_key to_key;
    struct condition condition; /* on the entity, for a move on its source */
    int64_t expires;            /* ticks, 0: never; of the two upserts */
    /* of the entity, for a move of its source; empty: the transaction's */
    struct str account;
    struct str to_account; /* of moves */
    /*
     * the table of that name when the transaction was submitted; 0: stored by a version that did
     * not record it
     */
    int64_t table_id;
    int64_t to_table_id; /* of moves */
    /* of effects; table and key name the entity that is the content, table empty: `content` is it */
    struct str path; /* of a file, the name of a blob, or the URL of a call */
    struct str content;
    bool deletes_entity;
    struct str content_type; /* of blobs and calls: the media type */
    /* of blobs: the condition on what the name points to */
    struct str if_match;
    bool if_absent;
    bool uses_put; /* of calls: the method is PUT, not POST */
};

/* What an effect has done; no digest: the step has none. */
struct receipt {
    int64_t size;
    struct str digest;   /* SHA-256 of what was written, of calls that of the answer */
    int64_t offset;      /* of appends: in the file */
    struct str etag;     /* of blobs that were put */
    int32_t http_status; /* of calls */
};

/* One attempt of one step, as the timeline shows it. */
struct attempt {
    int32_t step;   /* from 0 */
    int32_t number; /* from 1, per step */
    struct str worker;
    int64_t started, ended; /* ticks */
    struct str etag_before, etag_after;
    enum status status;
    struct str reason; /* e.g. SOURCE_ABSENT, UPDATE_CONDITION_NOT_SATISFIED; may be empty */
    struct str message;
    /* the intents that the step has made, as bytes: consistency.h; empty: none */
    struct str left_open;
    struct receipt receipt;
};

struct transaction {
    struct str id;
    struct str account;
    enum transaction_state state;
    struct step *steps;
    size_t step_count;
    int32_t steps_done;
    struct attempt *timeline;
    size_t attempt_count;
    int64_t submitted; /* ticks */
    int64_t revision;  /* grows with every change */
};

/*
 * Whether two lists of steps are equal. Table names are compared without case, and table ids are
 * ignored, so a repeat is recognised even if the tables have been replaced.
 */
bool transaction_same_steps(
    const struct step *a, size_t a_count, const struct step *b, size_t b_count, struct arena *arena);

/*
 * The stored forms of steps and timeline; equal steps have equal bytes. Decoded texts borrow the
 * bytes; false: the bytes are not of this form.
 */
struct str transaction_encode_steps(const struct step *steps, size_t count, struct arena *arena);
bool transaction_decode_steps(struct str bytes, struct arena *arena, struct step **out, size_t *count);
struct str transaction_encode_timeline(const struct attempt *attempts, size_t count, struct arena *arena);
bool transaction_decode_timeline(struct str bytes, struct arena *arena, struct attempt **out, size_t *count);

/*
 * Add an attempt, with the next number of its step, to the timeline. Beyond
 * LIMIT_TRANSACTION_ATTEMPTS the oldest failed attempt is dropped, so the history of a step that is
 * redriven repeatedly stays bounded.
 */
void transaction_note_attempt(
    struct transaction *transaction, const struct attempt *attempt, struct arena *arena);

/*
 * transaction_touched: the digests of all keys that the steps name, ascending, without duplicates.
 * transaction_key_digest: the digest of one key; an empty account means the owner's. Accounts and
 * tables are identified by name. Different keys can have equal digests.
 */
size_t transaction_touched(const struct transaction *transaction, struct arena *arena, int64_t **out);
int64_t transaction_key_digest(
    struct str owner, struct str account, struct str table, const struct entity_key *key);

/* Whether the step names an entity, or writes one. */
bool transaction_step_has_entity(const struct step *step);

static inline bool transaction_step_is_blob(const struct step *step)
{
    return step->kind == STEP_PUT_BLOB || step->kind == STEP_DELETE_BLOB;
}

static inline bool transaction_step_is_effect(const struct step *step)
{
    return step->kind >= STEP_WRITE_FILE;
}

/*
 * 1..128 printable ASCII characters; 1..100 steps, no address twice in one step, effects without an
 * effect_problem. INVALID_INPUT.
 */
MUST_USE enum status transaction_check(const struct transaction *transaction, struct error *err);

/*
 * A UUIDv7 contains the time at which it was made. One that is older than retention_s at `now`
 * (ticks) is refused: TRANSACTION_ID_EXPIRED. Other ids contain no time and are accepted.
 */
MUST_USE enum status transaction_id_check_age(
    struct str id, int64_t now, int64_t retention_s, struct error *err);

static inline bool transaction_is_final(enum transaction_state state)
{
    return state >= TRANSACTION_DONE;
}

#endif
