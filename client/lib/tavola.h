/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tavola.h - libtavola, the C client of the table service Tavola. docs/c-client.md is a tour with an example.
 *
 * Errors     A function that can fail returns a code, TAVOLA_OK if it did not, and fills a struct tavola_error, a plain value; the
 *            parameter may be NULL. Output parameters are unchanged after a failure.
 * Ownership  What a function named ..._new, or one that opens something, gives out is the caller's, who ends it with the
 *            function that the comment names; these accept NULL. const pointers are borrowed, as long as the comment says. The
 *            library keeps nothing of what it is given: texts and options may go when a function returns.
 * Threads    A client may be used by any number of threads. An entity, batch, cursor, watch, import or transaction is used
 *            by one thread at a time.
 * Text       UTF-8, ended by a NUL, unless a size stands beside it.
 * Memory     If memory runs out the process ends.
 */
#ifndef TAVOLA_H
#define TAVOLA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAVOLA_API __attribute__((visibility("default")))

/* The version of the library, such as "0.1.0". */
TAVOLA_API const char *tavola_version(void);

/* ---- errors ---- */

/* gRPC's status codes. */
enum tavola_code {
    TAVOLA_OK = 0,
    TAVOLA_CANCELLED = 1,
    TAVOLA_UNKNOWN = 2,
    TAVOLA_INVALID_ARGUMENT = 3,
    TAVOLA_DEADLINE_EXCEEDED = 4,
    TAVOLA_NOT_FOUND = 5,
    TAVOLA_ALREADY_EXISTS = 6,
    TAVOLA_PERMISSION_DENIED = 7,
    TAVOLA_RESOURCE_EXHAUSTED = 8,
    TAVOLA_FAILED_PRECONDITION = 9,
    TAVOLA_ABORTED = 10,
    TAVOLA_OUT_OF_RANGE = 11,
    TAVOLA_UNIMPLEMENTED = 12,
    TAVOLA_INTERNAL = 13,
    TAVOLA_UNAVAILABLE = 14,
    TAVOLA_DATA_LOSS = 15,
    TAVOLA_UNAUTHENTICATED = 16,
};

/* "NOT_FOUND" and so on; static. */
TAVOLA_API const char *tavola_code_name(enum tavola_code code);

enum { TAVOLA_METADATA_MAX = 8 };

/* docs/errors.md says what each reason means and what to do. */
struct tavola_error {
    enum tavola_code code;
    char reason
        [64]; /* "RESOURCE_NOT_FOUND"; empty: the call did not reach the service, or the library refused it */
    char message[512]; /* one sentence, without the reason */
    char field
        [288]; /* the path of the part of the request that was refused, "entity.properties[Age]"; else empty */
    int64_t retry_after_ms; /* the service asks to wait so long before the next attempt; -1: it does not */
    size_t metadata_count;
    struct {
        char key[40];
        char value[260];
    } metadata[TAVOLA_METADATA_MAX]; /* "table", "property" and so on: docs/errors.md */
};

/* The value of a metadata key; NULL: it is not there. Borrowed from the error. */
TAVOLA_API const char *tavola_error_metadata(const struct tavola_error *error, const char *key);

/* ---- a client ---- */

struct tavola; /* a client: one connection, used by any number of threads */

/*
 * Give a token that is valid for some time: copy it, with a NUL, to out, which has room for `size` bytes. false: there is none, and
 * calls go on with the token before. Runs in a thread that is about to make a call, never in two at once.
 */
typedef bool tavola_token_fn(void *context, char *out, size_t size);

/* Zeroed: everything has its default. */
struct tavola_options {
    const char *
        target; /* "db.example:50051", "unix:/path"; NULL: TAVOLA_TARGET of the environment, else 127.0.0.1:50051 */
    const char *ca; /* file in PEM with the authorities of the server's certificate: TLS; NULL: plain text */
    const char *certificate; /* files in PEM with the client's own certificate and its key; NULL: none */
    const char *key;

    /* One credential, or none. Credentials go over TLS, to loopback addresses and to Unix sockets only. */
    const char *token;       /* a token or a shared access signature */
    const char *account;     /* with account_key: tokens are signed here and renewed before they end */
    const char *account_key; /* "tvk1....": never sent */
    tavola_token_fn
        *give_token; /* called before the first call, and again when a token is about to end or was refused */
    void *give_token_context;

