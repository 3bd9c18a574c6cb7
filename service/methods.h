/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the table of all methods that the server has.
 */
#ifndef SERVICE_METHODS_H
#define SERVICE_METHODS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "service/call.h"

extern const struct method *const methods[];
extern const size_t method_count;

/* How many methods the service has: those of the table, and behind them those of its HTTP doors. */
size_t methods_count(const struct service *service);

/* The element of the table, or of a door's, with this number, which is below methods_count. */
const struct method *const *methods_at(const struct service *service, size_t number);

/* The number of a method. The service must have it. */
size_t methods_number(const struct service *service, const struct method *method);

/* That of the call's method. */
size_t methods_index(const struct rpc_call *call);

/* Is this the full name of a service in the table? */
bool methods_have_service(struct str name);

/* The table in the form that rpc_server_start takes, in the arena; each handler points to an element of `methods`. */
const struct rpc_method *methods_for_rpc(struct arena *arena);

/* The same with only the methods of the health service. */
const struct rpc_method *methods_for_health(struct arena *arena, size_t *count);

/*
 * May a compressed message of the call be inflated? For doors that inflate messages by themselves; they then tell
 * methods_events.inflated. STATUS_LIMIT SERVER_BUSY: the rate of the call's account is used up.
 */
MUST_USE enum status methods_admit_inflating(struct rpc_call *call, struct error *err);

/* The events of a call of any method; they call the functions of its struct method. */
extern const struct rpc_events methods_events;

#endif
