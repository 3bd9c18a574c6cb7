/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_credential.h - whose call a request to the Azure Tables door is.
 */
#ifndef SERVICE_ODATA_ODATA_CREDENTIAL_H
#define SERVICE_ODATA_ODATA_CREDENTIAL_H

#include "service/admission/caller.h"
#include "service/http/door.h"

/*
 * Find the credential in the header Authorization or in the query, for the account that the URL names: odata/access/. The
 * caller's credential is then checked like any other.
 *
 * STATUS_UNAUTHENTICATED  NO_AUTHENTICATION_INFORMATION: there is none; AUTHENTICATION_FAILED: it is none that could be valid
 */
MUST_USE enum status odata_credential_read(struct http_call *http, struct caller *caller, struct error *err);

#endif