    int64_t timeout_ms; /* of a call with all of its attempts; 0: 30 seconds */
    int max_attempts;   /* of a call; 0: 5; 1: none is repeated */
    int keepalive_ms;   /* the time between pings while a call is open; 0: 30 seconds; at least 10 seconds */
    bool
        without_request_ids; /* writes are not given an id, so a write whose answer is lost is not repeated */
    bool dispatches;         /* callbacks run in tavola_dispatch: see there */
};

/*
 * Make a client. The connection is made with the first call, and again after each break. options may be NULL. tavola_close ends it.
 *
 * TAVOLA_INVALID_ARGUMENT  a file cannot be used; a credential over plain text; options that contradict each other
 */
TAVOLA_API enum tavola_code tavola_open(
    const struct tavola_options *options, struct tavola **out, struct tavola_error *error);

/*
 * End a client: asynchronous calls that are open end as CANCELLED, and their callbacks have run when tavola_close returns.
 * Cursors, watches and imports of the client must have been ended before.
 */
TAVOLA_API void tavola_close(struct tavola *client);

/* ---- entities ---- */

/* The numbers of the protocol. */
enum tavola_type {
    TAVOLA_NULL = 0,
    TAVOLA_STRING = 1,
    TAVOLA_BOOLEAN = 2,
    TAVOLA_INT32 = 3,
    TAVOLA_INT64 = 4,
    TAVOLA_DOUBLE = 5,
    TAVOLA_DATETIME = 6,
    TAVOLA_GUID = 7,
    TAVOLA_BINARY = 8,
};

/* Since 1970, UTC; the service keeps 100 ns. */
struct tavola_time {
    int64_t seconds;
    int32_t nanos;
};

struct tavola_value {
    enum tavola_type type;
    const char *data;        /* STRING, GUID (36 lower-case characters), BINARY: with a NUL behind it */
    size_t size;             /* of data, without the NUL */
    int64_t integer;         /* BOOLEAN (0 or 1), INT32, INT64 */
    double number;           /* DOUBLE */
    struct tavola_time time; /* DATETIME */
};

/* Values for look-ups and for tavola_entity_set. TAVOLA_TEXT borrows the text. */
#define TAVOLA_TEXT(text)                                                                                    \
    ((struct tavola_value){ .type = TAVOLA_STRING, .data = (text), .size = __builtin_strlen(text) })
#define TAVOLA_INT(number) ((struct tavola_value){ .type = TAVOLA_INT32, .integer = (number) })
#define TAVOLA_LONG(number) ((struct tavola_value){ .type = TAVOLA_INT64, .integer = (number) })

struct tavola_key {
    const char *partition;
    const char *row;
};
#define TAVOLA_KEY(partition_key, row_key) ((struct tavola_key){ (partition_key), (row_key) })

struct tavola_entity;

/* An entity without properties. tavola_entity_free ends it. Wrong keys and values are told by the call that sends them. */
TAVOLA_API struct tavola_entity *tavola_entity_new(struct tavola_key key);
TAVOLA_API void tavola_entity_free(struct tavola_entity *entity);

/* For entities of a cursor that shall live longer than its next step. tavola_entity_free ends the copy. */
TAVOLA_API struct tavola_entity *tavola_entity_copy(const struct tavola_entity *entity);

/* Set a property; one that is there is replaced. The value is copied. */
TAVOLA_API void tavola_entity_set(
    struct tavola_entity *entity, const char *name, const struct tavola_value *value);
TAVOLA_API void tavola_entity_set_string(struct tavola_entity *entity, const char *name, const char *text);
TAVOLA_API void tavola_entity_set_boolean(struct tavola_entity *entity, const char *name, bool value);
TAVOLA_API void tavola_entity_set_int32(struct tavola_entity *entity, const char *name, int32_t value);
TAVOLA_API void tavola_entity_set_int64(struct tavola_entity *entity, const char *name, int64_t value);
TAVOLA_API void tavola_entity_set_double(struct tavola_entity *entity, const char *name, double value);
TAVOLA_API void tavola_entity_set_datetime(
    struct tavola_entity *entity, const char *name, struct tavola_time value);
