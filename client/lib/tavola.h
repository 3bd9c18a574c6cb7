/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tavola.h - libtavola, the C client of the table service Tavola. docs/c-client.md is a tour with an example.
 *
 * Errors     A function that can fail returns a code, which is TAVOLA_OK if it succeeded, and fills a struct
 *            tavola_error, a plain value; its parameter may be NULL. Output parameters are unchanged after a failure.
 * Ownership  An object that a function ..._new creates, or that a function opens, belongs to the caller, who
 * ends
 *            it with the function that the comment names; that function accepts NULL. const pointers are borrowed;
 *            the comment says for how long. The library copies its inputs: texts and options may be freed when a
 *            function has returned.
 * Threads    Any number of threads may use a client. An entity, batch, cursor, watch, import or transaction
 * is used
 *            by one thread at a time.
 * Text       UTF-8 with a NUL at the end, unless a size stands beside it.
 * Memory     If memory runs out, the process ends.
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

/* The status codes of gRPC. */
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

/* The name of a code: "NOT_FOUND" and so on. Static. */
TAVOLA_API const char *tavola_code_name(enum tavola_code code);

enum { TAVOLA_METADATA_MAX = 8 };

/* An error. docs/errors.md explains each reason and what to do. */
struct tavola_error {
    enum tavola_code code;
    /* "RESOURCE_NOT_FOUND"; empty: the call did not reach the service, or the library refused it */
    char reason[64];
    char message[512]; /* one sentence, without the reason */
    /* the part of the request that was refused, as a path: "entity.properties[Age]"; empty: not a single part */
    char field[288];
    int64_t retry_after_ms; /* the time that the service asks to wait before the next attempt; -1: none */
    size_t metadata_count;
    struct {
        char key[40];
        char value[260];
    } metadata[TAVOLA_METADATA_MAX]; /* "table", "property" and so on: docs/errors.md */
};

/* The value of a metadata key; NULL: the error does not have the key. Borrowed from the error. */
TAVOLA_API const char *tavola_error_metadata(const struct tavola_error *error, const char *key);

/* ---- a client ---- */

struct tavola; /* a client: one connection, used by any number of threads */

/*
 * Give a token that is valid for some time: copy it, with a NUL, to out, which has room for `size` bytes.
 * false: there is no new token, and calls continue with the previous one. The library calls it in a thread
 * that is about to make a call; the calls do not overlap.
 */
typedef bool tavola_token_fn(void *context, char *out, size_t size);

/* Options of a client. All members zero: the defaults. */
struct tavola_options {
    const char *
        /* "db.example:50051", "unix:/path"; NULL: TAVOLA_TARGET of the environment, or 127.0.0.1:50051 */
        target;
    const char *ca; /* PEM file with the authorities of the server's certificate, for TLS; NULL: plain text */
    const char *certificate; /* PEM files with the client's own certificate and its key; NULL: none */
    const char *key;

    /*
     * At most one credential. The library sends credentials over TLS, to loopback addresses and to Unix
     * sockets only.
     */
    const char *token;       /* a token or a shared access signature */
    const char *account;     /* with account_key: the library signs tokens and renews them before they end */
    const char *account_key; /* "tvk1...."; it is never sent */
    /* called before the first call, and again when a token is about to end or was refused */
    tavola_token_fn *give_token;
    void *give_token_context;

    int64_t timeout_ms; /* of a call with all its attempts; 0: 30 seconds */
    int max_attempts;   /* attempts of a call; 0: 5; 1: a call is never repeated */
    int keepalive_ms;   /* the time between pings while a call is open, at least 10 seconds; 0: 30 seconds */
    bool without_request_ids; /* writes get no request id, so a write whose answer is lost is not repeated */
    bool dispatches;          /* callbacks run in tavola_dispatch: see there */
};

/*
 * Make a client. The first call opens the connection; a later call opens it again if it was lost. options may
 * be NULL. End the client with tavola_close.
 *
 * TAVOLA_INVALID_ARGUMENT  a file cannot be used; a credential over plain text; options that contradict each
 * other
 */
TAVOLA_API enum tavola_code tavola_open(
    const struct tavola_options *options, struct tavola **out, struct tavola_error *error);

/*
 * End a client. Open asynchronous calls end as CANCELLED; all callbacks have run when tavola_close returns.
 * End the client's cursors, watches and imports before.
 */
TAVOLA_API void tavola_close(struct tavola *client);

/* ---- entities ---- */

/* Types of values, with the numbers of the protocol. */
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

/* A time since 1970 in UTC. The service stores times in steps of 100 ns. */
struct tavola_time {
    int64_t seconds;
    int32_t nanos;
};

