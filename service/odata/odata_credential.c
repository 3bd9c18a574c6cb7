/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_credential.c - see the header. If the URL of a request could not be read, it names no account, so no
 * credential is valid.
 */
#include "service/odata/odata_credential.h"

#include "domain/reason.h"
#include "odata/access/request_credential.h"
#include "service/odata/odata_call.h"
#include "service/service.h"

static struct signed_request signed_request_of(struct http_call *http)
{
    const struct odata_call *call = http->door_state;
    const struct http_request *request = &http->exchange->request;

    return (struct signed_request){
        .method = request->method,
        .path = request->path,
        .query = request->query,
        .account = call->target.account,
        .is_secondary = call->target.is_secondary,
        .authorization = http_request_header(request, "Authorization"),
        .date = http_request_header(request, "Date"),
        .ms_date = http_request_header(request, "x-ms-date"),
        .content_md5 = http_request_header(request, "Content-MD5"),
        .content_type = http_request_header(request, "Content-Type"),
    };
}

static enum status read_bearer(struct caller *caller, struct str account, struct error *err)
{
    TRY(caller_read_bearer(caller, err));
    return str_equal(caller->presented.credential.account, account) ? STATUS_OK : credential_refuse(err);
}

enum status odata_credential_read(struct http_call *http, struct caller *caller, struct error *err)
{
    struct signed_request request = signed_request_of(http);
    struct request_credential read;

    if (!authenticator_checks(caller->authenticator, request.account))
        return STATUS_OK;
    TRY(request_credential_read(&request, &http->exchange->arena, &read, err));
    switch (read.form) {
    case PRESENTED_NOTHING:
        if (caller->authenticator->open)
            return STATUS_OK;
        return reason_set(err, REASON_NO_AUTHENTICATION_INFORMATION,
            "the request has no credential: neither the header Authorization nor a signature in its query");
    case PRESENTED_BEARER:
        caller->presented.text = read.text;
        return read_bearer(caller, request.account, err);
    case PRESENTED_CREDENTIAL:
        break;
    }
    caller->presented.text = read.text;
    caller->presented.credential = read.credential;
    return STATUS_OK;
}
