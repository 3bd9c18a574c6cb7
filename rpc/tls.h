/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - TLS credentials from PEM files. The functions are internal to rpc/.
 *
 * A server checks its files before every handshake and uses the changed ones, so certificates are renewed
 * without a restart. If a file cannot be read, or the key does not belong to the certificate, the previous
 * contents stay in force and the log has a line.
 */
#ifndef RPC_TLS_H
#define RPC_TLS_H

#include "base/error.h"

/* Paths of the server's PEM files. */
struct rpc_server_tls {
    const char *certificate; /* the chain; the server's own certificate is the first */
    const char *key;
    /* callers must present a certificate that one of these authorities has signed; NULL: callers need none */
    const char *client_ca;
};

struct rpc_client_tls {
    const char *ca;          /* the authorities that may have signed the server's certificate */
    const char *certificate; /* the caller's own certificate; NULL: none, and key is NULL too */
    const char *key;
};

struct grpc_server_credentials;
struct grpc_channel_credentials;
struct tls_files;

/*
 * Load the server's credentials. *files must live as long as the server; free it with tls_files_free.
 *
 * STATUS_INVALID  a file cannot be read, or a key does not belong to its certificate; the message names the files
 */
MUST_USE enum status tls_server_credentials(const struct rpc_server_tls *tls, struct tls_files **files,
    struct grpc_server_credentials **out, struct error *err);
void tls_files_free(struct tls_files *files);

/* Load a channel's credentials. A channel reads its files once. Errors: as above. */
MUST_USE enum status tls_channel_credentials(
    const struct rpc_client_tls *tls, struct grpc_channel_credentials **out, struct error *err);

#endif
