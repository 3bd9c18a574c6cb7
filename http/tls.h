/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - certificates of a listener, from files in PEM. Internal to http/.
 *
 * The files are looked at before every handshake, and what has changed is taken, so certificates are renewed without a
 * restart. What cannot be read, and a key that is not that of its certificate, leaves the ones before in force, with a line
 * in the log.
 */
#ifndef HTTP_TLS_H
#define HTTP_TLS_H

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>

#include "base/error.h"
#include "http/server.h"

struct tls_identity;

/* STATUS_INVALID: a file cannot be read, or two do not fit each other; the message names them. */
MUST_USE enum status tls_identity_open(
    const struct http_tls *tls, struct tls_identity **out, struct error *err);

/* Accepts NULL. No handshake may be under way. */
void tls_identity_free(struct tls_identity *identity);

/* What is shown to clients from now on; lives as long as the identity. */
void tls_identity_show(
    struct tls_identity *identity, gnutls_pcert_st **chain, unsigned *count, gnutls_privkey_t *key);

/* The text of the authorities that clients are told of; NULL: clients need no certificate. */
const char *tls_identity_client_ca(const struct tls_identity *identity);

/* Whether the client may call: it has shown a certificate that one of the authorities has signed, or needs none. */
bool tls_identity_admits(struct tls_identity *identity, gnutls_session_t session);

#endif
