/* SPDX-License-Identifier: Apache-2.0 */
/*
 * etag.h - opaque versions: W/"<table id>.<version>.<key>" in lower-case hexadecimal, the last with eight digits: a
 * digest of both keys.
 *
 * A version never repeats for a key and always grows, and a table id is never reused, so an ETag names one state of
 * one entity for ever. Versions of different keys are equal all the time; the digest keeps a caller who mixes up two
 * entities from writing over the wrong one. It is computed, never stored with entities. Before there was one, ETags
 * ended with the version: such are compared by table and version.
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
    uint32_t key; /* etag_key; 0: not known, whatever the key */
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
    struct etag etag;            /* CONDITION_MATCHES; {0, 0} for a well-formed ETag that is none of ours */
    struct str text;             /* filter text over the stored entity, beside the above; empty: none */
    const struct filter *filter; /* the text, compiled */
};

/* Is anything asked of the stored entity? Then it must be there. */
static inline bool condition_is_set(const struct condition *condition)
{
    return condition->kind != CONDITION_NONE || condition->text.len > 0;
}

/* The digest of a key, which is never 0. */
uint32_t etag_key(const struct entity_key *key);

/* Write the text and a NUL, without the last part where the key is not known; returns its length. */
size_t etag_format(struct etag etag, char out[static ETAG_BYTES]);

/*
 * Read `if_match`: "*" or one weak ETag (`W/"..."` or `w/"..."`, printable ASCII without `"`, at most
 * LIMIT_ETAG_BYTES). A well-formed one that we did not write is CONDITION_MATCHES with {0, 0}.
 * STATUS_INVALID  INVALID_INPUT: strong, unquoted, empty or several ETags
 */
MUST_USE enum status condition_parse(struct str if_match, struct condition *out, struct error *err);

/* A key that is not known is equal to any. */
static inline bool etag_equal(struct etag a, struct etag b)
{
    return a.table_id == b.table_id && a.version == b.version && (a.key == b.key || a.key == 0 || b.key == 0);
}

#endif