TAVOLA_API void tavola_entity_set_guid(struct tavola_entity *entity, const char *name, const char *guid);
TAVOLA_API void tavola_entity_set_binary(
    struct tavola_entity *entity, const char *name, const void *bytes, size_t size);
TAVOLA_API void tavola_entity_remove(struct tavola_entity *entity, const char *name);

/* From then on the entity is not shown any more. */
TAVOLA_API void tavola_entity_set_expires(struct tavola_entity *entity, struct tavola_time expires);

/* Borrowed until the entity is changed or ended. The ETag is empty, and a time 0, where the service has not given one. */
TAVOLA_API struct tavola_key tavola_entity_key(const struct tavola_entity *entity);
TAVOLA_API const char *tavola_entity_etag(const struct tavola_entity *entity);
TAVOLA_API struct tavola_time tavola_entity_timestamp(const struct tavola_entity *entity);
TAVOLA_API struct tavola_time tavola_entity_expires(const struct tavola_entity *entity);

/* A property by name, NULL: there is none; or by position, with its name. Borrowed until the entity is changed or ended. */
TAVOLA_API size_t tavola_entity_count(const struct tavola_entity *entity);
TAVOLA_API const struct tavola_value *tavola_entity_get(const struct tavola_entity *entity, const char *name);
TAVOLA_API const struct tavola_value *tavola_entity_at(
    const struct tavola_entity *entity, size_t position, const char **name);

/* The value of a property, or the fallback if there is none of that type. An Int32 is an int64, too. */
TAVOLA_API const char *tavola_entity_string(
    const struct tavola_entity *entity, const char *name, const char *fallback);
TAVOLA_API int64_t tavola_entity_int64(
    const struct tavola_entity *entity, const char *name, int64_t fallback);
TAVOLA_API double tavola_entity_double(const struct tavola_entity *entity, const char *name, double fallback);
TAVOLA_API bool tavola_entity_boolean(const struct tavola_entity *entity, const char *name, bool fallback);

/*
 * JSON in the form that clients of REST table services know:
 *     {"PartitionKey": "sales", "RowKey": "1", "Age": 36, "Id@odata.type": "Edm.Guid", "Id": "0f..."}
 * tavola_entity_free ends *out. tavola_free releases the text.
 *
 * TAVOLA_INVALID_ARGUMENT  no such JSON; the message says where
 */
TAVOLA_API enum tavola_code tavola_entity_from_json(
    const char *json, size_t size, struct tavola_entity **out, struct tavola_error *error);
TAVOLA_API char *tavola_entity_to_json(const struct tavola_entity *entity);

/* Set a property from text. type: "Int32" and so on, in any case; NULL: a string. TAVOLA_INVALID_ARGUMENT: the text is none of that type. */
TAVOLA_API enum tavola_code tavola_entity_set_text(struct tavola_entity *entity, const char *name,
    const char *type, const char *text, struct tavola_error *error);

/* Release a text that the library has given out. Accepts NULL. */
TAVOLA_API void tavola_free(char *text);

/* ---- writes ---- */

enum tavola_action {
    TAVOLA_INSERT,  /* ALREADY_EXISTS if there is one */
    TAVOLA_REPLACE, /* NOT_FOUND if there is none; needs a condition, if_match "*" if none is given */
    TAVOLA_MERGE,   /* the same; keeps the properties that are not given */
    TAVOLA_INSERT_OR_REPLACE, /* whatever is there */
    TAVOLA_INSERT_OR_MERGE,
    TAVOLA_DELETE, /* NOT_FOUND if there is none */
};

/* Zeroed: defaults. */
struct tavola_write_options {
    const char *if_match;  /* the stored entity's ETag must be this one; "*": any. TAVOLA_ABORTED otherwise */
    const char *condition; /* a filter that the stored entity must match */
    const char *request_id;         /* under one id a write happens once; NULL: the library makes one */
    int64_t timeout_ms;             /* 0: the client's */
    struct tavola_written *written; /* filled, unless NULL */
};

struct tavola_written {
    char etag[72];
    struct tavola_time timestamp;
    bool replayed; /* an earlier attempt under the request id has written it */
    char consistency_token
        [4104]; /* for tavola_lookup: wait until an index shows this write; empty: none has to follow */
};

