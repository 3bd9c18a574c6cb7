/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.h - the identity of a call's caller, and the check of its permissions.
 *
 *   caller_identify    once per call, before its message is decoded: checks the credential in the call's metadata
 *   caller_authorize   for each operation, between decoding and the store. A stream calls it for each operation, so
 *                      a credential that expires or is revoked ends the stream
 *
 * Health and reflection need no credential: probes and tools have none, and both methods show no data.
 */
#ifndef SERVICE_ADMISSION_CALLER_H
#define SERVICE_ADMISSION_CALLER_H

#include "domain/access/access.h"
#include "domain/access/credential.h"
#include "rpc/server.h"
#include "service/admission/authenticator.h"

struct caller {
    struct access access; /* the result of the last check */
    struct arena *arena;  /* the arena of the call */
    struct str account;   /* id of the account, in the arena; empty: the caller has not been admitted yet */
    struct authenticator *authenticator;
    struct presented_credential presented;
    bool is_unknown; /* the caller was refused because no key in the snapshot has signed the credential */
};

/*
 * Check the credential of a call. The call's metadata must live as long as the caller.
 *
 * STATUS_UNAUTHENTICATED  no credential, or none that is valid now; the message never says why it is not valid
 * STATUS_DENIED           the credential is not valid for the call's address or for a connection without TLS
 * STATUS_UNAVAILABLE      the server has no current access snapshot
 */
MUST_USE enum status caller_identify(struct caller *caller, struct rpc_call *call, struct error *err);

/*
 * For doors that read credentials themselves: read the text that the caller presents as a bearer token of an
 * identity provider.
 *
 * STATUS_UNAUTHENTICATED  AUTHENTICATION_FAILED: the server takes no such token, or the token is never valid
 */
MUST_USE enum status caller_read_bearer(struct caller *caller, struct error *err);

/*
 * Check that the caller may run the operation and that its account is within its quotas, and restrict the
 * operation to the keys that the caller may see. The caller must outlive the operation. Errors: those of
 * caller_identify, access_check and account_usage_admit. Without authentication, entities and bytes have no
 * quotas.
 */
MUST_USE enum status caller_authorize(struct caller *caller, struct operation *operation, struct error *err);

#endif
