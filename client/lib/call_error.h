/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_error.h - struct tavola_error of what the transport, the service and the domain's rules say.
 */
#ifndef CLIENT_LIB_CALL_ERROR_H
#define CLIENT_LIB_CALL_ERROR_H

#include "base/error.h"
#include "client/lib/tavola.h"
#include "rpc/channel.h"

/* Clear the error of a public function that begins: the caller's, or `own` if the caller gave none. */
struct tavola_error *call_error_begin(struct tavola_error *given, struct tavola_error *own);

/* Fill *out; returns the code. The arena is for the reading of details. */
enum tavola_code call_error_of_status(
    const struct rpc_status *status, struct arena *arena, struct tavola_error *out);

/* An error of our own rules, with the domain's reason. */
enum tavola_code call_error_of(const struct error *err, struct tavola_error *out);

PRINTF_LIKE(3, 4)
enum tavola_code call_error_set(struct tavola_error *out, enum tavola_code code, const char *format, ...);

#endif
