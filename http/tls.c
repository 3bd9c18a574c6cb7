/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tls.c - see the header.
 *
 * The library asks for the certificate in every handshake, so it gets the newest one. But it reads the
 * authorities of clients only once, and checks nothing with them. So this module checks the certificate of a
 * client against the newest authorities, before the first request on the connection begins.
 *
 * A handshake keeps using the certificate that it was given. So replaced certificates are kept until the
 * listener stops; each takes some kilobytes.
 */
#include "http/tls.h"

#include <gnutls/x509.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/pem_file.h"

enum { MAX_CHAIN = 16 };

/* The contents of the files at one moment. */
struct generation {
    struct pem_file certificate, key, client_ca;
    gnutls_pcert_st chain[MAX_CHAIN];
    unsigned count;
    gnutls_privkey_t private_key;
    gnutls_x509_trust_list_t authorities; /* NULL: clients need no certificate */
    struct generation *older;
};

struct tls_identity {
    struct http_tls files;
    struct generation *newest;
};

static gnutls_datum_t datum_of(const struct pem_file *file)
{
    return (gnutls_datum_t){ .data = (unsigned char *)file->text, .size = (unsigned)strlen(file->text) };
}

static void generation_free(struct generation *generation)
{
    for (unsigned i = 0; i < generation->count; i++)
        gnutls_pcert_deinit(&generation->chain[i]);
    if (generation->private_key)
        gnutls_privkey_deinit(generation->private_key);
    if (generation->authorities)
        gnutls_x509_trust_list_deinit(generation->authorities, 1);
    pem_file_cleanup(&generation->certificate);
    pem_file_cleanup(&generation->key);
    pem_file_cleanup(&generation->client_ca);
    free(generation);
}

/* ---- reading ---- */

static enum status read_chain(struct generation *generation, struct error *err)
{
    gnutls_datum_t text = datum_of(&generation->certificate);
    unsigned count = MAX_CHAIN;

    if (gnutls_pcert_list_import_x509_raw(generation->chain, &count, &text, GNUTLS_X509_FMT_PEM, 0) != 0)
        return error_set(err, STATUS_INVALID, "%s has no readable certificate, or more than %d",
            generation->certificate.path, (int)MAX_CHAIN);
    generation->count = count;
    return STATUS_OK;
}

static enum status read_key(struct generation *generation, struct error *err)
{
    gnutls_datum_t text = datum_of(&generation->key);

    if (gnutls_privkey_init(&generation->private_key) != 0)
        abort(); /* no memory */
    if (gnutls_privkey_import_x509_raw(generation->private_key, &text, GNUTLS_X509_FMT_PEM, NULL, 0) == 0)
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "%s has no private key that is readable without a password",
        generation->key.path);
}

/*
 * Check that key and certificate belong together, by loading both as a server's pair: GnuTLS compares them.
 */
static enum status check_pair(const struct generation *generation, struct error *err)
{
    gnutls_datum_t certificate = datum_of(&generation->certificate), key = datum_of(&generation->key);
    gnutls_certificate_credentials_t credentials;
    int failed;

    if (gnutls_certificate_allocate_credentials(&credentials) != 0)
        abort(); /* no memory */
    failed = gnutls_certificate_set_x509_key_mem(credentials, &certificate, &key, GNUTLS_X509_FMT_PEM);
    gnutls_certificate_free_credentials(credentials);
    if (failed == 0)
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "the key in %s does not belong to the certificate in %s: %s",
        generation->key.path, generation->certificate.path, gnutls_strerror(failed));
}

static enum status read_authorities(struct generation *generation, struct error *err)
{
    gnutls_datum_t text;

    if (!generation->client_ca.path)
        return STATUS_OK;
    text = datum_of(&generation->client_ca);
    if (gnutls_x509_trust_list_init(&generation->authorities, 0) != 0)
        abort(); /* no memory */
    if (gnutls_x509_trust_list_add_trust_mem(
            generation->authorities, &text, NULL, GNUTLS_X509_FMT_PEM, 0, 0) > 0)
        return STATUS_OK;
    return error_set(err, STATUS_INVALID, "%s has no readable certificate", generation->client_ca.path);
}