/* Write one entity. Its ETag and its timestamp are then the new ones. options may be NULL. For TAVOLA_DELETE only the key counts. */
TAVOLA_API enum tavola_code tavola_write(struct tavola *client, const char *table, enum tavola_action action,
    struct tavola_entity *entity, const struct tavola_write_options *options, struct tavola_error *error);

/* Delete by key: with no options, whatever its version is. */
TAVOLA_API enum tavola_code tavola_delete(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_write_options *options, struct tavola_error *error);

/* An entity group transaction: 1 to 100 writes in one partition that take effect together or not at all. */
struct tavola_batch;

/* tavola_batch_free ends it. */
TAVOLA_API struct tavola_batch *tavola_batch_new(const char *table);
TAVOLA_API void tavola_batch_free(struct tavola_batch *batch);

/* Add a write; the entity is copied. if_match: as above, or NULL. */
TAVOLA_API void tavola_batch_add(struct tavola_batch *batch, enum tavola_action action,
    const struct tavola_entity *entity, const char *if_match);

/*
 * Carry out the batch; it can be carried out again, and be added to. etags: NULL, or room for as many ETags as it has writes. After a
 * failure, the metadata operation_index of the error says which write was refused.
 */
TAVOLA_API enum tavola_code tavola_batch_execute(struct tavola *client, struct tavola_batch *batch,
    const struct tavola_write_options *options, char (*etags)[72], struct tavola_error *error);

/* ---- reads ---- */

/* Zeroed: defaults. */
struct tavola_read_options {
    const char *const *select;        /* the properties wanted, NULL behind the last; NULL: all */
    const char *wait_for_transaction; /* the read shows this transaction, or fails */
    int64_t timeout_ms;               /* 0: the client's */
};

/* Read one entity. tavola_entity_free ends *out. TAVOLA_NOT_FOUND: RESOURCE_NOT_FOUND, TABLE_NOT_FOUND. options may be NULL. */
TAVOLA_API enum tavola_code tavola_get(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_read_options *options, struct tavola_entity **out, struct tavola_error *error);

/* Read up to 1,000 entities in one snapshot. out has `count` elements: NULL where there is none, else tavola_entity_free ends it. */
TAVOLA_API enum tavola_code tavola_get_many(struct tavola *client, const char *table,
    const struct tavola_key *keys, size_t count, struct tavola_entity **out, struct tavola_error *error);

struct tavola_query {
    const char *table;
    const char *filter; /* NULL: every entity */
    bool descending;    /* only of list indexes */
    int page_size;      /* 0: 1,000 */
    const char *token;  /* of tavola_cursor_token: go on behind that page; NULL: from the start */
    struct tavola_read_options read;
};

struct tavola_lookup {
    const char *index;
    const struct tavola_value *equals; /* of the parts of the key in their order */
    size_t equals_count;
    const char *consistency_token; /* wait until the index shows that write; NULL: do not */
    bool latest;                   /* wait until the index shows every write */
    bool keys_only;                /* entities have their keys alone */
    bool trust_index;              /* take the entries as they are */
    bool descending;
    int page_size;
    const char *token;
    int64_t timeout_ms; /* of a page; 0: the client's */
};

/* Entities one by one: the cursor asks for the next page, or goes on after a break, by itself. */
struct tavola_cursor;

/* Pages of a query: each is one snapshot. tavola_cursor_free ends it, before the client. Nothing is sent before the first step. */
TAVOLA_API struct tavola_cursor *tavola_query(struct tavola *client, const struct tavola_query *query);

/* All entities of a query as a stream: the quickest way to read very many. page_size is not used. */
TAVOLA_API struct tavola_cursor *tavola_scan(struct tavola *client, const struct tavola_query *query);

/* The entities that an index finds. */
TAVOLA_API struct tavola_cursor *tavola_lookup(struct tavola *client, const struct tavola_lookup *lookup);

/*
 * The next entity, borrowed until the next step. false: there are no more, with error->code TAVOLA_OK, or the read has failed.
 *     while (tavola_cursor_next(cursor, &entity, &error)) ...
 *     if (error.code) ...
 */