struct tavola_value {
    enum tavola_type type;
    const char *data;        /* STRING, GUID (36 lower-case characters), BINARY; with a NUL behind it */
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

/*
 * Make an entity without properties; end it with tavola_entity_free. Keys and values are checked by the call
 * that sends the entity.
 */
TAVOLA_API struct tavola_entity *tavola_entity_new(struct tavola_key key);
TAVOLA_API void tavola_entity_free(struct tavola_entity *entity);

/*
 * Copy an entity, such as one of a cursor that is needed after the cursor's next step. End the copy with
 * tavola_entity_free.
 */
TAVOLA_API struct tavola_entity *tavola_entity_copy(const struct tavola_entity *entity);

/* Set a property, or replace it. The value is copied. */
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

/* Set the time from which the service does not show the entity any more. */
TAVOLA_API void tavola_entity_set_expires(struct tavola_entity *entity, struct tavola_time expires);

/*
 * Borrowed until the entity is changed or ended. If the service has not set them, the ETag is empty and a
 * time is 0.
 */
TAVOLA_API struct tavola_key tavola_entity_key(const struct tavola_entity *entity);
TAVOLA_API const char *tavola_entity_etag(const struct tavola_entity *entity);
TAVOLA_API struct tavola_time tavola_entity_timestamp(const struct tavola_entity *entity);
TAVOLA_API struct tavola_time tavola_entity_expires(const struct tavola_entity *entity);

/*
 * A property by name (NULL: there is none), or by position with its name. Borrowed until the entity is
 * changed or ended.
 */
TAVOLA_API size_t tavola_entity_count(const struct tavola_entity *entity);
TAVOLA_API const struct tavola_value *tavola_entity_get(const struct tavola_entity *entity, const char *name);
TAVOLA_API const struct tavola_value *tavola_entity_at(
    const struct tavola_entity *entity, size_t position, const char **name);

/*
 * The value of a property; the fallback if there is no property of this type. tavola_entity_integer accepts
 * Int32 and Int64.
 */
TAVOLA_API const char *tavola_entity_string(
    const struct tavola_entity *entity, const char *name, const char *fallback);
TAVOLA_API int64_t tavola_entity_int64(
    const struct tavola_entity *entity, const char *name, int64_t fallback);
TAVOLA_API double tavola_entity_double(const struct tavola_entity *entity, const char *name, double fallback);
TAVOLA_API bool tavola_entity_boolean(const struct tavola_entity *entity, const char *name, bool fallback);

/*
 * JSON in the form that clients of REST table services use:
 *
 *     {"PartitionKey": "sales", "RowKey": "1", "Age": 36, "Id@odata.type": "Edm.Guid", "Id": "0f..."}
 *
 * The text has the ETag and the times that the entity has: "odata.etag", "Timestamp", and as "tavola.expires" when it
 * expires. Of these, reading keeps only the last one.
 *
 * End *out with tavola_entity_free; release the text with tavola_free.
 *
 * TAVOLA_INVALID_ARGUMENT  not such JSON; the message says where
 */
TAVOLA_API enum tavola_code tavola_entity_from_json(
    const char *json, size_t size, struct tavola_entity **out, struct tavola_error *error);
TAVOLA_API char *tavola_entity_to_json(const struct tavola_entity *entity);

/*
 * Set a property from text. type: "Int32" and so on, in any case; NULL: a string. The name "tavola.expires", which no
 * property can have, sets when the entity expires; its type is "DateTime" or NULL.
 *
 * TAVOLA_INVALID_ARGUMENT  the text is not a value of the type
 * TAVOLA_OUT_OF_RANGE      a time that is not in the years 1601 to 9999
 */
TAVOLA_API enum tavola_code tavola_entity_set_text(struct tavola_entity *entity, const char *name,
    const char *type, const char *text, struct tavola_error *error);

/* Release a text that the library has returned. Accepts NULL. */
TAVOLA_API void tavola_free(char *text);

/* ---- encryption ---- */

/*
 * Properties that are encrypted before they leave the program: docs/client-encryption.md says what is protected and
 * has the format, which the other clients share. Used by any number of threads.
 */
struct tavola_encryption;

enum {
    TAVOLA_CONTENT_KEY_BYTES = 32,
    TAVOLA_MAX_KEY_ID = 64,
    TAVOLA_MAX_WRAPPED_BYTES = 1024,
    TAVOLA_DIGEST_DIGITS = 32
};

/* A content key as it is stored beside a value: encrypted by the key that the id names. */
struct tavola_wrapped_key {
    char key_id[TAVOLA_MAX_KEY_ID + 1];
    size_t size;
    unsigned char bytes[TAVOLA_MAX_WRAPPED_BYTES];
};

/* Wrap a content key of TAVOLA_CONTENT_KEY_BYTES bytes. Called for each new content key: about every five minutes. */
typedef bool tavola_wrap_fn(void *context, const unsigned char *content_key, struct tavola_wrapped_key *out);

/*
 * Unwrap a content key. Never called twice at once.
 *
 * TAVOLA_NOT_FOUND  the key is not known
 * TAVOLA_DATA_LOSS  the key does not fit
 */
typedef enum tavola_code tavola_unwrap_fn(
    void *context, const struct tavola_wrapped_key *wrapped, unsigned char *content_key);

struct tavola_encryption_options {
    const char *account;  /* values are bound to it */
    const char *key_file; /* a line `ID BASE64` for each key of 32 bytes, the current key first */
    tavola_wrap_fn *wrap; /* wrap and unwrap instead of a key file: keys of a service or a device */
    tavola_unwrap_fn *unwrap;
    void *context;
    const unsigned char *blind_key; /* the 32 bytes of the key of digests; NULL: tavola_blind is not used */
};

/*
 * tavola_encryption_free ends *out.
 *
 * TAVOLA_INVALID_ARGUMENT  no account; neither or both of key_file and the functions; a malformed file, with its line
 */
TAVOLA_API enum tavola_code tavola_encryption_open(const struct tavola_encryption_options *options,
    struct tavola_encryption **out, struct tavola_error *error);
TAVOLA_API void tavola_encryption_free(struct tavola_encryption *encryption);

/*
 * Encrypt, before the entity is written, or decrypt, after it was read, those of the named properties that the
 * entity has. names: NULL behind the last. After an error the entity is as it was before.
 *
 * TAVOLA_DATA_LOSS  a value is not encrypted, was changed, or was written for another account, table, entity or
 *                   property; or its key is not known
 * TAVOLA_UNAVAILABLE  a content key cannot be made or wrapped
 */
TAVOLA_API enum tavola_code tavola_encrypt(struct tavola_encryption *encryption, const char *table,
    const char *const *names, struct tavola_entity *entity, struct tavola_error *error);
TAVOLA_API enum tavola_code tavola_decrypt(struct tavola_encryption *encryption, const char *table,
    const char *const *names, struct tavola_entity *entity, struct tavola_error *error);

/*
 * Whether a named property of the entity, as it was read, is plain or encrypted with another key than the current
 * one. To rotate keys: for each such entity of a table, tavola_decrypt, tavola_encrypt, and TAVOLA_REPLACE with the
 * ETag that was read.
 */
TAVOLA_API bool tavola_is_outdated(
    struct tavola_encryption *encryption, const char *const *names, const struct tavola_entity *entity);

/*
 * The digest by which entities with this value of a property are found: store it as a property of its own, and index
 * that. Int32 and Int64 of one number have one digest. out has TAVOLA_DIGEST_DIGITS + 1 bytes.
 *
 * TAVOLA_INVALID_ARGUMENT  there is no blind_key; the value is malformed
 */
TAVOLA_API enum tavola_code tavola_blind(struct tavola_encryption *encryption, const char *table,
    const char *property, const struct tavola_value *value, char *out, struct tavola_error *error);

/* ---- writes ---- */

enum tavola_action {
    TAVOLA_INSERT, /* TAVOLA_ALREADY_EXISTS if the entity exists */
    /* TAVOLA_NOT_FOUND if the entity does not exist; if_match "*" is sent if no condition is given */
    TAVOLA_REPLACE,
    TAVOLA_MERGE,             /* as TAVOLA_REPLACE, but keeps the properties that are not given */
    TAVOLA_INSERT_OR_REPLACE, /* whether the entity exists or not */
    TAVOLA_INSERT_OR_MERGE,
    TAVOLA_DELETE, /* TAVOLA_NOT_FOUND if the entity does not exist */
};

/* Options of a write. All members zero: the defaults. */
struct tavola_write_options {
    const char *if_match;  /* the ETag that the stored entity must have; "*": any. Otherwise TAVOLA_ABORTED */
    const char *condition; /* a filter that the stored entity must match */
    /* writes with the same id take effect once; NULL: the library makes an id */
    const char *request_id;
    int64_t timeout_ms;             /* 0: the timeout of the client */
    struct tavola_written *written; /* filled in unless NULL */
};

struct tavola_written {
    char etag[72];
    struct tavola_time timestamp;
    bool replayed; /* an earlier attempt with this request id has written the entity */
    /* for tavola_lookup: wait until an index shows this write; empty: no index has to follow */
    char consistency_token[4104];
};

/*
 * Write one entity, and set its ETag and timestamp to the new ones. options may be NULL. TAVOLA_DELETE uses
 * only the key.
 */
TAVOLA_API enum tavola_code tavola_write(struct tavola *client, const char *table, enum tavola_action action,
    struct tavola_entity *entity, const struct tavola_write_options *options, struct tavola_error *error);

/* Delete an entity by its key. Without options, its ETag does not matter. */
TAVOLA_API enum tavola_code tavola_delete(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_write_options *options, struct tavola_error *error);

/* An entity group transaction: 1 to 100 writes in one partition that take effect together or not at all. */
struct tavola_batch;

/* Make a batch; end it with tavola_batch_free. */
TAVOLA_API struct tavola_batch *tavola_batch_new(const char *table);
TAVOLA_API void tavola_batch_free(struct tavola_batch *batch);

/* Add a write. The entity is copied. if_match: as in tavola_write_options. */
TAVOLA_API void tavola_batch_add(struct tavola_batch *batch, enum tavola_action action,
    const struct tavola_entity *entity, const char *if_match);

/*
 * Execute the batch. It may be executed again, and writes may be added to it. etags: NULL, or room for one
 * ETag per write. After a failure, the metadata operation_index of the error names the write that was
 * refused.
 */
TAVOLA_API enum tavola_code tavola_batch_execute(struct tavola *client, struct tavola_batch *batch,
    const struct tavola_write_options *options, char (*etags)[72], struct tavola_error *error);

/* ---- reads ---- */

/* Options of a read. All members zero: the defaults. */
struct tavola_read_options {
    /* names of the wanted properties, with NULL behind the last; NULL: all */
    const char *const *select;
    /* id of a transaction; the read fails if it cannot wait for the transaction's end */
    const char *wait_for_transaction;
    int64_t timeout_ms; /* 0: the timeout of the client */
};

/*
 * Read one entity; end *out with tavola_entity_free. options may be NULL. TAVOLA_NOT_FOUND:
 * RESOURCE_NOT_FOUND, TABLE_NOT_FOUND.
 */
TAVOLA_API enum tavola_code tavola_get(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_read_options *options, struct tavola_entity **out, struct tavola_error *error);

/*
 * Read up to 1,000 entities in one snapshot. out has `count` elements: NULL if the entity does not exist; end
 * the others with tavola_entity_free.
 */
TAVOLA_API enum tavola_code tavola_get_many(struct tavola *client, const char *table,
    const struct tavola_key *keys, size_t count, struct tavola_entity **out, struct tavola_error *error);

struct tavola_query {
    const char *table;
    const char *filter; /* NULL: all entities */
    bool descending;    /* the last key first */
    int page_size;      /* 0: 1,000 */
    const char *token;  /* of tavola_cursor_token: continue behind that page; NULL: from the start */
    bool snapshot;      /* scans: all entities as they were at one moment; a break ends such a scan */
    struct tavola_read_options read;
};

struct tavola_lookup {
    const char *index;
    const struct tavola_value *equals; /* values of the parts of the index's key, in their order */
    size_t equals_count;
    const char *consistency_token; /* wait until the index shows that write; NULL: do not wait */
    bool latest;                   /* wait until the index shows every write */
    bool keys_only;                /* the entities have only their keys */
    bool trust_index; /* return the entries as they are, even if work on their entities is open */
    bool descending;
    int page_size;
    const char *token;
    int64_t timeout_ms;        /* of a page; 0: the timeout of the client */
    bool read_sources;         /* read every entity, even where its entry is known to be the same */
    const char *const *select; /* as in tavola_read_options */
};

/*
 * Gives entities one by one. The cursor reads the next page, or continues after a broken connection, by
 * itself.
 */
struct tavola_cursor;

/*
 * Read a query in pages; each page is one snapshot. End the cursor with tavola_cursor_free, before the
 * client. The first call is made at the first step.
 */
TAVOLA_API struct tavola_cursor *tavola_query(struct tavola *client, const struct tavola_query *query);

/*
 * Read all entities of a query as a stream, the quickest way for many entities. page_size is not used.
 *
 * With `snapshot` the database can remove no deleted or replaced rows until the scan ends, so an account may have one
 * at once (SNAPSHOT_RUNNING), and it ends when the server's longest time is over (SNAPSHOT_ENDED). It has no tokens.
 */
TAVOLA_API struct tavola_cursor *tavola_scan(struct tavola *client, const struct tavola_query *query);

/*
 * When the snapshot of a scan was taken, and when the server ends it at the latest, in microseconds since 1970.
 * false: it is not known before the first step, or the scan has none.
 */
TAVOLA_API bool tavola_cursor_snapshot(
    const struct tavola_cursor *cursor, int64_t *taken_us, int64_t *until_us);

/* Read the entities that an index finds. */
TAVOLA_API struct tavola_cursor *tavola_lookup(struct tavola *client, const struct tavola_lookup *lookup);

/*
 * The next entity, borrowed until the next step. false: there is no further entity (error->code is
 * TAVOLA_OK), or the read has failed.
 *
 *     while (tavola_cursor_next(cursor, &entity, &error)) ...
 *     if (error.code) ...
 */
TAVOLA_API bool tavola_cursor_next(
    struct tavola_cursor *cursor, const struct tavola_entity **entity, struct tavola_error *error);

/*
 * The token of the page behind the current one; empty: the current page is the last. Borrowed until the next
 * step.
 */
TAVOLA_API const char *tavola_cursor_token(const struct tavola_cursor *cursor);
TAVOLA_API void tavola_cursor_free(struct tavola_cursor *cursor);

/* Count the entities that match. filter NULL: all. */
TAVOLA_API enum tavola_code tavola_count(
    struct tavola *client, const char *table, const char *filter, int64_t *out, struct tavola_error *error);

/* ---- tables and indexes ---- */

TAVOLA_API enum tavola_code tavola_create_table(
    struct tavola *client, const char *table, struct tavola_error *error);
TAVOLA_API enum tavola_code tavola_delete_table(
    struct tavola *client, const char *table, struct tavola_error *error);

/*
 * Where a dependent has one of the two keys of its source: in a property, or it is the same text for all.
 * Exactly one of the two is set. PartitionKey and RowKey of the dependent count as properties.
 */
struct tavola_copy_key {
    const char *property, *literal;
};

/* A property of the dependents, and the property of the source that it is a copy of. */
struct tavola_copied {
    const char *property, *of;
};

/*
 * A copy rule: workers keep copies of properties of the entity that an entity of the table names, its source.
 * docs/patterns/denormalization.md
 */
struct tavola_copies {
    const char *source_table;
    struct tavola_copy_key partition_key, row_key; /* of the source; at least one is a property */
    const struct tavola_copied *properties;        /* behind the last one stands { NULL, NULL } */
    const char *version_property; /* of the dependents, for the ETag of the source; NULL: none */
    bool keep; /* the copies of a source that does not exist stay; otherwise they are removed */
};

/* The common form of an index. Declare other forms with tavola_call_json("CreateIndex", ...). */
struct tavola_index {
    const char *name;
    const char *table;
    const char *const *
        /*
         * the properties that the index finds by, with NULL behind the last; the first is the partition key
         * of the entries
         */
        by;
    const char *filter; /* only entities that match have an entry; NULL: all have */
    bool
        /*
         * the entries lie in the partition of their entity: always up to date, but only found within a
         * partition
         */
        in_same_partition;
    bool strong; /* the entries lie in other partitions and are always up to date */
    bool unique; /* each value has at most one entity */
    /*
     * the write of an entity that cannot have its entry is refused, and a build that finds one fails; otherwise the
     * entity has no entry, and is counted
     */
    bool reject_violations;
    /*
     * the properties that the entries have, with NULL behind the last; of a list of NULL alone they have only the keys
     * of their entities; NULL: they have all, which a table with wide entities refuses
     */
    const char *const *select;
    /* the index finds the dependents of a copy rule, and is strong; `by` is NULL. NULL: no rule */
    const struct tavola_copies *copies;
};

/*
 * Declare an index, and wait up to timeout_ms until it is built; 0: do not wait. If the index is not built by
 * then: TAVOLA_DEADLINE_EXCEEDED, and the build continues. TAVOLA_ALREADY_EXISTS: an index has this name.
 */
TAVOLA_API enum tavola_code tavola_create_index(
    struct tavola *client, const struct tavola_index *index, int64_t timeout_ms, struct tavola_error *error);

/*
 * Wait until a long-running operation has ended. TAVOLA_OK: it has succeeded; TAVOLA_CANCELLED: it was
 * cancelled; otherwise its own error.
 */
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

/*
 * Make a transaction; end it with tavola_transaction_free. Transactions with the same id take effect once. id
 * NULL: the library makes an id.
 */
TAVOLA_API struct tavola_transaction *tavola_transaction_new(const char *id);
TAVOLA_API void tavola_transaction_free(struct tavola_transaction *transaction);

/* Borrowed until the transaction is ended. */
TAVOLA_API const char *tavola_transaction_id(const struct tavola_transaction *transaction);

/*
 * Add a step. merge: keep the properties that are not given. if_match: the ETag that the entity must have;
 * NULL: no condition.
 */
TAVOLA_API void tavola_transaction_put(struct tavola_transaction *transaction, const char *table,
    const struct tavola_entity *entity, bool merge, const char *if_match);
TAVOLA_API void tavola_transaction_delete(
    struct tavola_transaction *transaction, const char *table, struct tavola_key key, const char *if_match);
TAVOLA_API void tavola_transaction_move(struct tavola_transaction *transaction, const char *table,
    struct tavola_key key, const char *to_table, struct tavola_key to_key);

/*
 * What a step outside the tables writes: bytes, or an entity as one line of JSON. table NULL: the bytes. delete_entity:
 * the entity is deleted with the step's end, if it has not changed.
 */
struct tavola_content {
    const void *data;
    size_t size;
    const char *table;
    struct tavola_key key;
    bool delete_entity;
};

/*
 * Add a step that makes a file of the account; docs/steps.md has the rules. if_match: the ETag of the entity, or
 * NULL.
 */
TAVOLA_API void tavola_transaction_write_file(struct tavola_transaction *transaction, const char *path,
    const struct tavola_content *content, const char *if_match);
/* Likewise a step that appends to a file. */
TAVOLA_API void tavola_transaction_append_file(struct tavola_transaction *transaction, const char *path,
    const struct tavola_content *content, const char *if_match);

/* The blob that a step puts. The texts may be NULL, except the name. */
struct tavola_blob_target {
    const char *name;
    const char *content_type;
    const char *if_match; /* the ETag of the blob that is replaced, or "*" */
    bool if_absent;       /* no blob may have the name */
};

/* Likewise a step that puts a blob. if_match is about the entity, the conditions of `blob` about the blob. */
TAVOLA_API void tavola_transaction_put_blob(struct tavola_transaction *transaction,
    const struct tavola_blob_target *blob, const struct tavola_content *content, const char *if_match);
/* Add a step that deletes a blob, if there is one. if_match: the ETag of the blob, or NULL. */
TAVOLA_API void tavola_transaction_delete_blob(
    struct tavola_transaction *transaction, const char *name, const char *if_match);

/* The request that a step sends to a host that the operator allows. The texts may be NULL, except the URL. */
struct tavola_http_request {
    const char *url;
    const char *method;       /* "POST", which is also meant by NULL, or "PUT" */
    const char *content_type; /* NULL: application/octet-stream for bytes, application/json for an entity */
};

/*
 * Add a step that calls a service over HTTP, with `content` as the body. The request is sent at least once, each time
 * with the same header Idempotency-Key, by which the receiver must recognize a repeat. if_match is about the entity.
 */
TAVOLA_API void tavola_transaction_http_call(struct tavola_transaction *transaction,
    const struct tavola_http_request *request, const struct tavola_content *content, const char *if_match);

/*
 * Submit the transaction. The service then carries it out even if the caller ends. Submitting it again with
 * the same id is harmless.
 */
TAVOLA_API enum tavola_code tavola_transaction_submit(
    struct tavola *client, const struct tavola_transaction *transaction, struct tavola_error *error);

/* Wait until the transaction has a final state, or until the timeout. *out: the state at the end. */
TAVOLA_API enum tavola_code tavola_transaction_wait(struct tavola *client, const char *id, int64_t timeout_ms,
    enum tavola_transaction_state *out, struct tavola_error *error);

/* ---- the changes of a table ---- */

struct tavola_watch;

struct tavola_watch_options {
    const char *table;         /* the table, which must keep a change feed (UpdateTable) */
    const char *filter;        /* NULL: all entities */
    const char *token;         /* of tavola_watch_token; NULL: only changes from now on */
    const char *const *select; /* as in tavola_read_options */
    bool bookmarks;            /* give messages without changes too: the token has moved on */
};

struct tavola_change {
    const struct tavola_entity
        /* for a deletion it has only its keys; NULL: a bookmark. Borrowed until the next step */
        *entity;
    bool inserted, deleted; /* both false: the entity was updated */
    bool
        left_out; /* a wide entity with more properties than the feed keeps, so it has only its keys: read it */
};

/* Watch a table. The first step opens the stream. End the watch with tavola_watch_free, before the client. */
TAVOLA_API struct tavola_watch *tavola_watch(
    struct tavola *client, const struct tavola_watch_options *options);

/*
 * Wait for the next change. If the connection breaks, the watch opens it again; the changes since the last
 * token may then be given again.
 *
 * false: tavola_watch_stop was called (TAVOLA_CANCELLED), or the watch cannot continue. After
 * RESYNC_REQUIRED, watch without a token and read the table.
 */
TAVOLA_API bool tavola_watch_next(
    struct tavola_watch *watch, struct tavola_change *out, struct tavola_error *error);

/*
 * The position behind the changes that were given, as soon as all changes of a message were. Borrowed until
 * the next step.
 */
TAVOLA_API const char *tavola_watch_token(const struct tavola_watch *watch);

/* Let tavola_watch_next return soon. Any thread may call it; a signal handler must not. */
TAVOLA_API void tavola_watch_stop(struct tavola_watch *watch);
TAVOLA_API void tavola_watch_free(struct tavola_watch *watch);

/* ---- blobs ---- */

struct tavola_blob {
    int64_t size;
    char sha256[65]; /* hexadecimal */
    char etag[40];
};

/* A put. Members that are zero are not used. */
struct tavola_blob_put {
    const char *name; /* NULL: for entities; the reference is tavola-blob: and the ETag without its quotes */
    const char *content_type;
    const char *if_match; /* an ETag, or "*": replace this content, or any */
    bool if_absent;       /* put the blob only if the name is free */
    const char
        *upload_id; /* makes the upload one that can be continued: 1 to 128 printable ASCII characters */
    int64_t offset; /* continues an upload: the bytes that are stored */
    /* Give up to `room` of the next bytes. Returns their number; 0: there are no more; below 0: end the put. */
    int64_t (*read)(void *context, void *buffer, size_t room);
    void *context;
};

/*
 * Put a blob; out may be NULL. The name points to the new content only if TAVOLA_OK is returned; after
 * TAVOLA_UNAVAILABLE that is not known. A put is made once: to repeat it without harm, give it an upload_id.
 * TAVOLA_CANCELLED without a reason: read has ended it.
 */
TAVOLA_API enum tavola_code tavola_put_blob(struct tavola *client, const struct tavola_blob_put *put,
    struct tavola_blob *out, struct tavola_error *error);

/* A get. Members that are zero are not used. */
struct tavola_blob_get {
    const char *name;
    const char *if_match; /* an ETag: this content only */
    int64_t offset;       /* the first byte */
    int64_t length;       /* at most so many bytes; 0: up to the end */
    /* Take the next bytes. false: end the get. */
    bool (*write)(void *context, const void *bytes, size_t count);
    void *context;
    const char *reference; /* instead of a name: of a content that an entity holds */
};

/*
 * Get a blob, or a range of it; out may be NULL, and describes the whole blob. Use what was written only if
 * TAVOLA_OK is returned: before, the content has not been compared with its SHA-256.
 */
TAVOLA_API enum tavola_code tavola_get_blob(struct tavola *client, const struct tavola_blob_get *get,
    struct tavola_blob *out, struct tavola_error *error);

/* ---- import ---- */

struct tavola_import;

/*
 * Called for an entity that was refused, in the thread that calls the import's functions. All arguments are
 * borrowed for the call.
 */
typedef void tavola_rejected_fn(
    void *context, int64_t position, struct tavola_key key, const struct tavola_error *why);

struct tavola_import_options {
    const char *table;
    tavola_rejected_fn *rejected; /* NULL: refused entities are only counted */
    void *context;
};

/*
 * Insert or replace any number of entities, in the quickest way. End the import with tavola_import_free,
 * before the client.
 */
TAVOLA_API struct tavola_import *tavola_import(
    struct tavola *client, const struct tavola_import_options *options);

/* Add an entity. It is copied, and sent together with others. Waits while too many are under way. */
TAVOLA_API enum tavola_code tavola_import_add(
    struct tavola_import *import, const struct tavola_entity *entity, struct tavola_error *error);

/* Send the remaining entities and wait until all are committed or refused. */
TAVOLA_API enum tavola_code tavola_import_finish(struct tavola_import *import, struct tavola_error *error);

/*
 * The numbers of entities that were committed and refused. settled: the number of entities, from the first
 * one on without a gap, that were committed or refused.
 */
TAVOLA_API int64_t tavola_import_committed(const struct tavola_import *import);
TAVOLA_API int64_t tavola_import_rejected(const struct tavola_import *import);
TAVOLA_API int64_t tavola_import_settled(const struct tavola_import *import);

/* Whether the import itself has failed. If not, an error of tavola_import_add concerns only its entity. */
TAVOLA_API bool tavola_import_has_ended(const struct tavola_import *import);
TAVOLA_API void tavola_import_free(struct tavola_import *import);

/* ---- any method, with JSON ---- */

/*
 * Call a unary method. Its request is JSON in protobuf's mapping: tavola_call_json(client, "GetTable",
 * "{\"name\": \"people\"}", ...). method: "GetTable", "TableService.GetTable", "TableService/GetTable" or a
 * whole path. Timeouts, attempts and request ids are those of other calls. *reply is JSON on one line;
 * release it with tavola_free.
 *
 * TAVOLA_INVALID_ARGUMENT  also if there is no such method, or the JSON does not fit its request
 */
TAVOLA_API enum tavola_code tavola_call_json(
    struct tavola *client, const char *method, const char *request, char **reply, struct tavola_error *error);

/* ---- any method, with the fields of its reply by name ---- */

struct tavola_question {
    const char *method;  /* as in tavola_call_json */
    const char *request; /* JSON */
    int64_t timeout_ms;  /* 0: the client's */
};

/* The reply to a question. tavola_reply_free ends it, and what it has lent. */
struct tavola_reply;

/*
 * A message in a reply, as long as the reply lives; its members are the library's. A message that is absent
 * is empty.
 */
struct tavola_record {
    const void *type;
    const void *data;
    size_t size;
};

/*
 * Call a unary method as tavola_call_json does; the fields of the reply are then read by name:
 *     tavola_ask(client, &(struct tavola_question){ "GetIndex", "{\"name\": \"byCity\"}" }, &reply, &error)
 *     record = tavola_reply_record(reply);
 *     tavola_record_integer(&record, "status.lag.openIntents")
 */
TAVOLA_API enum tavola_code tavola_ask(struct tavola *client, const struct tavola_question *question,
    struct tavola_reply **out, struct tavola_error *error);
TAVOLA_API struct tavola_record tavola_reply_record(const struct tavola_reply *reply);
TAVOLA_API void tavola_reply_free(struct tavola_reply *reply);

/*
 * Fields. path: names as in JSON or as in the .proto file, with points between them: "status.lag.age". What
 * is not set has its default: 0, empty, no element. So has a path that the message does not know, which
 * tavola_record_has tells.
 */
TAVOLA_API bool tavola_record_has(const struct tavola_record *record, const char *path);

/* A number or the number of an enum's value, as an integer. */
TAVOLA_API int64_t tavola_record_integer(const struct tavola_record *record, const char *path);

/*
 * The same as a double; of a duration, or a time since 1970, its seconds. fallback: the field is none of
 * these, or is absent.
 */
TAVOLA_API double tavola_record_number(const struct tavola_record *record, const char *path, double fallback);

/*
 * A field as text: enums by name without what all names of the enum begin with ("PAUSED" for
 * QUEUE_STATE_PAUSED), UNSPECIFIED as ""; times, durations and other messages as in JSON; of a list, each
 * element on a line. tavola_free releases it.
 */
TAVOLA_API char *tavola_record_text(const struct tavola_record *record, const char *path);

/* The message as JSON on one line. tavola_free releases it. */
TAVOLA_API char *tavola_record_json(const struct tavola_record *record);

/* A message that is a field. */
TAVOLA_API struct tavola_record tavola_record_part(const struct tavola_record *record, const char *path);

/* The number of elements of a list; of another field, 1 if it is set. */
TAVOLA_API size_t tavola_record_count(const struct tavola_record *record, const char *path);

/*
 * The next message of a list; *position is 0 before the first:
 *     size_t position = 0;
 *     while (tavola_record_next(&record, "indexes", &position, &index)) ...
 */
TAVOLA_API bool tavola_record_next(
    const struct tavola_record *record, const char *path, size_t *position, struct tavola_record *out);

/* ---- any method, with protobuf bytes ---- */

/* A unary method; method: a whole path, "/tavola.v1.TableService/GetTable". timeout_ms: 0: the client's. */
struct tavola_call {
    const char *method;
    const void *request;
    size_t size;
    int64_t timeout_ms;
};
TAVOLA_API enum tavola_code tavola_call(struct tavola *client, const struct tavola_call *call, char **reply,
    size_t *reply_size, struct tavola_error *error);

/*
 * Open a method with several requests or replies, as protobuf bytes. The call is never repeated. timeout_ms
 * 0: no timeout. End the stream with tavola_stream_end.
 */
struct tavola_stream;
TAVOLA_API enum tavola_code tavola_stream_open(struct tavola *client, const char *method, int64_t timeout_ms,
    struct tavola_stream **out, struct tavola_error *error);

/* false: the stream has ended; tavola_stream_end returns its status. */
TAVOLA_API bool tavola_stream_send(struct tavola_stream *stream, const void *request, size_t size);
TAVOLA_API void tavola_stream_half_close(struct tavola_stream *stream);

/* The next reply, borrowed until the next step. false: there is no further reply. */
TAVOLA_API bool tavola_stream_receive(struct tavola_stream *stream, const void **reply, size_t *size);

/* Cancel the stream: its other functions return soon. Any thread may call it. */
TAVOLA_API void tavola_stream_cancel(struct tavola_stream *stream);

/* End the stream and free it. Returns the status; a stream that has not ended is cancelled. */
TAVOLA_API enum tavola_code tavola_stream_end(struct tavola_stream *stream, struct tavola_error *error);

/* ---- asynchronous calls ---- */

/* How an asynchronous call has ended. Borrowed for the callback. */
struct tavola_answer {
    struct tavola_error error;            /* code TAVOLA_OK: the call has succeeded */
    const struct tavola_entity *entity;   /* set by tavola_get_async */
    const struct tavola_written *written; /* set by tavola_write_async */
    const void *reply;                    /* set by tavola_call_async */
    size_t reply_size;
};

/*
 * Called once for each asynchronous call: in a thread of the library or, if the client's option `dispatches`
 * is set, in tavola_dispatch. The callback may make asynchronous calls. In the library's thread it must not
 * block.
 */
typedef void tavola_done_fn(void *context, const struct tavola_answer *answer);

struct tavola_done {
    tavola_done_fn *run;
    void *context;
};

/*
 * Start calls that end with their callback. The arguments are copied. Attempts and request ids are those of
 * other calls.
 */
TAVOLA_API void tavola_get_async(struct tavola *client, const char *table, struct tavola_key key,
    const struct tavola_read_options *options, struct tavola_done done);
TAVOLA_API void tavola_write_async(struct tavola *client, const char *table, enum tavola_action action,
    const struct tavola_entity *entity, const struct tavola_write_options *options, struct tavola_done done);
TAVOLA_API void tavola_call_async(
    struct tavola *client, const struct tavola_call *call, struct tavola_done done);

/*
 * For a program with its own event loop, if the option `dispatches` is set. tavola_descriptor returns a
 * descriptor that is readable (poll, epoll) while callbacks wait; it may be readable when none waits any
 * more. The descriptor belongs to the library: do not read or close it. tavola_dispatch runs the waiting
 * callbacks, never blocks, and returns their number. -1: the option is not set.
 */
TAVOLA_API int tavola_descriptor(struct tavola *client);
TAVOLA_API int tavola_dispatch(struct tavola *client);

/*
 * Wait until no asynchronous call is open and all callbacks have run; if `dispatches` is set, they run in
 * this thread. Do not call it in a callback.
 */
TAVOLA_API void tavola_drain(struct tavola *client);

/* ---- credentials, made locally ---- */

/*
 * A credential that is made without a call. docs/signatures.md has the format, docs/security.md the meaning.
 * Zero and NULL: not set.
 */
struct tavola_signature {
    const char *account;
    const char *account_key; /* "tvk1...."; it is never sent */
    int64_t issued_ms;       /* since 1970; 0: now */
    int64_t start_ms, expiry_ms;

    const char
        /* NULL: make a token for the whole account, for which only the expiry may be set, within 24 hours */
        *table;
    const char *permissions; /* letters of "raudit", in this order */
    const char *policy;      /* id of a stored access policy */
    const char *source;      /* "192.0.2.7", "192.0.2.0-192.0.2.255" */
    bool tls_only;
    const char *start_partition, *start_row, *end_partition, *end_row;
};

/*
 * Sign a token or a shared access signature; release *out with tavola_free.
 *
 * TAVOLA_INVALID_ARGUMENT  no server would accept the credential, or it would not mean what it seems to; the
 * message
 *                          names the field
 */
TAVOLA_API enum tavola_code tavola_sign(
    const struct tavola_signature *signature, char **out, struct tavola_error *error);

#ifdef __cplusplus
}
#endif

#endif
