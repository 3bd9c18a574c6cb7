/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_credential.h - the credential of a REST request, from its Authorization header or its query, before
 * its body is read. Pure: domain/access/credential.h and service/admission/ decide whether a key of the
 * account has made the signature, and what the credential allows.
 *
 *   Authorization: SharedKey ACCOUNT:SIGNATURE        shared_key.h
 *   Authorization: SharedKeyLite ACCOUNT:SIGNATURE    shared_key.h
 *   Authorization: Bearer TOKEN                       a token of ours (tvt1, tvs1), or another one for the server
 *   ?sv=..&sig=..                                     shared_access_signature.h
 */
#ifndef ODATA_ACCESS_REQUEST_CREDENTIAL_H
#define ODATA_ACCESS_REQUEST_CREDENTIAL_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "domain/access/credential.h"

/*
 * The parts of a request that a signature covers, as received: nothing is decoded. A missing header is empty.
 */
struct signed_request {
    struct str method;
    struct str path;    /* from the first '/' up to the '?' */
    struct str query;   /* behind the '?' */
    struct str account; /* the account that the URL names, without "-secondary" */
    bool is_secondary;  /* the URL has "-secondary" behind the account */
    struct str authorization, date, ms_date, content_md5, content_type;
};

enum presented_form {
    PRESENTED_NOTHING,
    PRESENTED_CREDENTIAL, /* `credential` and `text` are set; the signature has not been verified */
    PRESENTED_BEARER,     /* `text` is the token, which has not been read */
};

struct request_credential {
    enum presented_form form;
    struct credential credential;
    struct str text; /* the whole credential: two credentials are equal if their texts are; in the arena */
};

/*
 * Read the credential. If a request has none, the result is STATUS_OK with PRESENTED_NOTHING.
 *
 * STATUS_UNAUTHENTICATED  AUTHENTICATION_FAILED: the credential has none of these forms, names another account
 *                         than the URL, or the request has two; the message never says why
 */
MUST_USE enum status request_credential_read(const struct signed_request *request, struct arena *arena,
    struct request_credential *out, struct error *err);

/*
 * Whether the text has no control character but tabs. The signed text is lines, so no part of a line may
 * contain a line end.
 */
bool request_credential_is_line(struct str text);

#endif
