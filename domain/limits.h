/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - every numeric limit of the product, once, with its unit.
 *
 * The data model's limits are those of the Azure Table service; keys have a byte limit of their own
 * because a longer pair does not fit a b-tree row of PostgreSQL.
 */
#ifndef DOMAIN_LIMITS_H
#define DOMAIN_LIMITS_H

#include <stdint.h>

enum {
    LIMIT_TABLE_NAME_MIN = 3, /* characters */
    LIMIT_TABLE_NAME_MAX = 63,
    LIMIT_KEY_UNITS = 512,           /* UTF-16 code units of a partition or row key */
    LIMIT_KEY_BYTES = 1024,          /* UTF-8 bytes of the same */
    LIMIT_PROPERTY_NAME_UNITS = 255, /* UTF-16 code units */
    LIMIT_PROPERTIES = 252,          /* per entity, without the keys and the timestamp */
    LIMIT_WIDE_PROPERTIES = 100000,  /* the same, in a table with wide entities */
    LIMIT_STRING_UNITS = 32768,      /* UTF-16 code units of a string value: 64 KiB */
    LIMIT_BINARY_BYTES = 65536,
    LIMIT_ENTITY_BYTES = 1024 * 1024,         /* by the size formula in property.h */
    LIMIT_WIDE_BYTES = 16 * 1024 * 1024,      /* of the properties of a wide entity, as they are stored */
    LIMIT_WIDE_READ_BYTES = 64 * 1024 * 1024, /* of wide entities that one transaction holds in memory */
    LIMIT_PART_LIST_BYTES =
        16 * 1024 * 1024, /* of the lists of the parts of several wide entities: part_rows.h */
    /* of the properties that an entry copies, as they are stored; only wide entities can have more */
    LIMIT_ENTRY_BYTES = 2 * 1024 * 1024,
    LIMIT_BATCH_OPERATIONS = 100,           /* of an entity group transaction */
    LIMIT_REQUEST_BYTES = 4 * 1024 * 1024,  /* serialized message */
    LIMIT_RECEIVE_BYTES = 16 * 1024 * 1024, /* the transport's own limit, above the rule */
    LIMIT_HEALTH_RECEIVE_BYTES = 4096,      /* where only probes call */
    LIMIT_ERROR_ENTITY_BYTES = 2048,        /* of an entity that is returned with an error */
    LIMIT_REPLY_BYTES = 3 * 1024 * 1024,    /* except a single larger entity */
    LIMIT_PAGE_ROWS = 1000,
    /* rows looked at for one page; then it ends early */
    LIMIT_PAGE_EXAMINED = 10000,
    LIMIT_PAGE_EXAMINED_BYTES = 16 * 1024 * 1024, /* of keys and properties, for one page */
    LIMIT_PAGE_SEARCHED_BYTES = 64 * 1024 * 1024, /* searched by `contains` for one page */
    LIMIT_BOOKMARK_S = 5,                         /* between two messages of a watch, at most */
    LIMIT_COUNT_EXAMINED = 100000,                /* rows examined if the database counts them itself */
    LIMIT_BATCH_GET_KEYS = 1000,
    LIMIT_TRANSACTION_STEPS = 100,
    LIMIT_TRANSACTION_ATTEMPTS = 1000, /* of a timeline: later ones replace old failures */
    LIMIT_TRANSACTION_RETENTION_S =
        /* after its end; a transaction with an older id is refused, since it could run twice */
    7 * 24 * 60 * 60,
    LIMIT_TRANSACTION_ID_BYTES = 128, /* printable ASCII */
    LIMIT_EFFECT_BYTES = 1024 * 1024, /* of the content that a step brings along */
    LIMIT_APPENDED_FILE_BYTES = 1 << 30,
    LIMIT_APPENDED_FILES = 10000, /* of an account */
    LIMIT_EFFECT_ENTITY_BYTES =
        /* of an entity as a line of JSON, in which a byte can take six */
    8 * 1024 * 1024,
    LIMIT_ID_SCOPE_BYTES = 17,    /* what domain/access/scoped_id.h appends to an id of a signature */
    LIMIT_REQUEST_ID_BYTES = 128, /* printable ASCII */
    LIMIT_FILTER_BYTES = 32768,
    LIMIT_FILTER_DEPTH = 100, /* nested parentheses and nots */
    LIMIT_FILTER_COMPARISONS = 200,
    LIMIT_FILTER_SEARCHES = 16, /* `contains`: each looks through all of a text */
    LIMIT_FILTER_POINTS = 1000, /* single keys of a filter's plan */
    LIMIT_LOOKUP_RANGES = 1000, /* of entries that one look-up reads: see lookup_plan.h */
    LIMIT_ETAG_BYTES = 64,
    LIMIT_TOKEN_BYTES = 4096,
    LIMIT_INDEXES_PER_TABLE = 20,
    LIMIT_ACCOUNT_TABLES = 5000, /* unless a setting says another number */
    LIMIT_ACCOUNT_INDEXES = 5000,
    LIMIT_ACCOUNT_PERIOD_RULES = 100, /* tables that keep tables of periods */
    LIMIT_ACCOUNT_COPY_RULES = 100,
    LIMIT_COPY_PROPERTIES = 64, /* that a copy rule copies */
    LIMIT_COPY_FOLLOWERS = 16,  /* copy rules of one source table: each write of it looks at all */
    LIMIT_ACCOUNT_NAME_MIN = 3, /* characters */
    LIMIT_ACCOUNT_NAME_MAX = 63,
    LIMIT_POLICIES_PER_TABLE = 5,
    LIMIT_POLICY_ID_BYTES = 64, /* printable ASCII */
    /* as text: a signature with four keys of the largest size */
    LIMIT_CREDENTIAL_BYTES = 6144,
    LIMIT_TOKEN_LIFETIME_S = 24 * 60 * 60, /* of an account's token */
    /* by which a signer's clock may be ahead of the server's */
    LIMIT_CLOCK_SKEW_S = 60,
    /* between the date of a request signed with a key, and a server's clock */
    LIMIT_SIGNED_DATE_S = 15 * 60,
    LIMIT_KEY_PARTS = 16,            /* per key of an index */
    LIMIT_INDEX_FILTER_BYTES = 4096, /* of a declaration; each write of the table tests it */
    /* of a value's entries, kept to return its last page first */
    LIMIT_LIST_DESCENT_BYTES = 32 * 1024 * 1024,
    LIMIT_MEMBERS_UNITS = 32768, /* UTF-16 code units of a list page's Members */
    LIMIT_TOKENS = 100,          /* consistency tokens of one look-up */
    LIMIT_TOKEN_PROBES = 16384,  /* keys that all of them search for open intents */
    BUCKETS = 1024,
    LIMIT_BLOB_NAME_BYTES = 1024,
    LIMIT_BLOB_TYPE_BYTES = 255,            /* of a media type */
    LIMIT_BLOB_CHUNK_BYTES = 256 * 1024,    /* stored: a content's chunks have this size */
    LIMIT_BLOB_MESSAGE_BYTES = 1024 * 1024, /* of content in one message of a put */
    /*
     * The memory that a get or put is counted with from its start. A put: a message, what is unpacked from it, the
     * chunk that it fills and the statement. So a put that has begun is not refused for its memory.
     */
    LIMIT_BLOB_GET_BYTES = 3 * LIMIT_BLOB_CHUNK_BYTES,
    LIMIT_BLOB_PUT_BYTES = 2 * (LIMIT_BLOB_MESSAGE_BYTES + LIMIT_BLOB_CHUNK_BYTES),
    LIMIT_UPLOAD_ID_BYTES = 128,        /* printable ASCII */
    LIMIT_UPLOAD_KEPT_S = 24 * 60 * 60, /* since it was continued last; then it is abandoned */
    LIMIT_PUT_KEPT_S = 15 * 60,         /* the same, of an upload without an id */
    LIMIT_ENTITY_BLOBS = 16,            /* that one entity may hold */
    LIMIT_BLOB_READ_KEPT_S = 15,        /* a replaced content, since it was read last */
    LIMIT_BLOB_READ_MAX_S = 60 * 60,    /* a replaced content, however often it is read */
};

#define LIMIT_BLOB_BYTES (INT64_C(64) * 1024 * 1024 * 1024)

#endif
