/* SPDX-License-Identifier: Apache-2.0 */
/*
 * code.c - see the header.
 */
#include "rpc/code.h"

static const char *const names[RPC_CODES] = { "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS",
    "UNAUTHENTICATED" };

const char *rpc_code_name(int code)
{
    return names[code >= 0 && code < RPC_CODES ? code : 2];
}
