/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.h - credentials from files in PEM. The functions are internal to rpc/.
 *
 * A server looks at its files before every handshake and takes what has changed, so certificates are renewed
 * without a restart. What cannot be read, and a key that is not that of its certificate, leaves the ones before in
 * force, with a line in the log.
 */
#ifndef RPC_TLS_H
#define RPC_TLS_H

#include "base/error.h"

/* Paths. */
struct rpc_server_tls {
    const char *certificate; /* the chain, the server's own first */
    const char *key;
    const char *client_ca; /* callers must show a certificate one of these has signed; NULL: they need none */
};

struct rpc_client_tls {
    const char *ca;          /* whose signature under the server's certificate is good */
    const char *certificate; /* the caller's own; NULL: none, and key too */
    const char *key;
};

struct grpc_server_credentials;
struct grpc_channel_credentials;
struct tls_files;

/*
 * STATUS_INVALID: a file cannot be read, or two do not fit each other; the message names them. *files must live
 * as long as the server, and go with tls_files_free.
 */
MUST_USE enum status tls_server_credentials(const struct rpc_server_tls *tls, struct tls_files **files,
    struct grpc_server_credentials **out, struct error *err);
void tls_files_free(struct tls_files *files);

/* The same for a channel, which reads its files once. */
MUST_USE enum status tls_channel_credentials(
    const struct rpc_client_tls *tls, struct grpc_channel_credentials **out, struct error *err);

#endif
