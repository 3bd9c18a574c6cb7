/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_access_signature.h - shared access signatures of the Azure Table service: parameters of a query.
 *
 *   of a table     sv, tn, sp, st, se, spk, srk, epk, erk, si, sip, spr, sig
 *   of an account  sv, ss, srt, sp, st, se, sip, spr, ses, sig
 *
 * sv says how the signed text is put together: up to 2015-02-21 the addresses (sip) and the protocol (spr) of a table's
 * signature are not part of it, so such a signature with one of them is refused. A parameter that is empty says the same
 * as one that is missing, since the signed text is the same.
 */
#ifndef ODATA_ACCESS_SHARED_ACCESS_SIGNATURE_H
#define ODATA_ACCESS_SHARED_ACCESS_SIGNATURE_H

#include "odata/access/request_credential.h"

/* Whether the query has a signature, of any form. */
bool shared_access_signature_is_in(struct str query);

/*
 * false: a parameter is missing, given twice, malformed or not known to the version, or has a control character; or the
 * signature opens nothing
 */
bool shared_access_signature_read(
    const struct signed_request *request, struct arena *arena, struct credential *out);

#endif
