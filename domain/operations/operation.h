/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.h - a request as a value: what is wanted, and what became of it.
 *
 * A handler decodes a request into an operation; the store runs all that are waiting together and fills
 * the outcome; the handler encodes it. Nothing here knows gRPC or SQL.
 *
 * Memory: everything an operation points to, inputs and outcome, lives in its arena, which belongs to
 * the call. Ownership passes to the store with store_submit and comes back with done().
 */
#ifndef DOMAIN_OPERATIONS_OPERATION_H
#define DOMAIN_OPERATIONS_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "domain/operations/dead_letter_operations.h"
#include "domain/operations/entity_operations.h"
#include "domain/operations/feed_operations.h"
#include "domain/operations/index_operations.h"
#include "domain/operations/job_operations.h"
#include "domain/operations/query_operations.h"
#include "domain/operations/queue_operations.h"
#include "domain/operations/table_operations.h"
#include "domain/operations/transaction_operations.h"

enum operation_kind {
    OPERATION_GET,
    OPERATION_WRITE,
    OPERATION_PAGE,
    OPERATION_COUNT,
    OPERATION_EXPLAIN, /* in and out: page */
    OPERATION_CHANGES,
    OPERATION_CHANGES_WAIT, /* for news, then as OPERATION_CHANGES */
    OPERATION_LOOKUP,
    OPERATION_TABLE_CREATE,
    OPERATION_TABLE_GET,
    OPERATION_TABLE_LIST,
    OPERATION_TABLE_UPDATE,
    OPERATION_TABLE_DELETE, /* outcome: runs, one purge */
    OPERATION_INDEX_CREATE,
    OPERATION_INDEX_GET,
    OPERATION_INDEX_LIST,
    OPERATION_INDEX_DROP,   /* outcome: runs */
    OPERATION_RANGE_DELETE, /* in: page, of which filter and max_plan count; outcome: runs */
    OPERATION_JOB_GET,
    OPERATION_JOB_LIST,
    OPERATION_JOB_CONTROL,
    OPERATION_JOB_WAIT, /* answers at the deadline with the state as it is */
    OPERATION_TRANSACTION_SUBMIT,
    OPERATION_TRANSACTION_GET,
    OPERATION_TRANSACTION_LIST,
    OPERATION_TRANSACTION_WAIT,
    OPERATION_TRANSACTION_CANCEL,
    OPERATION_DEAD_LETTERS_LIST,
    OPERATION_DEAD_LETTERS_REDRIVE,
    OPERATION_DEAD_LETTERS_DISCARD,
    OPERATION_QUEUES_LIST,
    OPERATION_QUEUE_CONTROL,
    OPERATION_KIND_COUNT
};

struct operation {
    enum operation_kind kind;
    struct str account;
    struct str table; /* table or index by name, where the kind needs one */
    struct arena *arena;
    const struct key_range *within;  /* reads: no other entity is there for this caller; NULL: all are */
    int64_t table_created_by;        /* ticks: only a table created by then is meant; 0: any */
    struct str wait_for_transaction; /* reads: not before it has ended; empty: at once */
    int64_t arrived_us;              /* at the store, clock_monotonic_us; 0: it is not known */
    int64_t deadline_us;             /* clock_monotonic_us; INT64_MAX: none */
    atomic_bool cancelled;

    union {
        struct operation_get get;
        struct operation_write write;
        struct operation_page page;
        struct operation_changes changes;
        struct operation_lookup lookup;
        struct operation_tables tables;
        struct operation_index index;
        struct operation_jobs jobs;
        struct operation_transaction transaction;
        struct operation_dead_letters dead_letters;
        struct operation_queues queues;
    } in;

    /* The outcome: status, and either error or out. */
    enum status status;
    struct error *error; /* in the arena; NULL when status is STATUS_OK */
    union {
        struct outcome_get get;
        struct outcome_write write;
        struct outcome_page page;
        struct outcome_changes changes;
        struct outcome_lookup lookup;
        struct outcome_tables tables;
        struct outcome_index index;
        struct outcome_jobs jobs;
        struct outcome_transaction transaction;
        struct outcome_dead_letters dead_letters;
        struct outcome_queues queues;
    } out;

    /* Called once, from a thread of the store, when the outcome is there. It must not block. */
    void (*done)(struct operation *operation);
    struct operation *next;                /* the store's own, while it holds the operation */
    int64_t waits_since_us, asks_again_us; /* the same, while it waits */
};

/* When the last one of a list (linked by next) arrived; 0: of one of them it is not known. */
int64_t operation_latest_us(const struct operation *batch);

/* Fill the outcome with a failure; the error is copied into the operation's arena. */
void operation_fail(struct operation *operation, const struct error *err);

#endif
