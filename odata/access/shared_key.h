/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared_key.h - requests that are signed with an account's key, in both schemes of the Azure Table service.
 *
 *   SharedKey      method, Content-MD5, Content-Type, date, canonicalized resource; a line feed between each
 *   SharedKeyLite  date, canonicalized resource
 *
 * The date is x-ms-date if the request has one, otherwise Date. The canonicalized resource is "/", the
 * account, the path as received, and "?comp=" with its value if the query has comp. If the path names the
 * secondary endpoint, the documents leave "-secondary" out and the SDKs do not: either text may be signed.
 * Nothing else of the request is signed.
 */
#ifndef ODATA_ACCESS_SHARED_KEY_H
#define ODATA_ACCESS_SHARED_KEY_H

#include "odata/access/request_credential.h"

enum shared_key_scheme { SHARED_KEY_FULL, SHARED_KEY_LITE };

/* The signed text, with the path as received; in the arena. */
struct str shared_key_content(
    const struct signed_request *request, enum shared_key_scheme scheme, struct arena *arena);

/* The same without "-secondary" behind the account of the path; empty: the path does not have it. */
struct str shared_key_primary_content(
    const struct signed_request *request, enum shared_key_scheme scheme, struct arena *arena);

/*
 * Read "ACCOUNT:SIGNATURE", the part behind the name of the scheme.
 *
 * false: the text does not have this form, names another account than the URL, or the request has no date
 */
bool shared_key_read(const struct signed_request *request, enum shared_key_scheme scheme, struct str text,
    struct arena *arena, struct credential *out);

#endif
