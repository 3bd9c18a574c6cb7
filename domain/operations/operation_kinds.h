/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_kinds.h - the kinds of operations, and a table with the facts of each: one row a kind.
 *
 * Layers above read the table instead of comparing kinds: access control reads the scope, rate limits the input, the
 * store the wait. How the store runs a kind is a row of store/routes.c.
 */
#ifndef DOMAIN_OPERATIONS_OPERATION_KINDS_H
#define DOMAIN_OPERATIONS_OPERATION_KINDS_H

#include <stdbool.h>

enum operation_kind {
    OPERATION_GET,
    OPERATION_WRITE,
    OPERATION_PAGE,
    OPERATION_COUNT,
    OPERATION_EXPLAIN,
    OPERATION_CHANGES,
    OPERATION_CHANGES_WAIT,
    OPERATION_LOOKUP,
    OPERATION_TABLE_CREATE,
    OPERATION_TABLE_GET,
    OPERATION_TABLE_LIST,
    OPERATION_TABLE_UPDATE,
    OPERATION_TABLE_DELETE, /* outcome: jobs, one purge */
    OPERATION_INDEX_CREATE,
    OPERATION_INDEX_GET,
    OPERATION_INDEX_LIST,
    OPERATION_INDEX_UPDATE,         /* outcome: index */
    OPERATION_INDEX_REPLACE,        /* outcome: jobs */
    OPERATION_INDEX_REPLACE_CANCEL, /* input: jobs; outcome: jobs */
    OPERATION_INDEX_DROP,           /* outcome: jobs */
    OPERATION_INDEX_VERIFY,         /* or repair; outcome: jobs */
    OPERATION_INDEX_REPORT,         /* input: jobs, by operation_id */
    OPERATION_RANGE_DELETE,         /* input: filter and max_plan of the page; outcome: jobs */
    OPERATION_JOB_GET,
    OPERATION_JOB_LIST,
    OPERATION_JOB_CONTROL,
    OPERATION_JOB_WAIT, /* answers at the deadline with the state as it is */
    OPERATION_TRANSACTION_SUBMIT,
    OPERATION_TRANSACTION_GET,
    OPERATION_TRANSACTION_LIST,
    OPERATION_TRANSACTION_WAIT, /* answers at the deadline with the state as it is */
    OPERATION_TRANSACTION_CANCEL,
    OPERATION_DEAD_LETTERS_LIST,
    OPERATION_DEAD_LETTERS_REDRIVE,
    OPERATION_DEAD_LETTERS_DISCARD,
    OPERATION_QUEUES_LIST,
    OPERATION_QUEUE_CONTROL,
    OPERATION_SAMPLES_STORE, /* the server's own: no method runs it */
    OPERATION_HOT_PARTITIONS_LIST,
    OPERATION_INDEX_ADVISE, /* input: samples */
    OPERATION_AUDIT_STORE,  /* the server's own: no method runs it */
    OPERATION_AUDIT_LIST,
    OPERATION_USAGE_GET,
    OPERATION_SERVICE_PROPERTIES_GET,
    OPERATION_SERVICE_PROPERTIES_SET,
    OPERATION_KIND_COUNT
};

/* The member of `in` of struct operation that the kind reads. */
enum operation_input {
    OPERATION_IN_GET,
    OPERATION_IN_WRITE,
    OPERATION_IN_PAGE,
    OPERATION_IN_CHANGES,
    OPERATION_IN_LOOKUP,
    OPERATION_IN_TABLES,
    OPERATION_IN_INDEX,
    OPERATION_IN_JOBS,
    OPERATION_IN_VERIFY,
    OPERATION_IN_TRANSACTION,
    OPERATION_IN_DEAD_LETTERS,
    OPERATION_IN_QUEUES,
    OPERATION_IN_SAMPLES,
    OPERATION_IN_AUDIT,
    OPERATION_IN_SERVICE,
};

/* What the kind requires of its caller: access.c checks it. */
enum operation_scope {
    OPERATION_SCOPE_NONE, /* the row is missing: no caller may run the kind */
    OPERATION_SCOPE_READ, /* a signature: permission r on the table; its range of keys hides all other entities */
    OPERATION_SCOPE_WRITE, /* a signature: each write is checked by itself */
    OPERATION_SCOPE_LOOK_UP, /* a signature: r and i on the indexed table, and no range: an index spans all keys */
    OPERATION_SCOPE_STEPS,           /* a signature: permission t, and each step is checked by itself */
    OPERATION_SCOPE_OWN_TRANSACTION, /* a signature: r and t, and the transactions of its table and range alone */
    OPERATION_SCOPE_ACCOUNT,         /* a token of the account; no signature */
    OPERATION_SCOPE_LIST_TABLES, /* this and the next four: a token of the account, or an account signature for it */
    OPERATION_SCOPE_CREATE_TABLE,
    OPERATION_SCOPE_DELETE_TABLE,
    OPERATION_SCOPE_READ_SERVICE,
    OPERATION_SCOPE_SET_SERVICE,
    OPERATION_SCOPE_ADMINISTRATOR, /* a token of an account that administers the service */
    OPERATION_SCOPE_COUNT
};

/* What an operation waits for before it runs. */
enum operation_wait {
    OPERATION_WAIT_NONE,
    OPERATION_WAIT_JOB,         /* the end of the job that in.jobs names */
    OPERATION_WAIT_TRANSACTION, /* the end, or another revision, of a transaction */
    OPERATION_WAIT_CHANGES,     /* changes behind in.changes.position, until in.changes.wait_until_us */
    OPERATION_WAIT_FRESHNESS,   /* the freshness of in.lookup, if it requires any */
    OPERATION_WAIT_COUNT
};

struct operation_facts {
    const char *name; /* that of the enum, without OPERATION_ */
    enum operation_input input;
    enum operation_scope scope;
    bool only_reads; /* a run commits nothing, so a run may be cancelled at any time */
    enum operation_wait wait;
    enum operation_kind becomes; /* the kind that runs when the wait has ended; only if wait is set */
    bool is_administrative;      /* each call has an audit record: audit_target.h */
};

/* The kind's row; its name is NULL if the row is missing. */
const struct operation_facts *operation_kind_facts(enum operation_kind kind);

#endif
