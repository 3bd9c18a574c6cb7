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
    struct access access; /* as of the last check */
    struct arena *arena;  /* the call's */
    struct str account;   /* the account's id, in the arena; empty: not admitted yet */
    struct authenticator *authenticator;
    struct presented_credential presented;
    bool is_unknown; /* refused because the snapshot has no key that signed the credential */
};

/*
 * The call's context is the service; the call's metadata must live as long as the caller.
 *
 * STATUS_UNAUTHENTICATED  no credential, or none that is valid now; the message never says why it is not valid
 * STATUS_DENIED           the credential is not valid for the call's address or for a connection without TLS
 * STATUS_UNAVAILABLE      the server has no current access snapshot
 */
MUST_USE enum status caller_identify(struct caller *caller, struct rpc_call *call, struct error *err);

/*
 * Check that the caller may run the operation and that its account is within its quotas, and narrow the operation to the keys
 * that the caller may see. The caller must outlive the operation. Outcomes: those of caller_identify, access_check and
 * account_usage_admit. Without authentication there are no quotas of entities and bytes.
 */
MUST_USE enum status caller_authorize(struct caller *caller, struct operation *operation, struct error *err);

#endif
