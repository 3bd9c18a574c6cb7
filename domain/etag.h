/*
 * etag.h - opaque versions: W/"<table id>.<version>", both in lower-case hexadecimal.
 *
 * A version never repeats for a key and always grows, and a table id is never reused, so an ETag names
 * one state of one entity for ever.
 */
#ifndef DOMAIN_ETAG_H
#define DOMAIN_ETAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

enum { ETAG_BYTES = 48 }; /* room for the text and a NUL */

struct etag {
    int64_t table_id;
    int64_t version;
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

/* Write the text and a NUL; returns its length. */
size_t etag_format(struct etag etag, char out[static ETAG_BYTES]);

/*
 * Read `if_match`: "*" or one weak ETag (`W/"..."` or `w/"..."`, printable ASCII without `"`, at most
 * LIMIT_ETAG_BYTES). A well-formed one that we did not write is CONDITION_MATCHES with {0, 0}.
 * STATUS_INVALID  INVALID_INPUT: strong, unquoted, empty or several ETags
 */
MUST_USE enum status condition_parse(struct str if_match, struct condition *out, struct error *err);

static inline bool etag_equal(struct etag a, struct etag b)
{
    return a.table_id == b.table_id && a.version == b.version;
}

#endif
