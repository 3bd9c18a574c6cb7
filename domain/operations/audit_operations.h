/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit_operations.h - the records of administrative calls: what the store writes, and what
 * administrators list.
 *
 * The record of a call that changes something is written in the transaction of the change. All
 * other calls (refused, failed, without an effect) are recorded afterwards, by
 * OPERATION_AUDIT_STORE.
 */
#ifndef DOMAIN_OPERATIONS_AUDIT_OPERATIONS_H
#define DOMAIN_OPERATIONS_AUDIT_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* How the caller proved its identity. Stored: never change a number. */
enum audit_credential {
    AUDIT_CREDENTIAL_NONE = 0,
    AUDIT_CREDENTIAL_TOKEN = 1,
    AUDIT_CREDENTIAL_SIGNATURE = 2,
    AUDIT_CREDENTIAL_DATABASE = 3, /* an operator with access to the database */
};

struct audit_record {
    int64_t call_id;    /* random */
    int32_t number;     /* of the record among those of the call; from 1, in the order of sending */
    struct str account; /* the caller's; empty: not proven */
    enum audit_credential credential;
    int key;            /* the account's key that signed: 1 or 2; 0: not known */
    struct str method;  /* "TableService/CreateTable", "account create" */
    struct str target;  /* names and ids; empty: none, or the request was not read */
    struct str outcome; /* "OK", or a reason */
    int64_t left_out;   /* how many calls of the account have no record since the previous record */

    /*
     * Set by the store: the operation's next commit includes the record; a commit of this attempt
     * has included it.
     */
    bool is_due, is_sent;
};

/* OPERATION_AUDIT_STORE reads record; OPERATION_AUDIT_LIST reads all other members. */
struct operation_audit {
    struct audit_record record;
    struct str account;   /* of the callers; empty: all accounts */
    int64_t since, until; /* ticks; since is included, until is not */
    int64_t before;       /* the position of the previous page: only smaller ids */
    int32_t limit;
};

struct audit_view {
    int64_t id;
    int64_t recorded; /* ticks, by the database's clock */
    struct audit_record record;
};

struct outcome_audit {
    struct audit_view *records; /* the newest first */
    size_t count;
    bool more;
};

#endif
