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
#include "domain/catalogue/catalogue.h"
#include "domain/entities/entity.h"
#include "domain/feed/feed_change.h"
#include "domain/filter/access_path.h"
#include "domain/filter/filter.h"
#include "domain/intents/consistency.h"
#include "domain/intents/queue_control.h"
#include "domain/keys/key_range.h"
#include "domain/transactions/transaction.h"

/* ---- point reads: GetEntity, BatchGetEntities ---- */

struct operation_get {
    struct entity_key *keys;
    size_t count;
    size_t enough_bytes; /* of properties: the keys behind them need not be read; 0: all are wanted */
};

struct outcome_get {
    struct entity *entities; /* in the order of the keys */
    bool *found;
    size_t count; /* so many of the keys, from the first, have been read */
};

/* ---- writes: single, entity group transaction, import ---- */

enum write_kind {
    WRITE_INSERT,
    WRITE_REPLACE,
    WRITE_MERGE,
    WRITE_INSERT_OR_REPLACE,
    WRITE_INSERT_OR_MERGE,
    WRITE_DELETE,
    WRITE_DELETE_IF_EXISTS, /* steps only: absent is success, if no precondition is given */
    WRITE_EXPIRE,           /* the sweeper only: deletes what is due, and leaves alone what is not */
};

struct write {
    enum write_kind kind;
    struct entity_key key;
    struct property_list properties; /* canonical; empty for deletes */
    struct condition condition;
    int64_t expires; /* ticks; 0: never, or for merges: as it was */
};

struct write_result {
    struct etag etag;  /* version 0 after a delete */
    int64_t timestamp; /* ticks, 0 after a delete */
};

struct operation_write {
    struct write *writes;
    size_t count;
    bool atomic;           /* all or nothing, in one partition; false: each on its own (import) */
    bool is_group;         /* an entity group transaction: its errors name the operation */
    struct str request_id; /* empty: none. Atomic only: see request_record.h */
    int64_t table_id;      /* the table of the name must be this one; 0: any */
};

struct outcome_write {
    struct write_result *results;        /* as many as writes; valid where errors[i] is NULL */
    struct error **errors;               /* not atomic only: the writes that were refused */
    bool replayed;                       /* answered from the record of the request */
    int64_t table_id;                    /* not atomic only: of the table that was written to */
    const struct consistency *left_open; /* the intents that this has made; NULL: none */
    /* Atomic only, with a condition's failure: what is stored, if it is small enough to be told; else NULL. */
    const struct entity *current;
};

/* ---- queries: QueryEntities, CountEntities, ExplainQuery; ScanEntities page by page ---- */

/*
 * Where entities go while they are read, one by one and in order, so that nobody has to hold them. Called on the
 * store's threads, before done().
 */
struct entity_sink {
    /* Begin, or begin anew: what was added so far does not count. */
    void (*reset)(struct entity_sink *sink);
    /* Take an entity, which is borrowed for the call. false: full without it. The first is always taken. */
    bool (*add)(struct entity_sink *sink, const struct entity *entity);
};

struct operation_page {
    const struct filter *filter; /* NULL: everything */
    struct str filter_text;      /* range deletes only: who carries them out compiles it again */
    struct key_plan plan;        /* where its matches lie: filter_key_plan */
    bool descending;
    enum access_path max_plan; /* refuse anything costlier; 0: the table's default */
    bool has_after;
    struct entity_key after;  /* the position: rows strictly behind this key, in the direction of the query */
    int32_t limit;            /* 1..LIMIT_PAGE_ROWS; pages only */
    struct entity_sink *sink; /* pages only; NULL: collect them in the outcome */
};

struct query_stats {
    enum access_path access_path;
    int64_t rows_examined, bytes_examined, rows_returned, bytes_returned;
};

