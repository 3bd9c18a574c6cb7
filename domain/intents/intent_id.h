/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent_id.h - the id of an intent: when it was made, by which session, and a counter.
 *
 * Ids are in the order in which they were made, by the database's clock, not in the order of
 * commits (guard G13). PostgreSQL stores an id as a uuid, whose order is the same; messages have it
 * as 32 hexadecimal digits.
 */
#ifndef DOMAIN_INTENTS_INTENT_ID_H
#define DOMAIN_INTENTS_INTENT_ID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/str.h"

enum { INTENT_ID_DIGITS = 32, INTENT_ID_TEXT_BYTES = INTENT_ID_DIGITS + 1 };

/* All zeros: no intent; it sorts before every id. */
struct intent_id {
    /* microseconds since 1970, by the database's clock; stored ids may have any 64 bits */
    uint64_t us;
    uint64_t low; /* the session's random number above, its counter below: 32 bits each */
};

static inline struct intent_id intent_id_of(int64_t us, uint32_t origin, uint32_t counter)
{
    return (struct intent_id){ .us = (uint64_t)us, .low = (uint64_t)origin << 32 | counter };
}

/* The first id of a time; before 1970: the first of all. */
static inline struct intent_id intent_id_first_at(int64_t us)
{
    return intent_id_of(us > 0 ? us : 0, 0, 0);
}

static inline int64_t intent_id_us(struct intent_id id)
{
    return (int64_t)id.us;
}

static inline bool intent_id_is_none(struct intent_id id)
{
    return id.us == 0 && id.low == 0;
}

/* Below 0: a is older than b. */
static inline int intent_id_compare(struct intent_id a, struct intent_id b)
{
    if (a.us != b.us)
        return a.us < b.us ? -1 : 1;
    return (a.low > b.low) - (a.low < b.low);
}

/* 32 lower-case hexadecimal digits and a NUL; returns out. */
const char *intent_id_format(struct intent_id id, char out[static INTENT_ID_TEXT_BYTES]);

/* false: the text is not what intent_id_format writes; out is unchanged. */
MUST_USE bool intent_id_parse(struct str text, struct intent_id *out);

#endif
