/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_error.c - the tables of errors. A text is that of the live service if it is known and complete. If
 * the live service has many texts for one code, or the reason exists only here, the message of the error is
 * the text.
 */
#include "odata/odata_error.h"
#include "odata/xml/xml_document.h"

#include <stdarg.h>
#include <stdlib.h>

#include "api/codec_error.h"
#include "api/json/json_forms.h"
#include "domain/properties/datetime.h"
#include "domain/reason.h"

#define SERVER_BUSY_TEXT "The server is currently unable to receive requests. Please retry your request."
#define TIMED_OUT_TEXT "The operation could not be completed within the permitted time."
#define WWW_AUTHENTICATE_TEXT                                                                                \
    "Server failed to authenticate the request. Please refer to the information in the www-authenticate "    \
    "header."

static const struct odata_error_info reasons[] = {
    [REASON_INVALID_INPUT] = { "InvalidInput", 400, NULL },
    [REASON_INVALID_RESOURCE_NAME] = { "InvalidResourceName", 400,
        "The specifed resource name contains invalid characters." },
    [REASON_OUT_OF_RANGE_INPUT] = { "OutOfRangeInput", 400, NULL },
    [REASON_PROPERTIES_NEED_VALUE] = { "PropertiesNeedValue", 400,
        "The values are not specified for all properties in the entity." },
    [REASON_PROPERTY_NAME_INVALID] = { "PropertyNameInvalid", 400, "The property name is invalid." },
    [REASON_PROPERTY_NAME_TOO_LONG] = { "PropertyNameTooLong", 400,
        "The property name exceeds the maximum allowed length (255)." },
    [REASON_PROPERTY_VALUE_TOO_LARGE] = { "PropertyValueTooLarge", 400,
        "The property value exceeds the maximum allowed size (64KB). If the property value is a "
        "string, it is UTF-16 encoded and the maximum number of characters should be 32K or "
        "less." },
    [REASON_TOO_MANY_PROPERTIES] = { "TooManyProperties", 400,
        "The entity contains more properties than allowed." },
    [REASON_DUPLICATE_PROPERTIES_SPECIFIED] = { "DuplicatePropertiesSpecified", 400,
        "A property is specified more than one time." },
    [REASON_ENTITY_TOO_LARGE] = { "EntityTooLarge", 400,
        "The entity is larger than the maximum allowed size (1MB)." },
    [REASON_REQUEST_BODY_TOO_LARGE] = { "RequestBodyTooLarge", 413,
        "The request body is too large and exceeds the maximum permissible limit." },
    [REASON_INVALID_DUPLICATE_ROW] = { "InvalidDuplicateRow", 400,
        "The batch request contains multiple changes with same row key. An entity can appear "
        "only once in a batch request." },
    [REASON_COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS] = { "CommandsInBatchActOnDifferentPartitions", 400,
        "All commands in a batch must operate on same entity group." },
    [REASON_NOT_IMPLEMENTED] = { "NotImplemented", 501,
        "The requested operation is not implemented on the specified resource." },
    [REASON_TABLE_ALREADY_EXISTS] = { "TableAlreadyExists", 409, "The table specified already exists." },
    [REASON_TABLE_NOT_FOUND] = { "TableNotFound", 404, "The table specified does not exist." },
    [REASON_RESOURCE_NOT_FOUND] = { "ResourceNotFound", 404, "The specified resource does not exist." },
    [REASON_ENTITY_ALREADY_EXISTS] = { "EntityAlreadyExists", 409, "The specified entity already exists." },
    [REASON_UPDATE_CONDITION_NOT_SATISFIED] = { "UpdateConditionNotSatisfied", 412,
        "The update condition specified in the request was not satisfied." },
    [REASON_PAGE_TOKEN_INVALID] = { "InvalidInput", 400, NULL },
    [REASON_PLAN_TOO_EXPENSIVE] = { "PlanTooExpensive", 400, NULL },
    [REASON_INDEX_NOT_FOUND] = { "IndexNotFound", 404, NULL },
    [REASON_INDEX_EXISTS] = { "IndexExists", 409, NULL },
    [REASON_INDEX_NOT_READY] = { "IndexNotReady", 409, NULL },
    [REASON_INDEX_OWNED] = { "IndexOwned", 409, NULL },
    [REASON_INDEX_KEY_VIOLATION] = { "IndexKeyViolation", 400, NULL },
    [REASON_DATABASE_DISTRIBUTED] = { "DatabaseDistributed", 409, NULL },
    [REASON_UNIQUE_VIOLATION] = { "UniqueViolation", 409, NULL },
    [REASON_REQUEST_ID_REUSED] = { "RequestIdReused", 409, NULL },
    [REASON_TRANSACTION_NOT_FOUND] = { "TransactionNotFound", 404, NULL },
    [REASON_TRANSACTION_ID_REUSED] = { "TransactionIdReused", 409, NULL },
    [REASON_TRANSACTION_ID_EXPIRED] = { "TransactionIdExpired", 400, NULL },
    [REASON_TRANSACTION_STARTED] = { "TransactionStarted", 409, NULL },
    [REASON_STEP_NOT_CONFIGURED] = { "StepNotConfigured", 409, NULL },
    [REASON_FILE_EXISTS] = { "FileExists", 409, NULL },
    [REASON_FILE_CHANGED] = { "FileChanged", 409, NULL },
    [REASON_FILE_TOO_LARGE] = { "FileTooLarge", 413, NULL },
    [REASON_FILE_PATH_BLOCKED] = { "FilePathBlocked", 409, NULL },
    [REASON_FILE_STORAGE_FULL] = { "FileStorageFull", 503, NULL },
    [REASON_FILE_STORAGE_FAILED] = { "FileStorageFailed", 500, NULL },
    [REASON_HTTP_CALL_REFUSED] = { "HttpCallRefused", 409, NULL },
    [REASON_HTTP_CALL_FAILED] = { "HttpCallFailed", 500, NULL },
    [REASON_OPERATION_NOT_FOUND] = { "OperationNotFound", 404, NULL },
    [REASON_TOO_MANY_OPERATIONS] = { "TooManyOperations", 409, NULL },
    [REASON_SNAPSHOT_RUNNING] = { "SnapshotRunning", 409, NULL },
    [REASON_SNAPSHOT_ENDED] = { "SnapshotEnded", 500, NULL },
    [REASON_QUOTA_EXCEEDED] = { "QuotaExceeded", 409, NULL },
    [REASON_REPORT_NOT_FOUND] = { "ReportNotFound", 404, NULL },
    [REASON_NOT_FRESH_ENOUGH] = { "NotFreshEnough", 409, NULL },
    [REASON_TOKEN_EXPIRED] = { "TokenExpired", 409, NULL },
    [REASON_CHANGE_FEED_OFF] = { "ChangeFeedOff", 409, NULL },
    [REASON_QUERY_SAMPLING_OFF] = { "QuerySamplingOff", 409, NULL },
    [REASON_RESYNC_REQUIRED] = { "ResyncRequired", 409, NULL },
    [REASON_OPERATION_NOT_CONTROLLABLE] = { "OperationNotControllable", 409, NULL },
    [REASON_CATALOGUE_CHANGE_BLOCKED] = { "ServerBusy", 503, SERVER_BUSY_TEXT },
    [REASON_OUTCOME_UNKNOWN] = { "OperationTimedOut", 500, TIMED_OUT_TEXT },
    [REASON_NO_AUTHENTICATION_INFORMATION] = { "NoAuthenticationInformation", 401, WWW_AUTHENTICATE_TEXT },
    [REASON_AUTHENTICATION_FAILED] = { "AuthenticationFailed", 403,
        "Server failed to authenticate the request. Make sure the value of Authorization header "
        "is formed correctly including the signature." },
    [REASON_AUTHORIZATION_FAILURE] = { "AuthorizationFailure", 403,
        "This request is not authorized to perform this operation." },
    [REASON_AUTHORIZATION_PERMISSION_MISMATCH] = { "AuthorizationPermissionMismatch", 403,
        "This request is not authorized to perform this operation using this permission." },
    [REASON_AUTHORIZATION_SOURCE_IP_MISMATCH] = { "AuthorizationSourceIPMismatch", 403,
        "This request is not authorized to perform this operation using this source IP." },
    [REASON_AUTHORIZATION_PROTOCOL_MISMATCH] = { "AuthorizationProtocolMismatch", 403,
        "This request is not authorized to perform this operation using this protocol." },
    [REASON_AUTHORIZATION_RESOURCE_TYPE_MISMATCH] = { "AuthorizationResourceTypeMismatch", 403,
        "This request is not authorized to perform this operation using this resource type." },
    [REASON_AUTHORIZATION_SERVICE_MISMATCH] = { "AuthorizationServiceMismatch", 403,
        "This request is not authorized to perform this operation using this service." },
    [REASON_BLOB_NOT_FOUND] = { "BlobNotFound", 404, NULL },
    [REASON_BLOB_ALREADY_EXISTS] = { "BlobAlreadyExists", 409, NULL },
    [REASON_BLOB_TOO_LARGE] = { "BlobTooLarge", 400, NULL },
    [REASON_BLOB_DIGEST_MISMATCH] = { "BlobDigestMismatch", 400, NULL },
    [REASON_BLOB_CHANGED] = { "BlobChanged", 409, NULL },
    [REASON_BLOB_DAMAGED] = { "BlobDamaged", 500, NULL },
    [REASON_BLOB_STORE_UNAVAILABLE] = { "BlobStoreUnavailable", 503, NULL },
    [REASON_CHUNK_MOVE_REFUSED] = { "ChunkMoveRefused", 409, NULL },
    [REASON_BLOB_PROPERTIES_REFUSED] = { "BlobPropertiesRefused", 409, NULL },
    [REASON_COPY_RULE_CONFLICT] = { "CopyRuleConflict", 409, NULL },
    [REASON_UPLOAD_NOT_FOUND] = { "UploadNotFound", 404, NULL },
    [REASON_UPLOAD_OFFSET_MISMATCH] = { "UploadOffsetMismatch", 409, NULL },
    [REASON_SERVER_BUSY] = { "ServerBusy", 503, SERVER_BUSY_TEXT },
    [REASON_SERVER_DRAINING] = { "ServerBusy", 503, SERVER_BUSY_TEXT },
    [REASON_STORE_UNAVAILABLE] = { "ServerBusy", 503, SERVER_BUSY_TEXT },
    [REASON_OPERATION_TIMED_OUT] = { "OperationTimedOut", 500, TIMED_OUT_TEXT },
    [REASON_CANCELLED] = { "OperationTimedOut", 500, TIMED_OUT_TEXT },
    [REASON_INTERNAL_ERROR] = { "InternalError", 500,
        "The server encountered an internal error. Please retry the request." },
};

