/* SPDX-License-Identifier: Apache-2.0 */
/*
 * intent.h - an intent: a row that commits with the write that caused it and says that other rows
 * must follow. It names a source key and copies nothing: the worker reads the newest state.
 */
#ifndef DOMAIN_INTENTS_INTENT_H
#define DOMAIN_INTENTS_INTENT_H

#include <stdint.h>

#include "domain/intents/intent_id.h"
#include "domain/intents/row_ctid.h"
#include "domain/keys/entity_key.h"
#include "domain/tracing/trace_context.h"

enum intent_kind {
    INTENT_RECONCILE = 1, /* make every index of the table agree with this source key */
    INTENT_TRANSACTION =
        /* carry out this transaction: key.partition = account, key.row = its id, table_id 0 */
    2,
    /*
     * Of a copy rule; table_id is the id of its index, so that no statement about a table meets
     * them, and the bucket is that of the written entity.
     */
    INTENT_COPY = 3,  /* make the copies of this dependent right */
    INTENT_VISIT = 4, /* visit all dependents of this source */
};

struct intent {
    int16_t bucket;
    struct intent_id id;
    int16_t kind;
    int64_t table_id;
    struct entity_key key;
    int64_t version;                   /* of the write; for operators that read the table */
    const struct trace_context *trace; /* of the write, while it commits; NULL: it is not traced */
    struct intent_ctids ctids;         /* hints */
    /* The account whose share of the workers' time the work takes; empty: unknown. See intent_account. */
    struct str account;
    int64_t spent_us; /* by the worker that has begun the work and leaves the rest; 0: it is not begun */
};

static inline struct str intent_account(const struct intent *intent)
{
    return intent->kind == INTENT_TRANSACTION ? intent->key.partition : intent->account;
}

/*
 * What a worker's next turn at the work is expected to cost, with one key that is reconciled together
 * with others as the unit.
 */
int64_t intent_cost(const struct intent *intent);

/*
 * How much more than that the last turn at the work has cost, which the account pays with its next turns; 0: none was
 * taken. A turn that waited long, such as for a call to another service, is charged up to a bound.
 */
int64_t intent_debt(const struct intent *intent);

#endif
