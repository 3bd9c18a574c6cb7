/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - see the header.
 */
#include "rpc/tls.h"

#include <grpc/grpc_security.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/macros.h"
#include "base/pem_file.h"

struct tls_files {
    struct pem_file certificate, key, client_ca;
    bool handed; /* the core has been given the files once */
};

/* ---- certificate and key ---- */

static X509 *certificate_of(const char *pem)
{
    BIO *bytes = BIO_new_mem_buf(pem, -1);
    X509 *out = PEM_read_bio_X509(bytes, NULL, NULL, NULL); /* the first certificate of a chain */

    BIO_free(bytes);
    return out;
}

/* A key with a password is refused: a server has no user to ask for it. */
static EVP_PKEY *key_of(const char *pem)
{
    char no_password[] = "";
    BIO *bytes = BIO_new_mem_buf(pem, -1);
    EVP_PKEY *out = PEM_read_bio_PrivateKey(bytes, NULL, NULL, no_password);

    BIO_free(bytes);
    return out;
}

/* The core refuses a wrong pair too, but does not say why. */
static enum status check_pair(
    const struct pem_file *certificate, const struct pem_file *key, struct error *err)
{
    X509 *shown = certificate_of(certificate->text);
    EVP_PKEY *kept = key_of(key->text);
    enum status status = STATUS_OK;

    if (!shown)
        status = error_set(err, STATUS_INVALID, "%s has no readable certificate", certificate->path);
    else if (!kept)
        status = error_set(
            err, STATUS_INVALID, "%s has no private key that is readable without a password", key->path);
    else if (X509_check_private_key(shown, kept) != 1)
        status = error_set(err, STATUS_INVALID, "the key in %s does not belong to the certificate in %s",
            key->path, certificate->path);
    X509_free(shown);
    EVP_PKEY_free(kept);
    ERR_clear_error();
    return status;
}

/* ---- server ---- */

static void files_cleanup(struct tls_files *files)
{
    pem_file_cleanup(&files->certificate);
    pem_file_cleanup(&files->key);
    pem_file_cleanup(&files->client_ca);
}

/* All of them are looked at, so that reload knows which it has seen. */
static enum status files_open(const struct rpc_server_tls *tls, struct tls_files *out, struct error *err)
{
    const char *paths[] = { tls->certificate, tls->key, tls->client_ca };
    struct pem_file *files[] = { &out->certificate, &out->key, &out->client_ca };
    enum status status = STATUS_OK;
    struct error ignored = { 0 };

    *out = (struct tls_files){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        enum status opened = pem_file_open(paths[i], files[i], status == STATUS_OK ? err : &ignored);

        if (status == STATUS_OK)
            status = opened;
    }
    if (status == STATUS_OK && tls->certificate && tls->key)
        status = check_pair(&out->certificate, &out->key, err);
    return status;
}

static grpc_ssl_server_certificate_config *certificate_config(const struct tls_files *files)
{
    const grpc_ssl_pem_key_cert_pair pair = { .private_key = files->key.text,
        .cert_chain = files->certificate.text };

    /* The core requires authorities even if callers need no certificate. */
    return grpc_ssl_server_certificate_config_create(
        files->client_ca.path ? files->client_ca.text : files->certificate.text, &pair, 1);
}

/* Read all files if one has changed. If one cannot be used, keep the previous contents of all. */
static bool reload(struct tls_files *files)
{
    const struct rpc_server_tls tls = { files->certificate.path, files->key.path, files->client_ca.path };
    struct tls_files fresh;
    struct error err;

    if (!pem_file_has_changed(&files->certificate) && !pem_file_has_changed(&files->key) &&
        !pem_file_has_changed(&files->client_ca))
        return false;
    if (files_open(&tls, &fresh, &err) != STATUS_OK) {
        log_event(LOG_WARN, "certificates_kept", log_text("path", files->certificate.path),
            log_text("why", err.message));
        files->certificate.seen = fresh.certificate.seen;
        files->key.seen = fresh.key.seen;
        files->client_ca.seen = fresh.client_ca.seen;
        files_cleanup(&fresh);
        return false;
    }
    log_event(LOG_INFO, "certificates_reloaded", log_text("path", files->certificate.path));
    files_cleanup(files);
    fresh.handed = true;
    *files = fresh;
    return true;
}

/* The core calls this before every handshake; the calls do not overlap. */
static grpc_ssl_certificate_config_reload_status fetch(
    void *context, grpc_ssl_server_certificate_config **config)
{
    struct tls_files *files = context;

    if (!reload(files) && files->handed)
        return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_UNCHANGED;
    files->handed = true;
    *config = certificate_config(files);
    return GRPC_SSL_CERTIFICATE_CONFIG_RELOAD_NEW;
}

enum status tls_server_credentials(const struct rpc_server_tls *tls, struct tls_files **files,
    grpc_server_credentials **out, struct error *err)
{
    struct tls_files *opened = xcalloc(1, sizeof(*opened));
    grpc_ssl_server_credentials_options *options;
    enum status status = files_open(tls, opened, err);

    if (status != STATUS_OK) {
        tls_files_free(opened);
        return status;
    }
    options = grpc_ssl_server_credentials_create_options_using_config_fetcher(
        tls->client_ca ? GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY
                       : GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE,
        fetch, opened);
    *out = grpc_ssl_server_credentials_create_with_options(options);
    *files = opened;
    return STATUS_OK;
}

void tls_files_free(struct tls_files *files)
{
    if (!files)
        return;
    files_cleanup(files);
    free(files);
}

/* ---- channel ---- */

enum status tls_channel_credentials(
    const struct rpc_client_tls *tls, grpc_channel_credentials **out, struct error *err)
{
    const struct rpc_server_tls paths = { tls->certificate, tls->key, tls->ca };
    struct tls_files files;
    enum status status;

    if (!tls->certificate != !tls->key)
        return error_set(err, STATUS_INVALID,
            "a certificate needs its key, and a key its certificate: one of the two is not set");
    status = files_open(&paths, &files, err);
    if (status == STATUS_OK) {
        grpc_ssl_pem_key_cert_pair pair = { files.key.text, files.certificate.text };

        *out = grpc_ssl_credentials_create(files.client_ca.text, tls->certificate ? &pair : NULL, NULL, NULL);
        if (!*out)
            status = error_set(err, STATUS_INVALID, "the certificates in %s cannot be used", tls->ca);
    }
    files_cleanup(&files);
    return status;
}
