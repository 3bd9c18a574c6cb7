/* SPDX-License-Identifier: Apache-2.0 */
/*
 * methods.h - the table of all methods this server has.
 */
#ifndef SERVICE_METHODS_H
#define SERVICE_METHODS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "service/call.h"

extern const struct method methods[];
extern const size_t method_count;

/* Is this the full name of a service in the table? */
bool methods_have_service(struct str name);

/* The table as the transport wants it, in the arena. */
const struct rpc_method *methods_for_rpc(struct arena *arena);

/* The health service alone. */
const struct rpc_method *methods_for_health(struct arena *arena, size_t *count);

/* The events of every call, handed on to the method's own. */
extern const struct rpc_events methods_events;

#endif
