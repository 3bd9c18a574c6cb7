/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the table of all methods of the server.
 */
#ifndef SERVICE_METHODS_H
#define SERVICE_METHODS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "service/call.h"

extern const struct method *const methods[];
extern const size_t method_count;

/* The number of methods: those of the table, followed by those of the HTTP doors. */
size_t methods_count(const struct service *service);

/*
 * The method with this number, as an element of the table or of a door's list. number: below methods_count.
 */
const struct method *const *methods_at(const struct service *service, size_t number);

/* The number of a method, which must be one of the service's. */
size_t methods_number(const struct service *service, const struct method *method);

/* The number of the call's method. */
size_t methods_index(const struct rpc_call *call);

/* Whether the table has a service with this full name. */
bool methods_have_service(struct str name);

/* The table in the form that rpc_server_start takes, in the arena; each handler points to an element of `methods`. */
const struct rpc_method *methods_for_rpc(struct arena *arena);

/* Likewise, with only the methods of the health service. */
const struct rpc_method *methods_for_health(struct arena *arena, size_t *count);

/*
 * Whether a compressed message of the call may be inflated. For doors that inflate messages themselves; they
 * must then call methods_events.inflated. STATUS_LIMIT: SERVER_BUSY, the rate of the call's account is used
 * up.
 */
MUST_USE enum status methods_admit_inflating(struct rpc_call *call, struct error *err);

/* The events of a call of any method; they call the functions of its struct method. */
extern const struct rpc_events methods_events;

#endif
