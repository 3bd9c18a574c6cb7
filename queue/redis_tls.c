/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_tls.c - see the header.
 */
#include "queue/redis_tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "domain/reason.h"

static enum status file_unusable(struct error *err, const char *what, const char *file)
{
    const char *why = ERR_reason_error_string(ERR_peek_last_error());

    ERR_clear_error();
    return reason_set(err, REASON_INVALID_INPUT,
        "TLS to Redis: %s %s cannot be used: %s; expected a file in PEM", what, file,
        why ? why : "it cannot be read");
}

static enum status load_files(SSL_CTX *context, const struct redis_access *tls, struct error *err)
{
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    if (!tls->ca)
        SSL_CTX_set_default_verify_paths(context);
    else if (SSL_CTX_load_verify_file(context, tls->ca) != 1)
        return file_unusable(err, "the authorities' file", tls->ca);
    if (!tls->certificate != !tls->key)
        return reason_set(err, REASON_INVALID_INPUT,
            "TLS to Redis: a certificate needs its key, and a key its certificate");
    if (!tls->certificate)
        return STATUS_OK;
    if (SSL_CTX_use_certificate_chain_file(context, tls->certificate) != 1)
        return file_unusable(err, "the certificate", tls->certificate);
    if (SSL_CTX_use_PrivateKey_file(context, tls->key, SSL_FILETYPE_PEM) != 1)
        return file_unusable(err, "the key", tls->key);
    return STATUS_OK;
}

static enum status make_context(const struct redis_access *tls, SSL_CTX **out, struct error *err)
{
    SSL_CTX *context;
    enum status status;

    ERR_clear_error();
    context = SSL_CTX_new(TLS_client_method());
    if (!context)
        return error_set(err, STATUS_UNAVAILABLE, "TLS to Redis: OpenSSL cannot be used");
    status = load_files(context, tls, err);
    if (status == STATUS_OK)
        *out = context;
    else
        SSL_CTX_free(context);
    return status;
}

enum status redis_tls_check(const struct redis_access *tls, struct error *err)
{
    SSL_CTX *context = NULL;

    TRY(make_context(tls, &context, err));
    SSL_CTX_free(context);
    return STATUS_OK;
}

static bool expect_host(SSL *ssl, const char *host)
{
    struct in6_addr ignored;

    if (inet_pton(AF_INET, host, &ignored) == 1 || inet_pton(AF_INET6, host, &ignored) == 1)
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

enum status redis_tls_begin(
    const struct redis_access *tls, const char *host, int fd, SSL **out, struct error *err)
{
    SSL_CTX *context = NULL;
    struct error own = { 0 };
    SSL *ssl;

    if (make_context(tls, &context, &own) != STATUS_OK)
        return error_set(err, STATUS_UNAVAILABLE, "%s", own.message);
    ssl = SSL_new(context);
    SSL_CTX_free(context); /* ssl holds it */
    if (!ssl || SSL_set_fd(ssl, fd) != 1 || !expect_host(ssl, host)) {
        SSL_free(ssl);
        return error_set(err, STATUS_UNAVAILABLE, "TLS to Redis: OpenSSL cannot be used for host %s", host);
    }
    *out = ssl;
    return STATUS_OK;
}

enum status redis_tls_failed(SSL *ssl, const char *what, struct error *err)
{
    unsigned long code = ERR_peek_last_error();
    long verified = SSL_get_verify_result(ssl);
    const char *why = verified != X509_V_OK ? X509_verify_cert_error_string(verified)
                      : code != 0           ? ERR_reason_error_string(code)
                                            : "the server has closed the connection";

    ERR_clear_error();
    return error_set(err, STATUS_UNAVAILABLE, "Redis: %s: %s", what, why ? why : "unknown error");
}
