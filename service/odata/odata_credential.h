/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_credential.h - finds the credential of a request to the Azure Tables door.
 */
#ifndef SERVICE_ODATA_ODATA_CREDENTIAL_H
#define SERVICE_ODATA_ODATA_CREDENTIAL_H

#include "service/admission/caller.h"
#include "service/http/door.h"

/*
 * Find the credential in the header Authorization or in the query, for the account that the URL names
 * (odata/access/). The credential is then checked like any other.
 *
 * STATUS_UNAUTHENTICATED  NO_AUTHENTICATION_INFORMATION: there is no credential; AUTHENTICATION_FAILED: the
 *                         credential has no form that could be valid
 */
MUST_USE enum status odata_credential_read(struct http_call *http, struct caller *caller, struct error *err);

#endif
