/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reason.h - every reason an error can have, once: its name on the wire, its status, its cause and cure.
 *
 * The names are those of the Azure Table service in UPPER_SNAKE, and our own beyond them. docs/errors.md
 * is made from this table.
 */
#ifndef DOMAIN_REASON_H
#define DOMAIN_REASON_H

#include "base/error.h"

enum reason {
    REASON_INVALID_INPUT,
    REASON_INVALID_RESOURCE_NAME,
    REASON_OUT_OF_RANGE_INPUT,
    REASON_PROPERTIES_NEED_VALUE,
    REASON_PROPERTY_NAME_INVALID,
    REASON_PROPERTY_NAME_TOO_LONG,
    REASON_PROPERTY_VALUE_TOO_LARGE,
    REASON_TOO_MANY_PROPERTIES,
    REASON_DUPLICATE_PROPERTIES_SPECIFIED,
    REASON_ENTITY_TOO_LARGE,
    REASON_REQUEST_BODY_TOO_LARGE,
    REASON_INVALID_DUPLICATE_ROW,
    REASON_COMMANDS_IN_BATCH_ACT_ON_DIFFERENT_PARTITIONS,
    REASON_NOT_IMPLEMENTED,
    REASON_TABLE_ALREADY_EXISTS,
    REASON_TABLE_NOT_FOUND,
    REASON_RESOURCE_NOT_FOUND,
    REASON_ENTITY_ALREADY_EXISTS,
    REASON_UPDATE_CONDITION_NOT_SATISFIED,
    REASON_PAGE_TOKEN_INVALID,
    REASON_PLAN_TOO_EXPENSIVE,
    REASON_INDEX_NOT_FOUND,
    REASON_INDEX_EXISTS,
    REASON_INDEX_NOT_READY,
    REASON_INDEX_OWNED,
    REASON_REQUEST_ID_REUSED,
    REASON_TRANSACTION_NOT_FOUND,
    REASON_TRANSACTION_ID_REUSED,
    REASON_TRANSACTION_ID_EXPIRED,
    REASON_TRANSACTION_STARTED,
    REASON_OPERATION_NOT_FOUND,
    REASON_NOT_FRESH_ENOUGH,
    REASON_TOKEN_EXPIRED,
    REASON_CHANGE_FEED_OFF,
    REASON_RESYNC_REQUIRED,
    REASON_OPERATION_NOT_CONTROLLABLE,
    REASON_CATALOGUE_CHANGE_BLOCKED,
    REASON_OUTCOME_UNKNOWN,
    REASON_NO_AUTHENTICATION_INFORMATION,
    REASON_AUTHENTICATION_FAILED,
    REASON_AUTHORIZATION_FAILURE,
    REASON_AUTHORIZATION_PERMISSION_MISMATCH,
    REASON_AUTHORIZATION_SOURCE_IP_MISMATCH,
    REASON_AUTHORIZATION_PROTOCOL_MISMATCH,
    REASON_SERVER_BUSY,
    REASON_SERVER_DRAINING,
    REASON_STORE_UNAVAILABLE,
    REASON_OPERATION_TIMED_OUT,
    REASON_CANCELLED,
    REASON_INTERNAL_ERROR,
    REASON_COUNT
};

struct reason_info {
    const char *name; /* UPPER_SNAKE, as in ErrorInfo.reason */
    enum status status;
    const char *cause; /* a sentence for docs/errors.md */
    const char *cure;
};

const struct reason_info *reason_info(enum reason reason);

/* The row whose name this is; NULL when there is none. */
const struct reason_info *reason_find(const char *name);

/* Fill err with the reason's name and status; returns that status. */
PRINTF_LIKE(3, 4)
enum status reason_set(struct error *err, enum reason reason, const char *format, ...);

#endif
