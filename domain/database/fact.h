/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fact.h - a fact that PostgreSQL or Redis reports about itself: a setting, a count, an age.
 */
#ifndef DOMAIN_DATABASE_FACT_H
#define DOMAIN_DATABASE_FACT_H

#include <stddef.h>

#include "base/str.h"

struct fact {
    struct str name;
    struct str value; /* text; numbers in decimal, durations in seconds, sizes in bytes */
};

struct facts {
    struct fact *items;
    size_t count;
};

#endif
