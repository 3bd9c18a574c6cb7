/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credential.h - what a caller shows: text that an account's key has signed. Pure.
 *
 *   tvt1.<base64url>   a token: the whole account, for a short time
 *   tvs1.<base64url>   a shared access signature: one table, some permissions, a time, a range of keys, a policy,
 *                      addresses, the protocol
 *
 * Behind the prefix stand the fields and HMAC-SHA256(key, prefix + fields). Every field is counted or of fixed
 * meaning, in one order, and what is signed is what is read: no two readings, nothing left over. Names of tables
 * stand in lower case.
 */
#ifndef DOMAIN_ACCESS_CREDENTIAL_H
#define DOMAIN_ACCESS_CREDENTIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "domain/access/access.h"
#include "domain/access/account.h"
#include "domain/access/network_address.h"

enum credential_kind { CREDENTIAL_TOKEN, CREDENTIAL_SIGNATURE };

struct credential {
    enum credential_kind kind;
    struct str account;
    int64_t issued;        /* ticks, by the clock of who signed */
    int64_t start, expiry; /* ticks; 0: not set. A token has no start and always an expiry */

    /* Of a signature. */
    struct str table;     /* in lower case */
    unsigned permissions; /* 0: not set */
    struct str policy;    /* empty: none */
    bool has_source;
    struct network_range source;
    struct key_range range;
    bool tls_only;

    /* Of one that was parsed: what was signed, and the signature. */
    struct str fields;
    struct str signature;
};

/* Where a call comes from, as the server's transport sees it. */
struct call_origin {
    bool is_encrypted;
    bool has_address; /* not on a Unix socket */
    struct network_address address;
};

/*
 * For who makes one: can a server ever accept it? INVALID_INPUT names the field. What a policy sets is known
 * to servers only.
 */
MUST_USE enum status credential_check(const struct credential *credential, struct error *err);

/* Sign one that credential_check accepts. */
struct str credential_sign(
    const struct credential *credential, const struct account_key *key, struct arena *arena);

/* Read the fields, whoever signed them; false: not of this form. The strings live in the arena. */
bool credential_parse(struct str text, struct arena *arena, struct credential *out);

/* Has one of the account's keys signed it? The time it takes does not depend on the answer. */
bool credential_is_genuine(const struct credential *credential, const struct account *account);

/* What credential_access needs to know beside the credential. */
struct credential_context {
    const struct account *account;     /* the credential's */
    const struct catalogue *catalogue; /* the account's tables with their policies */
    const struct call_origin *origin;
    int64_t now; /* ticks */
};

/*
 * What a genuine credential permits.
 *
 * A start and the time of issue may lie LIMIT_CLOCK_SKEW_S ahead, an expiry never behind.
 *
 * STATUS_UNAUTHENTICATED  AUTHENTICATION_FAILED: not valid at this time, or its policy is not there or sets
 *                         what it sets too
 * STATUS_DENIED           AUTHORIZATION_SOURCE_IP_MISMATCH, AUTHORIZATION_PROTOCOL_MISMATCH
 */
MUST_USE enum status credential_access(const struct credential *credential,
    const struct credential_context *context, struct access *out, struct error *err);

/* The one answer to everything that is not genuine. */
enum status credential_refuse(struct error *err);

#endif
