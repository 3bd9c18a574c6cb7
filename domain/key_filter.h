/*
 * key_filter.h - ranges of the two keys.
 *
 * Pure.
 */
#ifndef DOMAIN_KEY_FILTER_H
#define DOMAIN_KEY_FILTER_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "domain/entity_key.h"

/* The values between low and high. */
struct interval {
    bool has_low, has_high;
    bool low_open, high_open; /* open: the bound itself is not in it */
    struct str low, high;
};

/* A key that does not match: `ne`. */
struct key_exclusion {
    const struct key_exclusion *next;
    bool of_row; /* a row key; else a partition key */
    struct str text;
};

/* A filter reduced to ranges of the two keys, less some. */
struct key_filter {
    bool nothing; /* contradictory: no key matches */
    struct interval partition;
    struct interval row;
    const struct key_exclusion *excluded;
};

/*
 * Only key ranges: parse text into them; empty text matches everything. Literals are unescaped into the arena.
 *
 * STATUS_OK
 * STATUS_INVALID        INVALID_INPUT: a syntax error, with its `position` (bytes from 0); too long, too deep
 * STATUS_UNIMPLEMENTED  NOT_IMPLEMENTED: well formed, but more than key comparisons joined by `and`
 */
MUST_USE enum status key_filter_parse(
    struct str text, struct arena *arena, struct key_filter *out, struct error *err);

bool interval_contains(const struct interval *interval, struct str text);
bool interval_is_point(const struct interval *interval);
bool key_filter_matches(const struct key_filter *filter, const struct entity_key *key);

#endif
