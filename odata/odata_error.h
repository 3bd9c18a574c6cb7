/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_error.h - errors in the form of the Azure Table service: a code, an HTTP status and a text, as JSON
 * or XML.
 *
 * One table has a row for each reason of domain/reason.h and for each refusal that exists only over HTTP:
 * what a REST client gets.
 */
#ifndef ODATA_ODATA_ERROR_H
#define ODATA_ODATA_ERROR_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

/* Refusals that exist only over HTTP. All other errors have an enum reason. */
enum odata_refusal {
    ODATA_REFUSAL_METHOD_NOT_ALLOWED,
    ODATA_REFUSAL_ATOM_FORMAT_NOT_SUPPORTED,
    ODATA_REFUSAL_UNSUPPORTED_MEDIA_TYPE,
    ODATA_REFUSAL_MISSING_CONTENT_LENGTH_HEADER,
    ODATA_REFUSAL_MISSING_REQUIRED_HEADER,
    ODATA_REFUSAL_INVALID_HEADER_VALUE,
    ODATA_REFUSAL_MISSING_CORS_HEADER,
    ODATA_REFUSAL_INVALID_QUERY_PARAMETER_VALUE,
    ODATA_REFUSAL_INVALID_XML_DOCUMENT,
    ODATA_REFUSAL_INVALID_XML_NODE_VALUE,
    ODATA_REFUSAL_MISSING_REQUIRED_XML_NODE,
    ODATA_REFUSAL_UNSUPPORTED_XML_NODE,
    ODATA_REFUSAL_X_METHOD_NOT_USING_POST,
    ODATA_REFUSAL_X_METHOD_INCORRECT_COUNT,
    ODATA_REFUSAL_X_METHOD_INCORRECT_VALUE,
    ODATA_REFUSAL_HOST_INFORMATION_NOT_PRESENT,
    ODATA_REFUSAL_INVALID_AUTHENTICATION_INFO,
    ODATA_REFUSAL_INSUFFICIENT_ACCOUNT_PERMISSIONS,
    ODATA_REFUSAL_CORS_PREFLIGHT_FAILURE,
    ODATA_REFUSAL_COUNT
};

/* What a client gets for a reason or a refusal. */
struct odata_error_info {
    const char *code; /* "EntityAlreadyExists" */
    int http;         /* status of the reply */
    const char *text; /* the text of the live service; NULL: the message of the error */
};

/*
 * Fill err with a refusal and return its status. The message goes to the log, and to the client if the row
 * has no text.
 */
PRINTF_LIKE(3, 4)
enum status odata_error_refuse(struct error *err, enum odata_refusal refusal, const char *format, ...);

/* The row of an error. If an error has no reason, its status decides. */
const struct odata_error_info *odata_error_find(const struct error *err);

/* When and in which request an error happened: the end of its text. */
struct odata_error_place {
    struct str request_id; /* a Guid */
    int64_t now;           /* ticks */
};

/*
 * Append {"odata.error":{"code":..,"message":{"lang":"en-US","value":".."}}}. If an error has the metadata
 * `operation_index`, its text begins with "<index>:".
 */
void odata_error_write_json(const struct error *err, const struct odata_error_place *place, struct buf *out);

/* Append the error as XML. */
void odata_error_write_xml(const struct error *err, const struct odata_error_place *place, struct buf *out);

#endif
