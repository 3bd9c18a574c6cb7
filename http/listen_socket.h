/* SPDX-License-Identifier: Apache-2.0 */
/*
 * listen_socket.h - sockets that listeners take connections from.
 */
#ifndef HTTP_LISTEN_SOCKET_H
#define HTTP_LISTEN_SOCKET_H

#include "base/error.h"

/*
 * address: in a form that config_is_address accepts. A Unix socket that no program listens on any more is replaced. backlog: connections that
 * may wait to be taken.
 *
 * STATUS_UNAVAILABLE  the address cannot be used; the message says why
 */
MUST_USE enum status listen_socket_open(const char *address, int backlog, int *out, struct error *err);

/* The port that was bound; 0 for a Unix socket. */
int listen_socket_port(int fd);

#endif
