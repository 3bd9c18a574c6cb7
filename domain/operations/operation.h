/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation.h - a request as a value: its input and its outcome.
 *
 * A handler decodes a request into an operation; the store runs the waiting operations together and
 * fills their outcomes; the handler encodes the outcome. Nothing here knows gRPC or SQL.
 *
 * Memory: the inputs and the outcome that an operation points to live in its arena, which belongs
 * to the call. The operation and its arena belong to the store from store_submit until done() is
 * called.
 */
#ifndef DOMAIN_OPERATIONS_OPERATION_H
#define DOMAIN_OPERATIONS_OPERATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "domain/operations/audit_operations.h"
#include "domain/operations/blob_operations.h"
#include "domain/operations/chunk_operations.h"
#include "domain/operations/dead_letter_operations.h"
#include "domain/operations/entity_operations.h"
#include "domain/operations/feed_operations.h"
#include "domain/operations/index_operations.h"
#include "domain/operations/job_operations.h"
#include "domain/operations/operation_kinds.h"
#include "domain/operations/query_operations.h"
#include "domain/operations/queue_operations.h"
#include "domain/operations/report_operations.h"
#include "domain/operations/sample_operations.h"
#include "domain/operations/service_operations.h"
#include "domain/operations/table_operations.h"
#include "domain/operations/transaction_operations.h"
#include "domain/operations/usage_operations.h"

struct operation_times;
struct trace_context;

struct operation {
    enum operation_kind kind;
    struct str account;
    struct str table; /* table or index by name, where the kind needs one */
    struct arena *arena;
    const struct key_range *within; /* the keys that the caller may see; NULL: all keys */
    /* ticks: tables that require a later signature count as missing; 0: no table does */
    int64_t signed_at;
    /* reads: id of a transaction that must have ended before; empty: none */
    struct str wait_for_transaction;
    int64_t deadline_us; /* clock_monotonic_us; INT64_MAX: none */
    atomic_bool cancelled;
    /* the trace that its intents continue; NULL: the call is not traced */
    const struct trace_context *trace;
    /* committed with what the operation changes; NULL: the operation is not administrative */
    struct audit_record *audit;

    union {
        struct operation_get get;
        struct operation_write write;
        struct operation_page page;
        struct operation_changes changes;
        struct operation_lookup lookup;
        struct operation_tables tables;
        struct operation_index index;
        struct operation_jobs jobs;
        struct operation_verify verify;
        struct operation_transaction transaction;
        struct operation_dead_letters dead_letters;
        struct operation_queues queues;
        struct operation_samples samples;
        struct operation_audit audit;
        struct operation_service service;
        struct operation_blob blob;
        struct operation_chunks chunks;
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
        struct outcome_report report;
        struct outcome_transaction transaction;
        struct outcome_dead_letters dead_letters;
        struct outcome_queues queues;
        struct outcome_backlog backlog;
        struct outcome_samples samples;
        struct outcome_audit audit;
        struct outcome_service service;
        struct outcome_usage usage;
        struct outcome_blob blob;
        struct outcome_chunks chunks;
    } out;

    /* Called once, from a thread of the store, when the outcome is set. It must not block. */
    void (*done)(struct operation *operation);
    /*
     * The next operation of a list, and in some lists the previous one; they belong to the owner of
     * the operation.
     */
    struct operation *next, *previous;
    /* times recorded by the store: domain/operations/operation_times.h */
    struct operation_times *times;
};

/* The event for which the operation must wait before it runs, by its kind and its input. */
enum operation_wait operation_waits_for(const struct operation *operation);

/* The entities that a read by key, or a write, names; 0 for other kinds. */
size_t operation_entities(const struct operation *operation);

/* The bytes of the properties that a write has; 0 for other kinds. */
size_t operation_property_bytes(const struct operation *operation);

/*
 * The entity that did not meet the condition of a failed write; NULL: not known, or another
 * failure.
 */
const struct entity *operation_conflict(const struct operation *operation);

/* Fill the outcome with a failure; the error is copied into the operation's arena. */
void operation_fail(struct operation *operation, const struct error *err);

#endif