TAVOLA_API bool tavola_cursor_next(
    struct tavola_cursor *cursor, const struct tavola_entity **entity, struct tavola_error *error);

/* Where the page behind the current one begins; empty: the current one is the last. Borrowed until the next step. */
TAVOLA_API const char *tavola_cursor_token(const struct tavola_cursor *cursor);
TAVOLA_API void tavola_cursor_free(struct tavola_cursor *cursor);

/* How many entities match. filter: NULL: all. */
TAVOLA_API enum tavola_code tavola_count(
    struct tavola *client, const char *table, const char *filter, int64_t *out, struct tavola_error *error);

/* ---- tables and indexes ---- */

TAVOLA_API enum tavola_code tavola_create_table(
    struct tavola *client, const char *table, struct tavola_error *error);
TAVOLA_API enum tavola_code tavola_delete_table(
    struct tavola *client, const char *table, struct tavola_error *error);

/* An index as most are; others are declared with tavola_call_json("CreateIndex", ...). */
struct tavola_index {
    const char *name;
    const char *table;
    const char *const *
        by; /* the properties that it finds by, NULL behind the last; the first is all that its partitions have in common */
    const char *filter; /* only of these entities; NULL: of all */
    bool
        in_same_partition; /* entries lie in the partition of their entity: always up to date, found per partition */
    bool strong;           /* in other partitions and always up to date */
    bool unique;           /* one entity for each value */
};

/*
 * Declare an index, and wait up to timeout_ms until it is built: TAVOLA_DEADLINE_EXCEEDED if it is not by then, and it goes on.
 * 0: do not wait. The index is there in either case. TAVOLA_ALREADY_EXISTS: there is one of the name.
 */
TAVOLA_API enum tavola_code tavola_create_index(
    struct tavola *client, const struct tavola_index *index, int64_t timeout_ms, struct tavola_error *error);

/* Wait until a long-running operation has ended: TAVOLA_OK if it is done; its own error if it failed; TAVOLA_CANCELLED. */
TAVOLA_API enum tavola_code tavola_wait_operation(
    struct tavola *client, const char *operation_id, int64_t timeout_ms, struct tavola_error *error);

/* ---- transactions across partitions and tables ---- */

struct tavola_transaction;

enum tavola_transaction_state {
    TAVOLA_TRANSACTION_PENDING = 1,
    TAVOLA_TRANSACTION_RUNNING = 2,
    TAVOLA_TRANSACTION_DONE = 3,
    TAVOLA_TRANSACTION_FAILED = 4,
    TAVOLA_TRANSACTION_CANCELLED = 5,
    TAVOLA_TRANSACTION_DEAD = 6,
};

/* id: under one id a transaction happens once; NULL: the library makes one. tavola_transaction_free ends it. */
TAVOLA_API struct tavola_transaction *tavola_transaction_new(const char *id);
TAVOLA_API void tavola_transaction_free(struct tavola_transaction *transaction);

/* Borrowed as long as the transaction lives. */
TAVOLA_API const char *tavola_transaction_id(const struct tavola_transaction *transaction);

/* Add a step. merge: keep the properties that are not given. if_match: the entity's ETag must be this one; NULL: any, or none. */
TAVOLA_API void tavola_transaction_put(struct tavola_transaction *transaction, const char *table,
    const struct tavola_entity *entity, bool merge, const char *if_match);
TAVOLA_API void tavola_transaction_delete(
    struct tavola_transaction *transaction, const char *table, struct tavola_key key, const char *if_match);
TAVOLA_API void tavola_transaction_move(struct tavola_transaction *transaction, const char *table,
    struct tavola_key key, const char *to_table, struct tavola_key to_key);

/* Submit it: it is then carried out whatever happens to the caller. Submitting again under its id is harmless. */
TAVOLA_API enum tavola_code tavola_transaction_submit(
    struct tavola *client, const struct tavola_transaction *transaction, struct tavola_error *error);

/* Wait until a transaction has a final state, or the time is over: *out is the state at the end. */
TAVOLA_API enum tavola_code tavola_transaction_wait(struct tavola *client, const char *id, int64_t timeout_ms,
    enum tavola_transaction_state *out, struct tavola_error *error);

/* ---- the changes of a table ---- */

struct tavola_watch;

