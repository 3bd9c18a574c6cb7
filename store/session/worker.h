/*
 * worker.h - what workers do in PostgreSQL. Each function is one short transaction, or a few that
 * may each be the last: a crash between any two leaves work that another worker carries on.
 *
 * A worker is a connection with its catalogue; it belongs to one thread, connects by itself and
 * again after a loss. Every function returns STATUS_UNAVAILABLE when there is no database (at most once a
 * second it tries to connect) and changes nothing then.
 */
#ifndef STORE_SESSION_WORKER_H
#define STORE_SESSION_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "domain/intents/intent.h"
#include "domain/intents/queue_control.h"
#include "store/intents/scan_reach.h"
#include "store/session/remembered.h"
#include "store/session/stalled_sessions.h"

struct worker;

/* See pg_allow_data_loss. */
void worker_allow_data_loss(bool allowed);

/* worker: the name that shows in leases and timelines. Does not connect yet. */
MUST_USE enum status worker_open(
    const char *postgres, const char *worker, struct worker **out, struct error *err);
void worker_close(struct worker *store);

/* Notice restores of the database by what this remembers; borrowed, shared by the worker's threads. */
void worker_remember(struct worker *store, struct remembered *remembered);

/* Look how far the database has come: what a new connection does too, for what is remembered to be recent. */
MUST_USE enum status worker_look_at_history(struct worker *store, struct error *err);

/*
 * Which connection to the database this is: another number than before after each reconnect. Reconciles do not wait for
 * the disk, so whoever remembers what is no longer open must forget it then.
 */
int64_t worker_connection(const struct worker *store);

/*
 * To be called after COMMIT, from the store's own thread, with the intents that a transaction's step has
 * caused: hints for the queue, lost without harm.
 */
void worker_observe(struct worker *store,
    void (*intents_committed)(void *context, const struct intent *intents, size_t count), void *context);

/* ---- reconciling source keys (the protocol's heart) ---- */

struct reconcile_counts {
    int64_t keys; /* with something open */
    int64_t entries_written, entries_deleted;
    int64_t intents_removed;
    int64_t violations;
};

/*
 * Make every live index agree with these source keys, in one transaction: fence, catalogue, lock the
 * keys' state rows, remove their intents, read the sources, write entries and manifests, commit. `force`: also
 * keys without an open intent (the builder's); otherwise those are left alone. Intents of kind INTENT_RECONCILE
 * only. Keys may repeat. Where the sources have more than 16 MB, each half has a transaction of its own, and so on.
 *
 * A failure: nothing happened, but for what the transactions before it did. counts is added to.
 *
 * Unless forced, a crash of the database within the next moment may take it all back: then the intents are open again.
 */
MUST_USE enum status reconcile_keys(struct worker *store, const struct intent *intents, size_t count,
    bool force, struct reconcile_counts *counts, struct error *err);

/* ---- transactions ---- */

/*
 * Carry out the next step of the transaction an intent of kind INTENT_TRANSACTION names. *finished: none is
 * left (or it was finished before, or is unknown) and the intent is gone.
 * A step that fails for a reason of its own (its precondition) ends the transaction as FAILED and returns
 * STATUS_OK with *finished true.
 */
MUST_USE enum status transaction_work_step(
    struct worker *store, const struct intent *intent, bool *finished, struct error *err);

/* ---- failures: durable counts and dead letters ---- */

/*
 * Count a failure of this intent's key in a transaction of its own: the row says RETRYING, with the cause
 * and the time before which nobody tries again. *failures: the new count; 0: the key has nothing open any
 * more (somebody else has done it), so there is nothing to count.
 */
MUST_USE enum status dead_letter_work_count_failure(struct worker *store, const struct intent *intent,
    const struct error *cause, int32_t *failures, struct error *err);
MUST_USE enum status dead_letter_work_retry_after(
    struct worker *store, const struct intent *intent, int64_t delay_ms, struct error *err);

/*
 * Turn it into a dead letter and remove the key's intents, in one commit; a transaction becomes DEAD. A key
 * with nothing open is left alone.
 */
MUST_USE enum status dead_letter_work_bury(struct worker *store, const struct intent *intent, struct error *err);

/* ---- work that never reported: its worker may have died of it ---- */

/*
 * Count, in a transaction of its own, that the work of this intent's key is about to begin on its own. *before: how often
 * it had begun, and never reported since. A counted failure is a report, and so is dead_letter_work_report. Nobody scans
 * it for ten seconds. A key with nothing open is not counted, and *before is 0.
 */
MUST_USE enum status dead_letter_work_count_delivery(
    struct worker *store, const struct intent *intent, int32_t *before, struct error *err);

/* It has ended without saying anything about the work: the database was away, the worker stops. */
MUST_USE enum status dead_letter_work_report(
    struct worker *store, const struct intent *intent, struct error *err);

/* A consumer by its name, and one of its lives by anything that no other life had. */
struct claim_owner {
    const char *holder, *life;
};

/*
 * Before a batch is run that did not come from the queue: note it as in hand for so long, in place of the batch
 * before. suspects: which of them are keys that have begun before without a report.
 */
MUST_USE enum status claim_work_take(struct worker *store, const struct claim_owner *owner,
    int64_t hold_ms, const struct intent *intents, size_t count, bool *suspects, struct error *err);
MUST_USE enum status claim_work_renew(
    struct worker *store, const struct claim_owner *owner, int64_t hold_ms, struct error *err);
