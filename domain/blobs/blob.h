/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob.h - a blob as a value: its name, its content's id, and what callers see of it.
 *
 * A content is written once, in chunks of BLOB_CHUNK_BYTES of which only the last may be shorter,
 * and never changes. A blob is a name that points to a content; a put points the name to another
 * one. docs/blobs.md describes the whole.
 */
#ifndef DOMAIN_BLOBS_BLOB_H
#define DOMAIN_BLOBS_BLOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

enum { BLOB_ID_BYTES = 16, BLOB_DIGEST_BYTES = 32 };

/* The id of a content: random, never used for another content of any name. */
struct blob_id {
    uint8_t bytes[BLOB_ID_BYTES];
};

/* A SHA-256. */
struct blob_digest {
    uint8_t bytes[BLOB_DIGEST_BYTES];
};

static inline struct str blob_id_str(const struct blob_id *id)
{
    return str_of_bytes(id->bytes, sizeof(id->bytes));
}

static inline struct str blob_digest_str(const struct blob_digest *digest)
{
    return str_of_bytes(digest->bytes, sizeof(digest->bytes));
}

struct blob {
    struct str name;
    struct blob_id content;
    int64_t size; /* bytes */
    struct str content_type;
    struct blob_digest digest; /* of the whole content */
    int64_t created;           /* ticks */
};

/* The state of a content. Stored: never change a number. */
enum blob_content_state {
    BLOB_CONTENT_OPEN = 1,      /* it is being uploaded */
    BLOB_CONTENT_CURRENT = 2,   /* a blob points to it, or entities hold it */
    BLOB_CONTENT_DISCARDED = 3, /* no blob will ever point to it again: the collector removes it */
    BLOB_CONTENT_COMPLETE = 4,  /* put without a name, and no entity holds it yet */
};

/* Whether an upload has ended with this state: it stores nothing more. */
static inline bool blob_content_is_complete(enum blob_content_state state)
{
    return state == BLOB_CONTENT_CURRENT || state == BLOB_CONTENT_COMPLETE;
}

/* An upload, as its caller sees it. */
struct blob_upload {
    struct blob_id content;
    enum blob_content_state state;
    int64_t stored;     /* bytes */
    int64_t kept_until; /* ticks: when it counts as abandoned */
};

/*
 * Check the name of a blob: 1 to LIMIT_BLOB_NAME_BYTES bytes of UTF-8, parts between slashes that
 * are not empty, "." or "..", no control characters.
 *
 * STATUS_INVALID  INVALID_INPUT: the message says what is wrong and where
 */
MUST_USE enum status blob_name_check(struct str name, struct error *err);

/*
 * Check the beginning of a name, with which a list is asked for: as a name, but it may be empty and
 * end anywhere.
 */
MUST_USE enum status blob_prefix_check(struct str prefix, struct error *err);

/* Check a media type: up to LIMIT_BLOB_TYPE_BYTES printable ASCII characters, or empty. INVALID_INPUT. */
MUST_USE enum status blob_content_type_check(struct str content_type, struct error *err);

/* The ETag of a content: its id in hexadecimal, in double quotes. */
struct str blob_etag_format(const struct blob_id *id, struct arena *arena);

/* false: text is not the ETag of a blob; *out is unchanged. */
MUST_USE bool blob_etag_parse(struct str text, struct blob_id *out);

#endif