_Static_assert(ARRAY_LEN(reasons) == REASON_COUNT, "one row per reason");

static const struct refusal {
    enum status status;
    const char *reason; /* the name of a reason, as in struct error */
    struct odata_error_info info;
} refusals[] = {
    [ODATA_REFUSAL_METHOD_NOT_ALLOWED] = { STATUS_UNIMPLEMENTED, "METHOD_NOT_ALLOWED",
        { "MethodNotAllowed", 405, "The requested method is not allowed on the specified resource." } },
    [ODATA_REFUSAL_ATOM_FORMAT_NOT_SUPPORTED] = { STATUS_INVALID, "ATOM_FORMAT_NOT_SUPPORTED",
        { "AtomFormatNotSupported", 415, "Atom format is not supported." } },
    [ODATA_REFUSAL_UNSUPPORTED_MEDIA_TYPE] = { STATUS_INVALID, "UNSUPPORTED_MEDIA_TYPE",
        { "UnsupportedMediaType", 415, NULL } },
    [ODATA_REFUSAL_MISSING_CONTENT_LENGTH_HEADER] = { STATUS_INVALID, "MISSING_CONTENT_LENGTH_HEADER",
        { "MissingContentLengthHeader", 411, "The content length header was not specified." } },
    [ODATA_REFUSAL_MISSING_REQUIRED_HEADER] = { STATUS_INVALID, "MISSING_REQUIRED_HEADER",
        { "MissingRequiredHeader", 400, "A required HTTP header was not specified." } },
    [ODATA_REFUSAL_INVALID_HEADER_VALUE] = { STATUS_INVALID, "INVALID_HEADER_VALUE",
        { "InvalidHeaderValue", 400,
            "The value for one of the HTTP headers is not in the correct format." } },
    [ODATA_REFUSAL_MISSING_CORS_HEADER] = { STATUS_INVALID, "MISSING_CORS_HEADER",
        { "InvalidHeaderValue", 400, "A required CORS header is not present." } },
    [ODATA_REFUSAL_INVALID_QUERY_PARAMETER_VALUE] = { STATUS_INVALID, "INVALID_QUERY_PARAMETER_VALUE",
        { "InvalidQueryParameterValue", 400,
            "Value for one of the query parameters specified in the request URI is invalid." } },
    [ODATA_REFUSAL_INVALID_XML_DOCUMENT] = { STATUS_INVALID, "INVALID_XML_DOCUMENT",
        { "InvalidXmlDocument", 400, "XML specified is not syntactically valid." } },
    [ODATA_REFUSAL_INVALID_XML_NODE_VALUE] = { STATUS_INVALID, "INVALID_XML_NODE_VALUE",
        { "InvalidXmlNodeValue", 400, "The value for one of the XML nodes is not in the correct format." } },
    [ODATA_REFUSAL_MISSING_REQUIRED_XML_NODE] = { STATUS_INVALID, "MISSING_REQUIRED_XML_NODE",
        { "MissingRequiredXmlNode", 400, "A required XML node was not specified in the request body." } },
    [ODATA_REFUSAL_UNSUPPORTED_XML_NODE] = { STATUS_INVALID, "UNSUPPORTED_XML_NODE",
        { "UnsupportedXmlNode", 400,
            "One of the XML nodes specified in the request body is not supported." } },
    [ODATA_REFUSAL_X_METHOD_NOT_USING_POST] = { STATUS_INVALID, "X_METHOD_NOT_USING_POST",
        { "XMethodNotUsingPost", 400, "The request uses X-HTTP-Method with an HTTP verb other than POST." } },
    [ODATA_REFUSAL_X_METHOD_INCORRECT_COUNT] = { STATUS_INVALID, "X_METHOD_INCORRECT_COUNT",
        { "XMethodIncorrectCount", 400, "More than one X-HTTP-Method is specified." } },
    [ODATA_REFUSAL_X_METHOD_INCORRECT_VALUE] = { STATUS_INVALID, "X_METHOD_INCORRECT_VALUE",
        { "XMethodIncorrectValue", 400, "The specified X-HTTP-Method is invalid." } },
    [ODATA_REFUSAL_HOST_INFORMATION_NOT_PRESENT] = { STATUS_INVALID, "HOST_INFORMATION_NOT_PRESENT",
        { "HostInformationNotPresent", 400,
            "The required host information is not present in the request. You must send a non-empty "
            "Host header or include the absolute URI in the request line." } },
    [ODATA_REFUSAL_INVALID_AUTHENTICATION_INFO] = { STATUS_UNAUTHENTICATED, "INVALID_AUTHENTICATION_INFO",
        { "InvalidAuthenticationInfo", 401, WWW_AUTHENTICATE_TEXT } },
    [ODATA_REFUSAL_INSUFFICIENT_ACCOUNT_PERMISSIONS] = { STATUS_DENIED, "INSUFFICIENT_ACCOUNT_PERMISSIONS",
        { "InsufficientAccountPermissions", 403, NULL } },
    [ODATA_REFUSAL_CORS_PREFLIGHT_FAILURE] = { STATUS_DENIED, "CORS_PREFLIGHT_FAILURE",
        { "CorsPreflightFailure", 403, "CORS not enabled or no matching rule found for this request." } },
};

