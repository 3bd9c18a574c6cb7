/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_access_signature.h - shared access signatures of the Azure Table service: parameters of a query.
 *
 *   of a table     sv, tn, sp, st, se, spk, srk, epk, erk, si, sip, spr, sig
 *   of an account  sv, ss, srt, sp, st, se, sip, spr, ses, sig
 *
 * sv, the version, decides how the signed text is built. Up to 2015-02-21 the addresses (sip) and the
 * protocol (spr) of a table's signature are not part of the text, so a signature of these versions with one
 * of the two is refused. An empty parameter means the same as a missing one, since the signed text is the
 * same.
 */
#ifndef ODATA_ACCESS_SHARED_ACCESS_SIGNATURE_H
#define ODATA_ACCESS_SHARED_ACCESS_SIGNATURE_H

#include "odata/access/request_credential.h"

/* Whether the query has a signature of any form. */
bool shared_access_signature_is_in(struct str query);

/*
 * Read the signature of a query.
 *
 * false: a parameter is missing, given twice, malformed, not allowed in the version, or has a control
 * character; or the signature allows nothing
 */
bool shared_access_signature_read(
    const struct signed_request *request, struct arena *arena, struct credential *out);

#endif
