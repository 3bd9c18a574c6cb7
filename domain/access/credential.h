/* SPDX-License-Identifier: Apache-2.0 */
/*
 * credential.h - credentials: what a key of an account has signed. Pure.
 *
 *   tvt1.<base64url>   a token: the whole account, for a short time
 *   tvs1.<base64url>   a shared access signature: one table, some permissions, a time, a range of keys, a policy,
 *                      addresses, the protocol
 *
 * After the prefix come the fields and HMAC-SHA256(key, prefix + fields). Each field has a length
 * or a fixed size, and all come in one order without a remainder, so the signed bytes can be read
 * in one way only. Names of tables are in lower case.
 *
 * Over HTTP, requests and signatures of the Azure Table service have the forms of that service,
 * which odata/access/ reads. What they allow is decided here, by the same rules:
 *
 *   a signed request         the whole account, for the 15 minutes around the date that is signed
 *   a table's signature      as tvs1; it does not say when it was signed, so it means whichever table has the name
 *   an account signature     all tables, as far as its permissions and types of resources say
 *   a bearer token           of an identity provider, whose keys the server is configured with: one table, as
 *                            tvs1; all tables, as an account signature; or the whole account without administration
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

enum credential_kind {
    CREDENTIAL_TOKEN,
    CREDENTIAL_SIGNATURE,
    CREDENTIAL_SIGNED_REQUEST,
    CREDENTIAL_TABLE_SIGNATURE,
    CREDENTIAL_ACCOUNT_SIGNATURE,
    CREDENTIAL_BEARER, /* its signature is verified where it is read, not by credential_signer */
};

enum { CREDENTIAL_HASH_BYTES = 32 };

struct credential {
    enum credential_kind kind;
    struct str account;
    int64_t issued;        /* ticks, by the clock of the signer; 0: not known */
    int64_t start, expiry; /* ticks; 0: not set. A token has no start and always an expiry */

    /* Only for shared access signatures. */
    struct str table;     /* in lower case */
    unsigned permissions; /* 0: not set */
    struct str policy;    /* empty: none */
    bool has_source;
    struct network_range source;
    struct key_range range;
    bool tls_only;

    /* only for bearer tokens: the whole account, so none of the fields above and below is set */
    bool opens_account;

    /* Only for account signatures, and for bearer tokens of all tables; these have no table, policy or range. */
    unsigned resources; /* enum access_resource */
    bool is_for_tables; /* the table service is one of its services */

    /* Only for parsed credentials: the signed bytes, and the signature. */
    struct str fields;
    struct str other_fields; /* what another kind of signer signs for the same; empty: there is nothing */
    struct str signature;
};

/* The caller's address and protocol, as the server's transport sees them. */
struct call_origin {
    bool is_encrypted;
    bool has_address; /* false on a Unix socket */
    struct network_address address;
};

/*
 * Check, before a credential is signed, whether a server could ever accept it. INVALID_INPUT names
 * the field. Fields that the policy sets are not checked, since only servers know them.
 */
MUST_USE enum status credential_check(const struct credential *credential, struct error *err);

/* Sign a credential that credential_check accepts. */
struct str credential_sign(
    const struct credential *credential, const struct account_key *key, struct arena *arena);

/*
 * Read the fields without verifying the signature; false: the text is not a credential. The strings
 * lie in the arena.
 */
bool credential_parse(struct str text, struct arena *arena, struct credential *out);

/*
 * Which of the account's keys has signed the credential: 1 or 2; 0: none. The time that the check
 * takes does not depend on the answer.
 */
int credential_signer(const struct credential *credential, const struct account *account);

/* As credential_signer, for one key of any length. */
bool credential_is_signed_with(const struct credential *credential, struct str key);

/* Whether one of the account's keys has signed the credential. */
bool credential_is_genuine(const struct credential *credential, const struct account *account);

/* What credential_access needs besides the credential. */
struct credential_context {
    /* the credential's account; its id must live as long as the access made from it */
    const struct account *account;
    const struct catalogue *catalogue; /* the account's tables with their policies */
    const struct call_origin *origin;
    int64_t now; /* ticks */
};

/*
 * The access that a verified credential gives at context->now.
 *
 * A start and the time of issue may lie up to LIMIT_CLOCK_SKEW_S in the future; an expiry may not
 * lie in the past.
 *
 * STATUS_UNAUTHENTICATED  AUTHENTICATION_FAILED: not valid at this time, or its policy does not exist or sets a field
 *                         that the signature sets too
 * STATUS_DENIED           AUTHORIZATION_SOURCE_IP_MISMATCH, AUTHORIZATION_PROTOCOL_MISMATCH,
 *                         AUTHORIZATION_SERVICE_MISMATCH
 */
MUST_USE enum status credential_access(const struct credential *credential,
    const struct credential_context *context, struct access *out, struct error *err);

/*
 * Fill err for a credential that is not valid: one message for all causes, so that callers cannot
 * tell them apart.
 */
enum status credential_refuse(struct error *err);

#endif