static enum status read_generation(const struct http_tls *files, struct generation *out, struct error *err)
{
    TRY(pem_file_open(files->certificate, &out->certificate, err));
    TRY(pem_file_open(files->key, &out->key, err));
    TRY(pem_file_open(files->client_ca, &out->client_ca, err));
    TRY(read_chain(out, err));
    TRY(read_key(out, err));
    TRY(check_pair(out, err));
    return read_authorities(out, err);
}

static enum status add_generation(struct tls_identity *identity, struct error *err)
{
    struct generation *fresh = xcalloc(1, sizeof(*fresh));
    enum status status = read_generation(&identity->files, fresh, err);

    if (status != STATUS_OK) {
        generation_free(fresh);
        return status;
    }
    fresh->older = identity->newest;
    identity->newest = fresh;
    return STATUS_OK;
}

enum status tls_identity_open(const struct http_tls *tls, struct tls_identity **out, struct error *err)
{
    struct tls_identity *identity = xcalloc(1, sizeof(*identity));
    enum status status;

    identity->files = *tls;
    status = add_generation(identity, err);
    if (status != STATUS_OK) {
        free(identity);
        return status;
    }
    *out = identity;
    return STATUS_OK;
}

void tls_identity_free(struct tls_identity *identity)
{
    struct generation *generation = identity ? identity->newest : NULL;

    while (generation) {
        struct generation *older = generation->older;

        generation_free(generation);
        generation = older;
    }
    free(identity);
}

/* ---- handshakes ---- */

/* Read all files if one has changed. If one cannot be used, keep the previous contents of all. */
static void reload(struct tls_identity *identity)
{
    const struct generation *newest = identity->newest;
    struct error err;

    if (!pem_file_has_changed(&newest->certificate) && !pem_file_has_changed(&newest->key) &&
        !pem_file_has_changed(&newest->client_ca))
        return;
    if (add_generation(identity, &err) == STATUS_OK)
        log_event(LOG_INFO, "certificates_reloaded", log_text("path", identity->files.certificate));
    else
        log_event(LOG_WARN, "certificates_kept", log_text("path", identity->files.certificate),
            log_text("why", err.message));
}

void tls_identity_show(
    struct tls_identity *identity, gnutls_pcert_st **chain, unsigned *count, gnutls_privkey_t *key)
{
    reload(identity);
    *chain = identity->newest->chain;
    *count = identity->newest->count;
    *key = identity->newest->private_key;
}

const char *tls_identity_client_ca(const struct tls_identity *identity)
{
    return identity->newest->client_ca.text;
}

bool tls_identity_admits(struct tls_identity *identity, gnutls_session_t session)
{
    unsigned shown = 0, verified = GNUTLS_CERT_INVALID;
    const gnutls_datum_t *chain = gnutls_certificate_get_peers(session, &shown);
    gnutls_x509_crt_t certificates[MAX_CHAIN];
    unsigned count = 0;

    if (!identity->newest->authorities)
        return true;
    while (chain && count < shown && count < MAX_CHAIN) {
        if (gnutls_x509_crt_init(&certificates[count]) != 0)
            abort(); /* no memory */
        if (gnutls_x509_crt_import(certificates[count], &chain[count], GNUTLS_X509_FMT_DER) != 0)
            shown = 0; /* count the certificate as invalid */
        count++;
    }
    if (count > 0 && count == shown &&
        gnutls_x509_trust_list_verify_crt(
            identity->newest->authorities, certificates, count, 0, &verified, NULL) != 0)
        verified = GNUTLS_CERT_INVALID;
    while (count > 0)
        gnutls_x509_crt_deinit(certificates[--count]);
    return verified == 0;
}