struct outcome_page {
    struct entity *entities; /* without a sink */
    size_t count;            /* of the entities that were read, or of those that match: CountEntities */
    bool more;               /* there may be more behind `position` */
    bool has_position;       /* false: nothing was looked at, and none was asked from */
    struct entity_key position;
    int64_t table_id; /* what a page token is bound to */
    struct query_stats stats;
    struct str *suggestions; /* ExplainQuery */
    size_t suggestion_count;
};

/* ---- the change feed: WatchEntities page by page ---- */

struct operation_changes {
    struct key_filter range;     /* holds every key the filter can match */
    const struct filter *filter; /* of keys; NULL: every change */
    bool has_place;              /* false: none are read, only where the feed ends is told */
    struct feed_place place;     /* changes behind it */
    int64_t wait_until_us;       /* wait: no longer; clock_monotonic_us */
};

struct outcome_changes {
    struct change *changes; /* in the order of their commits */
    size_t count;
    bool more;               /* there are more behind `place` already */
    struct feed_place place; /* up to there everything was looked at */
};

/* ---- index look-up ---- */

struct value_range {
    bool has_at_least, has_below;
    struct value at_least, below;
};

struct operation_lookup {
    struct value *equals; /* bind the property parts in order, partition key first */
    size_t equal_count;
    struct value_range range; /* of the next part */
    struct freshness freshness;
    int64_t fresh_us; /* by then what it waited for had come (monotonic clock); 0: not yet; the store's */
    bool trust_index; /* false: every hit is checked against its source */
    bool keys_only;
    bool descending;
    bool has_after;
    struct entity_key after; /* an entry's key */
    int32_t limit;
};

struct lag {
    int64_t age_us;
    int64_t open_intents; /* -1: not counted */
    int64_t as_of;        /* ticks */
    double per_second;    /* intents applied, lately; below 0: it is not told */
};

struct outcome_lookup {
    struct entity *entities;    /* with the source's keys */
    struct entity_key *entries; /* as many: the key of the entry each was found by, where a page can end */
    size_t count;
    bool more;
    struct entity_key position;
    int64_t table_id;
    struct lag lag;
    struct query_stats stats;
};

/* ---- tables ---- */

struct table_view {
    struct str name;
    int64_t created;                   /* ticks */
    struct str index;                  /* the index whose entries it holds, or empty */
    enum access_path default_max_plan; /* 0: none */
    struct access_policies policies;
    bool change_feed;
};

/* What an update changes. */
struct table_change {
    bool sets_default_max_plan;
    enum access_path default_max_plan;
    bool sets_policies;
    struct str policies;   /* as stored: access_policy.h */
    bool sets_change_feed; /* create too */
    bool change_feed;
};

struct operation_tables {
    int32_t limit;
    struct str after;            /* folded name; empty: from the start */
    const struct filter *filter; /* list: over an entity whose one property is TableName */
    struct table_change change;  /* update; create: change_feed */
};

struct outcome_tables {
    struct table_view *tables; /* create, get: exactly one */
    size_t count;
    bool more;
    struct str position;
};

/* ---- long-running operations ---- */

enum job_control { JOB_PAUSE = 1, JOB_RESUME = 2, JOB_CANCEL = 3, JOB_THROTTLE = 4 };

enum job_state { JOB_RUNNING = 1, JOB_PAUSED = 2, JOB_DONE = 3, JOB_FAILED = 4, JOB_CANCELLED = 5 };

struct job_view {
    struct str operation_id; /* e.g. "build-1a2b" */
    struct str kind;         /* "build", "drop_index", "delete_table", "delete_range" */
    struct str target;       /* a table's or index's name */
    enum job_state state;
    int64_t done, total;
    int64_t started, ended; /* ticks, 0: not yet */
    struct str error;
};

struct operation_jobs {
    struct str operation_id; /* get, wait, control */
    enum job_control control;
    int64_t rate;  /* JOB_THROTTLE: rows a second; 0: as fast as it goes */
    int32_t limit; /* list */
    struct str after;
};

struct outcome_jobs {
    struct job_view *jobs;
    size_t count;
    bool more;
    struct str position;
};

