/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot_pattern.h - recognises the access pattern of a partition with many accesses: the
 * anti-patterns of table design, as far as a sketch shows them.
 *
 * The result is a guess from samples, with the remedy of the design guide and an example of a key
 * that spreads the accesses. Pure.
 */
#ifndef DOMAIN_SAMPLING_HOT_PATTERN_H
#define DOMAIN_SAMPLING_HOT_PATTERN_H

#include "base/arena.h"
#include "domain/sampling/key_sketch.h"

/* The numbers are those of the API. */
enum hot_pattern {
    HOT_NONE,            /* too few samples, or no known pattern */
    HOT_APPEND,          /* each write comes behind the one before */
    HOT_PREPEND,         /* each write comes before the one before */
    HOT_TIME_BUCKET,     /* the partition key is a time, and the newest one has most writes */
    HOT_SINGLE_KEY,      /* one entity has most accesses of its partition */
    HOT_LOW_CARDINALITY, /* the partition key has few values, so each partition is large */
    HOT_LOG_DATA,        /* row keys are times, written in ascending order, and rarely read */
    HOT_PATTERNS
};

/* A partition of a sketch; without a counter, the order of the partitions themselves. */
struct hot_subject {
    const struct key_sketch *sketch;
    const struct key_counter *counter; /* one of the sketch's, or NULL */
    bool is_index;                     /* the partitions are those of an index's entries */
};

enum hot_pattern hot_pattern_of(const struct hot_subject *subject);

/* The name as in the API, without its prefix. */
const char *hot_pattern_name(enum hot_pattern pattern);

/* What the guide advises, in one sentence; empty for HOT_NONE. */
const char *hot_pattern_remedy(enum hot_pattern pattern, bool is_index);

/*
 * A partition key that the entities of this one could have instead; empty for HOT_NONE. In the
 * arena.
 */
struct str hot_pattern_example(
    enum hot_pattern pattern, const struct hot_subject *subject, struct arena *arena);

#endif
