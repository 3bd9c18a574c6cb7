/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_sketch.h - which partitions of a table are read and written most, counted in bounded memory.
 *
 * A space-saving sketch: it has a fixed number of counters. If a partition comes that has none, the smallest counter is
 * taken from its partition; what that one had counted becomes the error of the new one. Every partition with more than
 * 1/capacity of all accesses has a counter, and a counter is never too large, and too small by its error at most.
 * Beside the counts stands what tells one pattern from another (hot_pattern.h): the order of the row keys written, and
 * the row key that most accesses have.
 *
 * Pure, and constant time per access: it compares with each counter.
 */
#ifndef DOMAIN_SAMPLING_KEY_SKETCH_H
#define DOMAIN_SAMPLING_KEY_SKETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum { SAMPLED_TEXT_BYTES = 120 };

/* A key, or its beginning. */
struct sampled_text {
    uint64_t hash;   /* of the whole key */
    uint32_t length; /* of the whole key */
    uint32_t kept;   /* bytes of it that are here, whole characters */
    char bytes[SAMPLED_TEXT_BYTES];
};

struct key_counter {
    struct sampled_text partition;
    int64_t samples;               /* accesses that were looked at */
    int64_t reads, writes;         /* accesses that they stand for */
    int64_t error;                 /* accesses that may be missing in these */
    struct sampled_text last_row;  /* written last */
    int64_t ascending, descending; /* writes whose row key lies behind, or before, that of the write before */
    int64_t timed;                 /* writes whose row key says a time */
    /*
     * If one row key has more than half of the accesses, it is this one; votes: how many more it has than all others.
     */
    struct sampled_text top_row;
    int64_t top_votes;
};

struct key_sketch {
    int64_t samples;
    int64_t reads, writes;              /* of the whole table */
    int64_t replaced;                   /* how often a counter was taken from its partition */
    struct sampled_text last_partition; /* written last */
    int64_t ascending,
        descending;           /* writes whose partition lies behind, or before, that of the write before */
    struct key_counter *keys; /* of the caller; in no order */
    size_t count, capacity;
};

/* One access, or `weight` of them of which one was looked at. */
struct key_access {
    struct str partition;
    struct str row;
    bool has_row; /* false: more than one row of the partition */
    bool is_write;
    int64_t weight;
};

struct sampled_text sampled_text_of(struct str text);
bool sampled_text_equal(const struct sampled_text *a, const struct sampled_text *b);
struct str sampled_text_str(const struct sampled_text *text); /* borrowed; what is kept */

/* Empty, with these counters. */
void key_sketch_init(struct key_sketch *sketch, struct key_counter *keys, size_t capacity);
void key_sketch_note(struct key_sketch *sketch, const struct key_access *access);

/* Add what another sketch of the same table has counted: of another server, or of another time. */
void key_sketch_merge(struct key_sketch *sketch, const struct key_sketch *other);

#endif
