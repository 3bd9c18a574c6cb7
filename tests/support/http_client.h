/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_client.h - a client of HTTP for tests: it sends the given bytes, and reads the reply.
 */
#ifndef TESTS_SUPPORT_HTTP_CLIENT_H
#define TESTS_SUPPORT_HTTP_CLIENT_H

#include "base/buf.h"

/* A connection to a port of this host. The test fails if there is none. */
int http_client_open(int port);

void http_client_send(int fd, const char *text);

/*
 * Read until the text has come, or the server has closed, or ten seconds have passed. Returns all, with a NUL; free it.
 */
char *http_client_read_until(int fd, const char *text);

/*
 * Send a request on a connection of its own, and read the reply until the server closes: the request must ask for that.
 */
char *http_client_ask(int port, const char *request);

#endif