struct tavola_watch_options {
    const char *table;         /* it keeps a change feed (UpdateTable) */
    const char *filter;        /* NULL: every entity */
    const char *token;         /* of tavola_watch_token; NULL: from now on */
    const char *const *select; /* as in tavola_read_options */
    bool bookmarks;            /* messages without changes are told too: the token has moved on */
};

struct tavola_change {
    const struct tavola_entity
        *entity;            /* of a delete: its keys; NULL: a bookmark. Borrowed until the next step */
    bool inserted, deleted; /* neither: updated */
};

/* tavola_watch_free ends it, before the client. It connects at the first step. */
TAVOLA_API struct tavola_watch *tavola_watch(
    struct tavola *client, const struct tavola_watch_options *options);

/*
 * Wait for the next change. A break of the connection is mended: the watch goes on where it was, and the changes since the last
 * token may come again. false: tavola_watch_stop was called (TAVOLA_CANCELLED), or the watch cannot go on, such as
 * RESYNC_REQUIRED: then watch without a token and read the table.
 */
TAVOLA_API bool tavola_watch_next(
    struct tavola_watch *watch, struct tavola_change *out, struct tavola_error *error);

/* Where to go on behind the changes that were given out, once their whole message was. Borrowed until the next step. */
TAVOLA_API const char *tavola_watch_token(const struct tavola_watch *watch);

/* From any thread or signal handler's thread: tavola_watch_next returns soon. Not in a signal handler itself. */
TAVOLA_API void tavola_watch_stop(struct tavola_watch *watch);
TAVOLA_API void tavola_watch_free(struct tavola_watch *watch);

/* ---- import ---- */

struct tavola_import;

/* An entity that was not imported. Runs in the thread that calls the import's functions. Borrowed for the call. */
typedef void tavola_rejected_fn(
    void *context, int64_t position, struct tavola_key key, const struct tavola_error *why);

struct tavola_import_options {
    const char *table;
    tavola_rejected_fn *rejected; /* NULL: rejections are only counted */
    void *context;
};

/* Insert or replace any number of entities, the quickest way. tavola_import_free ends it, before the client. */
TAVOLA_API struct tavola_import *tavola_import(
    struct tavola *client, const struct tavola_import_options *options);

/* Add an entity; it is copied, and sent with others. Waits while too many are under way. */
TAVOLA_API enum tavola_code tavola_import_add(
    struct tavola_import *import, const struct tavola_entity *entity, struct tavola_error *error);

/* Send what is left and wait until everything is committed. */
TAVOLA_API enum tavola_code tavola_import_finish(struct tavola_import *import, struct tavola_error *error);

/* Of the entities added so far: committed, refused, and settled, which is how many from the first one on are one or the other. */
TAVOLA_API int64_t tavola_import_committed(const struct tavola_import *import);
TAVOLA_API int64_t tavola_import_rejected(const struct tavola_import *import);
TAVOLA_API int64_t tavola_import_settled(const struct tavola_import *import);

/* Whether the import itself has failed; otherwise a failure of tavola_import_add is of its entity alone. */
TAVOLA_API bool tavola_import_has_ended(const struct tavola_import *import);
TAVOLA_API void tavola_import_free(struct tavola_import *import);

/* ---- any method ---- */

/*
 * Call a unary method with its request as JSON by protobuf's mapping: tavola_call_json(client, "GetTable", "{\"name\": \"people\"}", ...).
 * method: "GetTable", "TableService.GetTable", "TableService/GetTable" or a whole path. Deadlines, repeats and request ids are those
 * of other calls. tavola_free releases *reply, which is JSON on one line.
 *
 * TAVOLA_INVALID_ARGUMENT  also if there is no such method, or the JSON is no such request
 */
TAVOLA_API enum tavola_code tavola_call_json(
    struct tavola *client, const char *method, const char *request, char **reply, struct tavola_error *error);

/* The same with protobuf bytes; method: a whole path, "/tavola.v1.TableService/GetTable". timeout_ms: 0: the client's. */
struct tavola_call {
    const char *method;
    const void *request;
    size_t size;
    int64_t timeout_ms;
};
TAVOLA_API enum tavola_code tavola_call(struct tavola *client, const struct tavola_call *call, char **reply,
    size_t *reply_size, struct tavola_error *error);

