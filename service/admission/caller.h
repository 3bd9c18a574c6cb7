/* SPDX-License-Identifier: Apache-2.0 */
/*
 * caller.h - who makes a call, and whether they may do what it asks.
 *
 *   caller_identify    once per call, before its message is decoded: the token in its metadata
 *   caller_authorize   for every operation, between decoding and the store. Streams call it for every chunk:
 *                      a token that expired or was revoked meanwhile opens no further one
 *
 * Health and reflection ask nobody: probes and tools have no tokens, and neither shows any data.
 */
#ifndef SERVICE_ADMISSION_CALLER_H
#define SERVICE_ADMISSION_CALLER_H

#include "domain/access/access.h"
#include "domain/access/credential.h"
#include "rpc/server.h"
#include "service/admission/authenticator.h"

struct caller {
    struct access access; /* as of the last check */

    struct authenticator *authenticator;
    struct str text; /* the credential, as it came and as it reads */
    struct credential credential;
    struct call_origin origin; /* the address only where the credential names some */
    int64_t generation;        /* see authenticator_admit */
    bool is_unknown;           /* refused: nobody known here has signed what the credential says */
};

/*
 * The call's context is the service, with the authenticator; its metadata must live as long as the caller.
 *
 * STATUS_UNAUTHENTICATED  no token, or not one that holds now; the message never says why it does not
 * STATUS_DENIED           the token may not be used from where the call comes from
 * STATUS_UNAVAILABLE      the server does not know who may do what
 */
MUST_USE enum status caller_identify(struct caller *caller, struct rpc_call *call, struct error *err);

/*
 * Check the operation, and narrow it to what the caller may see; the caller must outlive it. Outcomes: also those
 * of access_check.
 */
MUST_USE enum status caller_authorize(struct caller *caller, struct operation *operation, struct error *err);

#endif