/* ---- indexes ---- */

struct operation_index {
    struct index definition; /* create: name, source_name, shape, place, keys, projection, definition */
    int32_t limit;           /* list */
    struct str after;        /* folded name; empty: from the start */
};

struct index_view {
    struct str definition; /* the declaration as bytes: index_codec.h */
    enum index_state state;
    struct lag lag;
    int64_t entries; /* beyond 100,000 an estimate */
    int64_t violations;
    int64_t keys_behind; /* source keys that were given up */
    int64_t discarded;   /* of violations: those whose dead letters were set aside */
    struct str causes;   /* of some violations, each once, one a line */
    struct job_view build;
};

struct outcome_index {
    struct index_view *indexes;
    size_t count;
    bool more;
    struct str position;
};

/* ---- transactions ---- */

struct operation_transaction {
    struct transaction transaction; /* submit: id and steps; get, wait, cancel: id */
    int64_t seen;  /* wait: also until its revision is another one; below 0: for its end only */
    int32_t limit; /* list */
    struct str after;
    enum transaction_state only; /* list: 0: any state */
    bool by_key;                 /* list: those that name the key of this digest */
    int64_t key_digest;          /* see transaction_key_digest */
};

struct outcome_transaction {
    struct transaction *transactions;
    size_t count;
    bool more;
    struct str position;
};

/* ---- dead letters ---- */

enum dead_letter_state { DEAD_LETTER_DEAD = 1, DEAD_LETTER_RETRYING = 2, DEAD_LETTER_DISCARDED = 3 };

/* All that is set must hold. */
struct dead_letter_filter {
    enum dead_letter_state state;
    int16_t kind;       /* enum intent_kind; 0: any */
    struct str account; /* this and the next two: empty: any */
    struct str table;   /* a name */
    struct str cause;   /* its beginning */
    int64_t *ids;
    size_t id_count; /* 0: any */
    int32_t queue;   /* below 0: any */
    int32_t queues;  /* how many there are; see queue_control_queue_of */
};

struct dead_letter_view {
    int64_t id;
    int16_t kind, bucket;
    int64_t table_id;
    struct str account, table, index; /* index: empty for the key as a whole */
    struct entity_key key;            /* of a transaction: account and id */
    int32_t failures;
    struct str cause, history, note;
    int64_t first_failed, last_failed; /* ticks */
};

struct cause_view {
    struct str cause;
    int64_t count, example;
    int64_t first_failed, last_failed; /* ticks */
};

/* What trying again would do. */
struct dead_letter_difference {
    int64_t missing, dangling, mismatched; /* entries */
    int64_t violations;                    /* indexes that could not take an entry */
    int64_t steps;                         /* of transactions */
};

struct operation_dead_letters {
    struct dead_letter_filter filter;
    int32_t limit;
    int64_t after;
    bool by_cause;     /* list */
    bool dry_run;      /* redrive */
    struct str reason; /* discard */
};

struct outcome_dead_letters {
    struct dead_letter_view *dead_letters; /* list; redrive and discard: those it was done to */
    size_t count;
    struct dead_letter_difference *differences; /* redrive as a dry run: as many as letters */
    struct cause_view *causes;             /* list by cause */
    size_t cause_count;
    bool more;
    int64_t position;
};

/* ---- queues ---- */

struct operation_queues {
    int32_t queues; /* QUEUE_RESHARD: how many there are from now on */
    int32_t queue;  /* control: which; below 0: all */
    int16_t kind;   /* control: enum intent_kind; 0: both */
    enum queue_action action;
    int64_t rate;
};

/* One kind of work of one queue. */
struct queue_view {
    int32_t queue;
    int16_t kind;
    enum work_state state;
    struct queue_control control;
    int64_t open_intents, oldest_age_us;
    double per_second; /* intents applied, lately */
};

struct outcome_queues {
    struct queue_map map;
    struct queue_view *views;
    size_t count;
};

/* ---- the operation ---- */

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