_Static_assert(ARRAY_LEN(refusals) == ODATA_REFUSAL_COUNT, "one row per refusal");

enum status odata_error_refuse(struct error *err, enum odata_refusal refusal, const char *format, ...)
{
    const struct refusal *row = &refusals[refusal];
    va_list args;

    va_start(args, format);
    error_set_reason(err, row->status, row->reason, format, args);
    va_end(args);
    return row->status;
}

const struct odata_error_info *odata_error_find(const struct error *err)
{
    const char *name = codec_error_reason(err);
    const struct reason_info *reason = reason_find(name);

    for (size_t i = 0; i < ARRAY_LEN(refusals); i++)
        if (strcmp(refusals[i].reason, name) == 0)
            return &refusals[i].info;
    return &reasons[reason ? (size_t)(reason - reason_info((enum reason)0)) : REASON_INTERNAL_ERROR];
}

/* ---- texts ---- */

/* Append the index of a failed operation of a batch, and a colon. Messages of the store have both already. */
static void write_operation_index(const struct error *err, struct buf *out)
{
    for (size_t i = 0; i < err->meta_count; i++)
        if (strcmp(err->meta[i].key, "operation_index") == 0)
            buf_format(out, "%s:", err->meta[i].value);
}

static void write_text(const struct error *err, const struct odata_error_place *place, struct buf *out)
{
    const struct odata_error_info *info = odata_error_find(err);
    char time[DATETIME_BYTES];

    if (info->text) {
        write_operation_index(err, out);
        buf_append(out, str_of(info->text));
    } else {
        buf_append(out, str_of(err->message));
    }
    buf_format(out, "\nRequestId:%.*s\nTime:%.*s", STR_ARG(place->request_id),
        (int)datetime_format(place->now, DATETIME_ALL_DIGITS, time), time);
}

void odata_error_write_json(const struct error *err, const struct odata_error_place *place, struct buf *out)
{
    ARENA_SCOPE arena;
    struct buf text;

    arena_init(&arena);
    buf_init(&text, &arena);
    write_text(err, place, &text);
    buf_format(out, "{\"odata.error\":{\"code\":\"%s\",\"message\":{\"lang\":\"en-US\",\"value\":",
        odata_error_find(err)->code);
    json_forms_write_text(out, codec_text(buf_str(&text), &arena));
    buf_append(out, STR_LITERAL("}}}"));
}

void odata_error_write_xml(const struct error *err, const struct odata_error_place *place, struct buf *out)
{
    ARENA_SCOPE arena;
    struct buf text;

    arena_init(&arena);
    buf_init(&text, &arena);
    write_text(err, place, &text);
    buf_format(out, "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>%s</Code><Message>",
        odata_error_find(err)->code);
    xml_document_write_text(out, codec_text(buf_str(&text), &arena));
    buf_append(out, STR_LITERAL("</Message></Error>"));
}