MUST_USE enum status claim_work_release(
    struct worker *store, const struct claim_owner *owner, struct error *err);

/*
 * What is still open of batches whose consumers have died becomes suspect: it has begun once without a report.
 * STATUS_TIMEOUT: others are at some of it, which is left for the next time.
 */
MUST_USE enum status claim_work_suspect_dead(
    struct worker *store, const struct claim_owner *owner, struct error *err);

/* ---- leases, scanning, lag ---- */

/*
 * Renew the lanes this worker holds and take free ones, for lease_ms. Leases spread work; nothing relies
 * on them.
 */
MUST_USE enum status lease_work_hold(
    struct worker *store, int64_t lease_ms, bool held[LEASE_RANGES], struct error *err);
MUST_USE enum status lease_work_release(struct worker *store, struct error *err);

/* Which work is meant: of each queue and kind the intents made before a time, 0: none; by queue_slot. */
struct scan_scope {
    int queues;
    int64_t until_us[MAX_QUEUES * WORK_KINDS];
};

/* What is looked for in a lane. */
struct intent_scan {
    int lane;
    const struct scan_scope *scope; /* NULL: all work */
    const char *
        from_id; /* 32 hexadecimal digits: what lies before is not looked at; "": from the start (guard G7: do
                            so every few minutes) */
    bool rest_only; /* only places of which an earlier scan has left some: `open` of the reach */
    int64_t min_age_ms;
    size_t most;
};

struct intents_found {
    struct intent *intents; /* in the arena; each place's oldest first */
    size_t count;
    char low_id
        [33]; /* a safe from_id for later: a minute behind the lane's oldest open intent; "" of a rest only */
};

/*
 * Open intents of a lane that are old enough and whose key is not waiting for its next retry: of every bucket (of every
 * kind of work in it, with a scope) its share, scan_reach.h, of all `most` at most, in turn. Of places that an
 * earlier scan has not read to the end it goes on behind what that has returned. reach: of the lane, and of scans with
 * the same kind of scope (none, or some); it moves on with a scan that succeeds.
 */
MUST_USE enum status lease_work_scan(struct worker *store, const struct intent_scan *what,
    struct scan_reach *reach, struct arena *arena, struct intents_found *out, struct error *err);

/* How work is spread over queues and how operators control these, by queue_slot; *any: some queue is controlled. */
MUST_USE enum status queue_work_read_controls(struct worker *store, struct queue_map *map,
    struct queue_control out[MAX_QUEUES * WORK_KINDS], bool *any, struct error *err);

/* How many of `wanted` intents of a queue that is limited may be worked on now; all, if it is not limited any more. */
MUST_USE enum status queue_work_take_permits(
    struct worker *store, int queue, int kind, int64_t wanted, int64_t *granted, struct error *err);

/* Tell how much has been applied since it was told last. */
struct applied {
    int64_t table_id;
    int16_t queue, kind;
    int64_t count;
};
MUST_USE enum status queue_work_add_applied(
    struct worker *store, const struct applied *applied, size_t count, struct error *err);

/* What is open in the lanes held, transactions included: in all, by lane, and by queue_slot. */
struct backlog {
    int queues;     /* intents are spread over so many: to be set */
    int64_t lag_us; /* age of the oldest open intent of a source key */
    int64_t open_intents;
    int64_t lanes[LEASE_RANGES];
    struct {
        int64_t open_intents, lag_us;
    } work[MAX_QUEUES * WORK_KINDS];
};

/*
 * Look at what is open and store, in one snapshot, for each lane held up to when everything acknowledged has been
 * applied: as_of = min(now, time of the oldest open intent of a source key); unknown while the time of an open one is
 * ahead of the clock. Counts stay as they were in *backlog
 * unless `counts` asks for new ones, which are estimates where the table of intents is larger than 32 MB; but
 * nothing open is 0, and something never.
 */
MUST_USE enum status backlog_work_update(struct worker *store, const bool held[LEASE_RANGES],
    bool counts, struct backlog *backlog, struct error *err);

/* ---- long-running operations: index builds, drops, purges ---- */

/*
 * Do one chunk of one running operation that nobody else is working on. *worked false: there is none.
 * Each chunk ends with its checkpoint committed.
 */
MUST_USE enum status job_work_run(struct worker *store, bool *worked, struct error *err);

/* ---- sweeping ---- */

/* End sessions of this role whose program has stood still inside a transaction for STALLED_MS. */
MUST_USE enum status sweep_end_stalled(struct worker *store, struct stalled_sessions *out, struct error *err);

struct sweep_counts {
    int64_t expired, dead_rows, markers, transactions, requests, changes, rates, hands;
};

/* How old, in seconds by the database's clock, what is removed has to be. */
struct sweep_ages {
    int64_t dead_row_s;
    int64_t transaction_s; /* since its end */
    int64_t request_s;     /* since it was decided */
    int64_t change_s;      /* since it was made */
};

/*
 * One round: delete entities that are due, by ordinary deletes with their intents; purge dead rows through the floor (guard G3), commit markers of dead lanes, finished transactions,
 * records of requests, changes with the feeds that are over. Bounded work: *more says that there is more to do now.
 */
MUST_USE enum status sweep_run(struct worker *store, const struct sweep_ages *ages,
    struct sweep_counts *counts, bool *more, struct error *err);

#endif
