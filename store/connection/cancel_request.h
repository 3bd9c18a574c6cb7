/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cancel_request.h - asks PostgreSQL to cancel the statement of a connection, without waiting for it.
 *
 * libpq sends such a request over a connection of its own, and blocks until the server has closed that one: for ever
 * if the server's processes are frozen, because the kernel still accepts connections for them. So a thread of the
 * request's own sends it. Until it is over, the connection must not begin another statement, which it would cancel.
 */
#ifndef STORE_CONNECTION_CANCEL_REQUEST_H
#define STORE_CONNECTION_CANCEL_REQUEST_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

struct cancel_request;

/* NULL: it cannot be sent. The connection may be closed before the request is over. */
struct cancel_request *cancel_request_send(PGconn *conn);

/* Whether the request is over, in whatever way, at this clock_monotonic_us. NULL is over. */
bool cancel_request_wait(struct cancel_request *request, int64_t deadline_us);

/* The caller needs it no more; its thread may still be at work. NULL is allowed. */
void cancel_request_release(struct cancel_request *request);

#endif
