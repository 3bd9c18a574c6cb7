/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transaction_operations.h - operations on transactions.
 */
#ifndef DOMAIN_OPERATIONS_TRANSACTION_OPERATIONS_H
#define DOMAIN_OPERATIONS_TRANSACTION_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "domain/transactions/transaction.h"

struct operation_transaction {
    struct transaction transaction; /* submit: id and steps; get, wait, cancel: id */
    /* the end of the id that domain/access/scoped_id.h has added; 0: none */
    size_t id_scope_bytes;
    /*
     * wait: ends when the revision differs from this one; below 0: when the transaction has ended
     */
    int64_t seen;
    int32_t limit; /* list */
    struct str after;
    enum transaction_state only; /* list: 0: any state */
    bool by_key;                 /* list: transactions whose steps name the key with this digest */
    int64_t key_digest;          /* see transaction_key_digest */
};

struct outcome_transaction {
    struct transaction *transactions;
    size_t count;
    bool more;
    struct str position;
};

#endif
