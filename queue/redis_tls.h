/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_tls.h - the TLS side of a link: which certificates, whose name, and what went wrong. Files are read
 * anew for every connection, so that they may be replaced while programs run.
 */
#ifndef QUEUE_REDIS_TLS_H
#define QUEUE_REDIS_TLS_H

#include <openssl/ssl.h>

#include "base/error.h"
#include "queue/redis_url.h"

/*
 * STATUS_INVALID  INVALID_INPUT: a file cannot be read or does not hold what it should, or a certificate has
 *                 no key
 */
MUST_USE enum status redis_tls_check(const struct redis_access *tls, struct error *err);

/*
 * A client's side on a connected socket, before the handshake; released with SSL_free. The other side must
 * have a certificate for this host, name or IP address, that the authorities vouch for.
 */
MUST_USE enum status redis_tls_begin(
    const struct redis_access *tls, const char *host, int fd, SSL **out, struct error *err);

/* What OpenSSL's last call failed of, as STATUS_UNAVAILABLE. */
enum status redis_tls_failed(SSL *ssl, const char *what, struct error *err);

#endif
