/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen_socket.h - opens the sockets that listeners accept connections from.
 */
#ifndef HTTP_LISTEN_SOCKET_H
#define HTTP_LISTEN_SOCKET_H

#include "base/error.h"

/*
 * Open a socket that listens. A Unix socket on which no program listens any more is replaced.
 *
 * address  in a form that config_is_address accepts
 * backlog  the number of connections that may wait to be accepted
 *
 * STATUS_UNAVAILABLE  the address cannot be used; the message says why
 */
MUST_USE enum status listen_socket_open(const char *address, int backlog, int *out, struct error *err);

/* The port that was bound; 0 for a Unix socket. */
int listen_socket_port(int fd);

#endif
