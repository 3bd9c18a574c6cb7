/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etag.h - opaque versions: W/"<table id>.<version>.<key>" in lower-case hexadecimal; the last part
 * has eight digits and is a digest of both keys.
 *
 * A version never repeats for a key and always grows, and a table id is never reused, so an ETag
 * names one state of one entity for ever. Entities with different keys often have equal versions;
 * the digest prevents a caller who mixes up two entities from overwriting the wrong one. It is
 * computed, never stored with entities. ETags of earlier versions end with the version: they are
 * compared by table and version only.
 */
#ifndef DOMAIN_ENTITIES_ETAG_H
#define DOMAIN_ENTITIES_ETAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "domain/keys/entity_key.h"

enum { ETAG_BYTES = 48 }; /* room for the text and a NUL */

struct etag {
    int64_t table_id;
    int64_t version;
    uint32_t key; /* from etag_key; 0: not known, equal to any */
};

/* A condition on the stored entity. */
enum condition_kind {
    CONDITION_NONE,    /* unconditional */
    CONDITION_EXISTS,  /* "*" */
    CONDITION_MATCHES, /* an ETag */
};

struct filter;

struct condition {
    enum condition_kind kind;
    /* CONDITION_MATCHES; {0, 0}: a well-formed ETag that is not ours */
    struct etag etag;
    /* a filter that the stored entity must match as well; empty: none */
    struct str text;
    const struct filter *filter; /* the text, compiled */
};

/* Whether the condition requires anything of the stored entity, and so requires that it exists. */
static inline bool condition_is_set(const struct condition *condition)
{
    return condition->kind != CONDITION_NONE || condition->text.len > 0;
}

/* The digest of a key, which is never 0. */
uint32_t etag_key(const struct entity_key *key);

/*
 * Write the text and a NUL, without the last part if the digest of the key is 0; returns the length
 * without the NUL.
 */
size_t etag_format(struct etag etag, char out[static ETAG_BYTES]);

/*
 * Read `if_match`: "*" or one weak ETag (`W/"..."` or `w/"..."`, printable ASCII without `"`, at
 * most LIMIT_ETAG_BYTES). A well-formed ETag that this service did not write becomes
 * CONDITION_MATCHES with {0, 0}.
 *
 * STATUS_INVALID  INVALID_INPUT: strong, unquoted, empty or several ETags
 */
MUST_USE enum status condition_parse(struct str if_match, struct condition *out, struct error *err);

/* Equal in all parts; a digest of 0 equals every digest. */
static inline bool etag_equal(struct etag a, struct etag b)
{
    return a.table_id == b.table_id && a.version == b.version && (a.key == b.key || a.key == 0 || b.key == 0);
}

#endif
