/* SPDX-License-Identifier: Apache-2.0 */
/* fact.h - something that a server on which Tavola rests says of itself: a setting, a count, an age. */
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
