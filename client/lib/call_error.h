/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_error.h - fills struct tavola_error from errors of the transport, of the service and of the domain's
 * rules.
 */
#ifndef CLIENT_LIB_CALL_ERROR_H
#define CLIENT_LIB_CALL_ERROR_H

#include "base/error.h"
#include "client/lib/tavola.h"
#include "rpc/channel.h"

/* Return the cleared error of a public function: the caller's, or `own` if the caller gave none. */
struct tavola_error *call_error_begin(struct tavola_error *given, struct tavola_error *own);

/* Fill *out from the status of a call, and return its code. The arena is used while details are read. */
enum tavola_code call_error_of_status(
    const struct rpc_status *status, struct arena *arena, struct tavola_error *out);

/* Fill *out from an error of the domain's rules, with its reason. */
enum tavola_code call_error_of(const struct error *err, struct tavola_error *out);

PRINTF_LIKE(3, 4)
enum tavola_code call_error_set(struct tavola_error *out, enum tavola_code code, const char *format, ...);

#endif
