/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write_plan.h - decides writes: (current rows, operations) -> (outcomes, rows to write, intents).
 *
 * This is the only place where the effect of a write is decided. Pure: the caller has read the rows
 * under their locks, and passes the clock and the floor as arguments. Operations are planned in
 * order of arrival over one set of rows. Each takes effect as a whole or not at all: if the
 * condition of an operation fails, the operation has no effect, and the others continue.
 *
 *     version = max(stored version, floor) + 1        never repeats for a key, always grows
 *     ts      = max(stored ts + 1, clock)
 */
#ifndef DOMAIN_WRITES_WRITE_PLAN_H
#define DOMAIN_WRITES_WRITE_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/catalogue/catalogue.h"
#include "domain/entities/row_state.h"
#include "domain/feed/feed_change.h"
#include "domain/intents/intent.h"
#include "domain/limits.h"
#include "domain/operations/operation.h"
#include "domain/properties/property_parts.h"

/* Whether a write of this kind leaves the properties that it does not name as they are. */
bool write_plan_merges(enum write_kind kind);

/* The state that a plan sees: an expired entity has only its version. */
struct row_state write_plan_visible(const struct row_state *stored, bool due);

struct unique_owners;
struct strong_state;
struct held_blobs;

/* The copy rules that a write of a row may make work for. */
struct row_rules {
    const struct index *const *followers; /* whose sources are in the row's table */
    size_t follower_count;
    uint32_t first_intent; /* of the ids that are reserved for the batch: of the row's work for rules */
};

/* One key of a batch. */
struct plan_row {
    const struct table *table;
    int16_t bucket;
    struct entity_key key;
    /* the plan needs the stored properties, for a merge or because the table has indexes */
    bool reads_properties;
    /* as read under the lock; live also if it has expired, since its entries still exist */
    struct row_state stored;
    struct row_state offered; /* inserted if the key is absent */
    bool created;             /* the key was absent and the offered row was inserted */
    struct row_state now;     /* after the operations planned so far */
    /* of the batch, for what is planned: an operation's own lives until all are answered; NULL: the operation's */
    struct arena *arena;
    /* the version of `now` for which needs_intent was computed; 0: none */
    int64_t judged;
    bool needs_intent;
    /* of the batch, if the table has a unique index; otherwise NULL */
    struct unique_owners *owners;
    const struct trace_context *trace; /* of a write on the row; NULL: none is traced */
    /*
     * of the key, if an index with manifests is written with its writes; otherwise NULL:
     * strong_entries.h
     */
    struct strong_state *state;
    struct held_blobs *blobs; /* of the batch, if the table has blob_properties; otherwise NULL */
    /*
     * of a table with wide entities: the parts of the stored entity; the plan needs those to which
     * the properties of its writes, conditions and indexes belong or, if the entity is moved, all of them
     */
    struct property_parts parts;
    bool reads_all_parts;
    struct row_rules *rules; /* NULL: no copy rule has the table as that of its sources or dependents */
    /* the index of the copy rule whose worker writes; the write does not ask for this rule's copies; 0: none */
    int64_t copied_by;
};

/* The statement that a row needs after planning. */
enum row_action { ROW_KEEP, ROW_UPDATE, ROW_REMOVE };

struct write_clock {
    int64_t floor;
    int64_t ticks;
    /*
     * the database's ticks: an entity of an earlier write of the batch that expires up to this time
     * does not exist
     */
    int64_t due;
};

/* What a write is planned with besides the state of its row. */
struct write_context {
    int64_t table_id;
    struct write_clock clock;
    struct arena *arena; /* of the planned state */
    bool is_wide;        /* the table may have wide entities */
};

/*
 * Decide one write on one state. next and result are filled on success only.
 *
 * STATUS_OK
 * STATUS_EXISTS     ENTITY_ALREADY_EXISTS
 * STATUS_NOT_FOUND  RESOURCE_NOT_FOUND
 * STATUS_STALE      UPDATE_CONDITION_NOT_SATISFIED
 * STATUS_INVALID    a merged entity over its limits
 */
MUST_USE enum status write_plan_one(const struct row_state *current, const struct write *write,
    const struct write_context *context, struct row_state *next, struct write_result *result,
    struct error *err);

/*
 * The row to insert if the key is absent: the result of the first write on an absent entity, or a
 * dead row if there is no result, or if its properties are to be spread over parts.
 */
struct row_state write_plan_offer(const struct write *first, const struct write_context *context);

/*
 * Plan one operation: rows[i] is the row of writes[i]. Fills the operation's outcome (status,
 * error, out.write) and updates the rows' `now`.
 */
void write_plan_operation(
    struct operation *operation, struct plan_row *const *rows, struct write_clock clock);

/* The statement that the transaction must run for this row. */
enum row_action write_plan_action(const struct plan_row *row);

/*
 * Whether the planned state changes any entry of an index whose entries follow their writes, so
 * that an intent is needed.
 */
bool write_plan_needs_intent(struct plan_row *row, struct arena *arena);

/*
 * Whether the offered state needs an intent whatever is stored: an index that keeps versions has an
 * entry of it, or it cannot have its entry. false: that depends on what is stored.
 */
bool write_plan_always_needs_intent(const struct plan_row *row, struct arena *arena);

/*
 * Take what the upsert of a row that was not read has returned, as the planned state. If its table
 * has indexes, write_plan_needs_intent is true from here on (guard G75).
 */
void write_plan_take_upsert(struct plan_row *row, int64_t version, int64_t ts);

/* Work of a copy rule that the write of a row makes. */
struct rule_work {
    enum intent_kind kind; /* INTENT_COPY or INTENT_VISIT */
    int64_t index_id;
    uint32_t slot; /* the rule's place among those of the row */
};
enum { MAX_RULE_WORK = LIMIT_INDEXES_PER_TABLE + LIMIT_COPY_FOLLOWERS };

/* The places that a row has for this work: one for each rule of its table, then one for each follower. */
size_t write_plan_rule_slots(const struct plan_row *row);

/* Fill the work that the planned state makes; returns how much it is. */
size_t write_plan_rule_work(const struct plan_row *row, struct rule_work out[static MAX_RULE_WORK]);

/*
 * What the change feed records about this row. An expired entity exists until it is deleted, so
 * between two inserts there is always a delete.
 */
enum feed_change_kind write_plan_change(const struct plan_row *row);

/*
 * Whether the feed leaves out the properties of the entity: it has more than PARTS_MAX_WHOLE_BYTES, or parts that were
 * not read.
 */
bool write_plan_leaves_out(const struct plan_row *row);

#endif
