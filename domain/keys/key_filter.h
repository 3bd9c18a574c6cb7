/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_filter.h - ranges of the two keys.
 *
 * Pure.
 */
#ifndef DOMAIN_KEYS_KEY_FILTER_H
#define DOMAIN_KEYS_KEY_FILTER_H

#include <stdbool.h>

#include "base/str.h"
#include "domain/keys/entity_key.h"

/* The values between low and high. */
struct interval {
    bool has_low, has_high;
    bool low_open, high_open; /* open: without the bound itself */
    struct str low, high;
};

/* The keys within both intervals. */
struct key_filter {
    bool nothing; /* true: no key matches */
    struct interval partition;
    struct interval row;
};

bool interval_contains(const struct interval *interval, struct str text);
bool interval_is_point(const struct interval *interval);
bool key_filter_matches(const struct key_filter *filter, const struct entity_key *key);

#endif
