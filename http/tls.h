/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - certificates of a listener, from PEM files. Internal to http/.
 *
 * The files are checked before every handshake and the changed ones are used, so certificates are renewed
 * without a restart. If a file cannot be read, or the key does not belong to the certificate, the previous
 * contents stay in force and the log has a line.
 */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "base/error.h"
#include "http/server.h"

struct tls_identity;

/*
 * Load the files. STATUS_INVALID: a file cannot be read, or the key does not belong to the certificate; the
 * message names the files.
 */
MUST_USE enum status tls_identity_open(
    const struct http_tls *tls, struct tls_identity **out, struct error *err);

/* Accepts NULL. No handshake may be under way. */
void tls_identity_free(struct tls_identity *identity);

/*
 * Return the newest certificate chain and key, to be presented to a client. Both live as long as the
 * identity.
 */
void tls_identity_show(
    struct tls_identity *identity, gnutls_pcert_st **chain, unsigned *count, gnutls_privkey_t *key);

/* The authorities in PEM, whose names are sent to clients; NULL: clients need no certificate. */
const char *tls_identity_client_ca(const struct tls_identity *identity);

/*
 * Whether the client may call: it has presented a certificate that one of the authorities has signed, or it
 * needs none.
 */
bool tls_identity_admits(struct tls_identity *identity, gnutls_session_t session);

#endif
