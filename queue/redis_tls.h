/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_tls.h - the TLS side of a link: certificates, the check of the server's name, and errors.
 * Files are read again for every connection, so they may be replaced while programs run.
 *
 * Once the oldest supported system has hiredis 1.0, redisInitiateSSL() does the handshake on an SSL
 * object that is made here. The rest of this module stays until redisCreateSSLContext() also checks
 * the name of the server, which 1.0 does
 * not: it takes a name for SNI only.
 */
#ifndef QUEUE_REDIS_TLS_H
#define QUEUE_REDIS_TLS_H

#include <openssl/ssl.h>

#include "base/error.h"
#include "queue/redis_url.h"

/*
 * Check that the files can be used.
 *
 * STATUS_INVALID  INVALID_INPUT: a file cannot be read or has wrong contents, or a certificate is set without its key
 */
MUST_USE enum status redis_tls_check(const struct redis_access *tls, struct error *err);

/*
 * Create the client's side for a connected socket; the handshake comes next. Release it with
 * SSL_free. The server must have a certificate for this host name or IP address, signed by one of
 * the authorities.
 */
MUST_USE enum status redis_tls_begin(
    const struct redis_access *tls, const char *host, int fd, SSL **out, struct error *err);

/*
 * The cause of the failure of OpenSSL's last call, as STATUS_UNAVAILABLE. what: the operation, for
 * the message.
 */
enum status redis_tls_failed(SSL *ssl, const char *what, struct error *err);

#endif
