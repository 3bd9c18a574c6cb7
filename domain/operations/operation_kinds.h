/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operation_kinds.h - the kinds of operations, and a table with the facts of each kind.
 *
 * Layers above use the table instead of comparing kinds: access control uses the scope, rate limits
 * the input, the store the wait. store/routes.c has a row for each kind that says how the store
 * runs it.
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
    OPERATION_JOB_WAIT, /* answers at the deadline with the present state */
    OPERATION_TRANSACTION_SUBMIT,
    OPERATION_TRANSACTION_GET,
    OPERATION_TRANSACTION_LIST,
    OPERATION_TRANSACTION_WAIT, /* answers at the deadline with the present state */
    OPERATION_TRANSACTION_CANCEL,
    OPERATION_DEAD_LETTERS_LIST,
    OPERATION_DEAD_LETTERS_REDRIVE,
    OPERATION_DEAD_LETTERS_DISCARD,
    OPERATION_QUEUES_LIST,
    OPERATION_QUEUE_CONTROL,
    OPERATION_BACKLOG,       /* the server makes it itself: no method does */
    OPERATION_SAMPLES_STORE, /* the server makes it itself: no method does */
    OPERATION_HOT_PARTITIONS_LIST,
    OPERATION_INDEX_ADVISE, /* input: samples */
    OPERATION_AUDIT_STORE,  /* the server makes it itself: no method does */
    OPERATION_AUDIT_LIST,
    OPERATION_USAGE_GET,
    OPERATION_SERVICE_PROPERTIES_GET,
    OPERATION_SERVICE_PROPERTIES_SET,
    OPERATION_BLOB_BEGIN,
    OPERATION_BLOB_APPEND,
    OPERATION_BLOB_COMMIT,
    OPERATION_BLOB_GET,  /* finds the blob */
    OPERATION_BLOB_READ, /* one chunk of a content */
    OPERATION_BLOB_DELETE,
    OPERATION_BLOB_LIST,
    OPERATION_BLOB_UPLOAD_GET,
    OPERATION_CHUNK_STORES_LIST,
    OPERATION_CHUNKS_MOVE, /* outcome: jobs */
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
    OPERATION_IN_BLOB,
    OPERATION_IN_CHUNKS,
};

/* What the kind requires of its caller: access.c checks it. */
enum operation_scope {
    OPERATION_SCOPE_NONE, /* the row is missing: no caller may run the kind */
    /* a signature needs permission r on the table; entities outside of its range are hidden */
    OPERATION_SCOPE_READ,
    OPERATION_SCOPE_WRITE, /* each write of a signature is checked by itself */
    /*
     * a signature needs r and i on the indexed table, and no range, since an index spans all keys
     */
    OPERATION_SCOPE_LOOK_UP,
    OPERATION_SCOPE_STEPS, /* a signature needs t, and each step is checked by itself */
    /* a signature needs r and t, and reaches only the transactions of its own table and range */
    OPERATION_SCOPE_OWN_TRANSACTION,
    OPERATION_SCOPE_ACCOUNT, /* a token of the account; no signature */
    /* this and the next four: a token of the account, or an account signature that allows it */
    OPERATION_SCOPE_LIST_TABLES,
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
    /* changes behind in.changes.position, until in.changes.wait_until_us */
    OPERATION_WAIT_CHANGES,
    OPERATION_WAIT_FRESHNESS, /* the freshness of in.lookup, if it requires any */
    OPERATION_WAIT_COUNT
};

struct operation_facts {
    const char *name; /* that of the enum, without OPERATION_ */
    enum operation_input input;
    enum operation_scope scope;
    bool only_reads; /* it commits nothing, so it may be cancelled at any time */
    enum operation_wait wait;
    /* the kind that runs when the wait has ended; only if wait is set */
    enum operation_kind becomes;
    bool is_administrative; /* each call has an audit record: audit_target.h */
};

/* The row of a kind; if there is none, its name is NULL. */
const struct operation_facts *operation_kind_facts(enum operation_kind kind);

#endif
