/* SPDX-License-Identifier: Apache-2.0 */
/*
 * row_ctid.h - where PostgreSQL has stored a row, as a message or an index state row tells it: a hint that spares a
 * worker the search by key.
 *
 * The row is not locked: it may have moved or gone since, and another row may lie there. So a statement that goes by
 * such a ctid also compares the whole key, and what is not found is searched for by its key (guard G76).
 */
#ifndef DOMAIN_INTENTS_ROW_CTID_H
#define DOMAIN_INTENTS_ROW_CTID_H

#include <stdbool.h>
#include <string.h>

#include "base/str.h"

enum { ROW_CTID_BYTES = 6 };

/* In PostgreSQL's binary form: the number of the block and that of the row in it. All zeros: not known. */
struct row_ctid {
    char bytes[ROW_CTID_BYTES];
};

/* bytes: a ctid; of another length: the result is not known. */
static inline struct row_ctid row_ctid_of(struct str bytes)
{
    struct row_ctid out = { { 0 } };

    if (bytes.len == ROW_CTID_BYTES)
        memcpy(out.bytes, bytes.data, ROW_CTID_BYTES);
    return out;
}

static inline bool row_ctid_is_known(const struct row_ctid *ctid)
{
    static const struct row_ctid unknown = { { 0 } };

    return memcmp(ctid, &unknown, sizeof(unknown)) != 0;
}

/* What the message of an intent tells. */
struct intent_ctids {
    struct row_ctid intent; /* the intent's own row */
    struct row_ctid source; /* the entity, as the write has left it */
};

/* Borrows. */
static inline struct str row_ctid_bytes(const struct row_ctid *ctid)
{
    return str_of_bytes(ctid->bytes, ROW_CTID_BYTES);
}

#endif
