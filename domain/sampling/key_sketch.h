/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_sketch.h - which partitions of a table are read and written most, counted in bounded memory.
 *
 * A space-saving sketch has a fixed number of counters. If a partition without a counter is
 * accessed, the smallest counter is taken from its partition, and its count becomes the error of
 * the new one. Every partition with more than 1/capacity of all accesses has a counter. A counter
 * is never too large, and too small by at most its error.
 *
 * The counters also contain what distinguishes the patterns of hot_pattern.h: the order in which
 * row keys are written, and the row key with most accesses.
 *
 * Pure. An access takes constant time, since it is compared with each counter.
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
    uint32_t kept;   /* number of bytes kept here, in whole characters */
    char bytes[SAMPLED_TEXT_BYTES];
};

struct key_counter {
    struct sampled_text partition;
    int64_t samples;              /* sampled accesses */
    int64_t reads, writes;        /* accesses that the samples stand for */
    int64_t error;                /* number of accesses that may be missing in reads and writes */
    struct sampled_text last_row; /* written last */
    /* writes whose row key is greater, or smaller, than that of the previous write */
    int64_t ascending, descending;
    int64_t timed; /* writes whose row key contains a time */
    /*
     * The row key that has more than half of the accesses, if one has; votes: how many more it has
     * than all others.
     */
    struct sampled_text top_row;
    int64_t top_votes;
};

struct key_sketch {
    int64_t samples;
    int64_t reads, writes;              /* of the whole table */
    int64_t replaced;                   /* how often a counter was given to another partition */
    struct sampled_text last_partition; /* written last */
    int64_t ascending,
        /* writes whose partition key is greater, or smaller, than that of the previous write */
        descending;
    struct key_counter *keys; /* the caller's; in no order */
    size_t count, capacity;
};

/* One access, or `weight` accesses of which one was sampled. */
struct key_access {
    struct str partition;
    struct str row;
    bool has_row; /* false: the access was to more than one row of the partition */
    bool is_write;
    int64_t weight;
};

struct sampled_text sampled_text_of(struct str text);
bool sampled_text_equal(const struct sampled_text *a, const struct sampled_text *b);
/* The part of the key that is kept; borrowed. */
struct str sampled_text_str(const struct sampled_text *text);

/* Make an empty sketch with these counters. */
void key_sketch_init(struct key_sketch *sketch, struct key_counter *keys, size_t capacity);
void key_sketch_note(struct key_sketch *sketch, const struct key_access *access);

/* Add the counts of another sketch of the same table: of another server, or of another time. */
void key_sketch_merge(struct key_sketch *sketch, const struct key_sketch *other);

#endif
