/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call_count.c - counts a call at its connection and among the calls that need no credential.
 *
 * The connection of a call is looked up only if some connection is unauthenticated or the method needs no
 * credential. So while only known callers are connected, their calls cost nothing here.
 */
#include <grpc/support/alloc.h>

#include "rpc/call_parts.h"

static bool is_open_method(const struct core_call *call)
{
    return call->slot->method && call->slot->method->is_open;
}

static bool count_open(struct core_call *call)
{
    struct call_host *host = call->host;
    int count = atomic_fetch_add(&host->open_calls, 1) + 1;

    call->counts_as_open = true;
    if ((host->max_open_calls > 0 && count > host->max_open_calls) ||
        (call->connection && !door_enter_open(call->connection, host->max_open_calls_per_connection))) {
        atomic_fetch_add(&host->open_calls_refused, 1);
        return false;
    }
    return true;
}

bool call_enter(struct core_call *call)
{
    struct door *door = call->host->door;

    if (is_open_method(call) || door_counts_calls(door)) {
        char *peer = grpc_call_get_peer(call->core);

        call->connection = door_enter(door, str_of(peer));
        gpr_free(peer);
    }
    return call->slot->method && (!is_open_method(call) || count_open(call));
}

void call_leave(struct core_call *call)
{
    if (call->connection)
        door_leave(call->connection, call->counts_as_open);
    if (call->counts_as_open)
        atomic_fetch_sub(&call->host->open_calls, 1);
}

void call_note_authenticated(struct core_call *call)
{
    if (call->connection)
        door_authenticate(call->connection);
}
