/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent.h - a row, committed with the write that caused it, saying that something elsewhere has to
 * follow. It is a pointer (a source key), not a copy: whoever acts on it reads the newest state.
 */
#ifndef DOMAIN_INTENTS_INTENT_H
#define DOMAIN_INTENTS_INTENT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "domain/keys/entity_key.h"

enum intent_kind {
    INTENT_RECONCILE = 1, /* make every index of the table agree with this source key */
    INTENT_TRANSACTION =
        2, /* carry on this transaction: key.partition = account, key.row = its id, table_id 0 */
};

struct intent {
    int16_t bucket;
    char id[33]; /* 128 bits in hexadecimal: microseconds of the database's clock, lane, counter */
    int16_t kind;
    int64_t table_id;
    struct entity_key key;
    int64_t version; /* of the write; for people who look at the table */
};

/* The time an intent was made: microseconds since 1970 by the database's clock (guard G13). */
static inline int64_t intent_id_us(const char *id)
{
    char digits[17] = "";

    memcpy(digits, id, sizeof(digits) - 1);
    return (int64_t)strtoull(digits, NULL, 16);
}

#endif