/* A method with many requests or many replies, as protobuf bytes. No repeats. timeout_ms: 0: none. tavola_stream_end ends it. */
struct tavola_stream;
TAVOLA_API enum tavola_code tavola_stream_open(struct tavola *client, const char *method, int64_t timeout_ms,
    struct tavola_stream **out, struct tavola_error *error);

/* false: the stream has ended; tavola_stream_end says why. */
TAVOLA_API bool tavola_stream_send(struct tavola_stream *stream, const void *request, size_t size);
TAVOLA_API void tavola_stream_half_close(struct tavola_stream *stream);

/* The next reply, borrowed until the next step. false: there are no more. */
TAVOLA_API bool tavola_stream_receive(struct tavola_stream *stream, const void **reply, size_t *size);

/* From any thread: the other functions return soon. */
TAVOLA_API void tavola_stream_cancel(struct tavola_stream *stream);

/* The end of the stream: TAVOLA_OK if the server ended it so. A stream that has not ended is cancelled. Frees it. */
TAVOLA_API enum tavola_code tavola_stream_end(struct tavola_stream *stream, struct tavola_error *error);

/* ---- asynchronous calls ---- */

/* The end of an asynchronous call. Borrowed for the callback. */
struct tavola_answer {
    struct tavola_error error;            /* code TAVOLA_OK: the call has succeeded */
    const struct tavola_entity *entity;   /* of tavola_get_async */
    const struct tavola_written *written; /* of tavola_write_async */
    const void *reply;                    /* of tavola_call_async */
    size_t reply_size;
};

/*
 * Runs once for each asynchronous call, in a thread of the library, or, if the client's option dispatches is set, in
 * tavola_dispatch. It may make asynchronous calls; in the library's thread it must not block.
 */
typedef void tavola_done_fn(void *context, const struct tavola_answer *answer);

struct tavola_done {
    tavola_done_fn *run;
    void *context;
};

/* Start calls that end with their callback; what they are given is copied. Repeats and request ids are those of other calls. */
TAVOLA_API void tavola_get_async(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_read_options *options, struct tavola_done done);
TAVOLA_API void tavola_write_async(struct tavola *client, const char *table, enum tavola_action action,
    const struct tavola_entity *entity, const struct tavola_write_options *options, struct tavola_done done);
TAVOLA_API void tavola_call_async(
    struct tavola *client, const struct tavola_call *call, struct tavola_done done);

/*
 * For a program with an event loop of its own, with the option dispatches: a descriptor that is readable (poll, epoll) while callbacks
 * wait, and the function that runs them. It may be readable when none waits any more. The descriptor is the library's: do not read or close it. tavola_dispatch never blocks, and
 * returns how many callbacks have run. -1: the option is not set.
 */
TAVOLA_API int tavola_descriptor(struct tavola *client);
TAVOLA_API int tavola_dispatch(struct tavola *client);

/* Wait until no asynchronous call is open and, with dispatches, until all callbacks have run, in this thread. Not in a callback. */
TAVOLA_API void tavola_drain(struct tavola *client);

/* ---- credentials, made locally ---- */

/* docs/signatures.md has the format, docs/security.md the meaning. Zeroed: not set. */
struct tavola_signature {
    const char *account;
    const char *account_key; /* "tvk1....": never sent */
    int64_t issued_ms;       /* since 1970; 0: now */
    int64_t start_ms, expiry_ms;

    const char
        *table; /* NULL: a token for the whole account, of which only the expiry is set, within 24 hours */
    const char *permissions; /* letters of "raudit" in this order */
    const char *policy;      /* the id of a stored access policy */
    const char *source;      /* "192.0.2.7", "192.0.2.0-192.0.2.255" */
    bool tls_only;
    const char *start_partition, *start_row, *end_partition, *end_row;
};

/*
 * Sign a token or a shared access signature. tavola_free releases *out. No call is made.
 *
 * TAVOLA_INVALID_ARGUMENT  no server would accept it, or it does not mean what it seems to; the message names the field
 */
TAVOLA_API enum tavola_code tavola_sign(
    const struct tavola_signature *signature, char **out, struct tavola_error *error);

#ifdef __cplusplus
}
#endif

#endif
