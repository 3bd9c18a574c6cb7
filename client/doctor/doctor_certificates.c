/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_certificates.c - how long the certificates last.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <string.h>

#include "client/doctor/doctor.h"

#define PART "certificates"

enum { SOON_DAYS = 21, SECONDS_PER_DAY = 86400, CONNECT_SECONDS = 3 };

static void add_end(const char *name, const X509 *certificate, struct findings *out)
{
    int days = 0, seconds = 0;
    char what[400];
    struct finding finding = { .part = STR_LITERAL(PART) };

    if (!ASN1_TIME_diff(&days, &seconds, NULL, X509_get0_notAfter(certificate)))
        return;
    if (days < 0 || seconds < 0)
        snprintf(what, sizeof(what), "%s has expired", name);
    else
        snprintf(what, sizeof(what), "%s is valid for %d more days", name, days);
    finding.what = str_of(what);
    if (days < SOON_DAYS) {
        finding.severity = days < 0 || seconds < 0 ? SEVERITY_PROBLEM : SEVERITY_WARNING;
        finding.why = STR_LITERAL("from then on connections are refused");
        finding.remedy = STR_LITERAL(
            "renew it, and rename the new file into its place: the server takes it without a restart");
    }
    findings_add(out, &finding);
}

static void add_unreadable(const char *name, const char *why, struct findings *out)
{
    char what[400];

    snprintf(what, sizeof(what), "%s cannot be read", name);
    findings_add(
        out, &(struct finding){ .severity = SEVERITY_PROBLEM,
                 .part = STR_LITERAL(PART),
                 .what = str_of(what),
                 .why = str_of(why),
                 .remedy = STR_LITERAL(
                     "openssl x509 -in FILE -noout -dates shows whether it is a certificate in PEM") });
}

/* Every certificate of a file. */
static void check_file(const char *path, struct findings *out)
{
    FILE *file;
    X509 *certificate;
    int count = 0;

    if (!path)
        return;
    file = fopen(path, "r");
    if (!file) {
        add_unreadable(path, "there is no such file, or this user may not read it", out);
        return;
    }
    while ((certificate = PEM_read_X509(file, NULL, NULL, NULL))) {
        add_end(path, certificate, out);
        X509_free(certificate);
        count++;
    }
    ERR_clear_error();
    fclose(file);
    if (count == 0)
        add_unreadable(path, "it holds no certificate", out);
}

/* Check the end of the certificate that the target presents. Its signature is checked by the calls. */
static void check_target(const char *target, struct findings *out)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    BIO *bio = context ? BIO_new_ssl_connect(context) : NULL;
    SSL *ssl = NULL;
    X509 *certificate;

    if (bio && BIO_get_ssl(bio, &ssl) > 0) {
        static const unsigned char protocol[] = "\x02h2";

        SSL_set_alpn_protos(ssl, protocol, sizeof(protocol) - 1);
        BIO_set_conn_hostname(bio, target);
        BIO_set_nbio(bio, 1);
        if (BIO_do_connect_retry(bio, CONNECT_SECONDS, 10) > 0 &&
            (certificate = SSL_get1_peer_certificate(ssl))) {
            add_end("the server's certificate", certificate, out);
            X509_free(certificate);
        }
    }
    ERR_clear_error();
    BIO_free_all(bio);
    SSL_CTX_free(context);
}

void doctor_check_certificates(const struct client_config *config, struct findings *out)
{
    if (!config->ca) {
        findings_add_ok(out, PART, "none is used: TAVOLA_CA is not set");
        return;
    }
    check_file(config->ca, out);
    check_file(config->certificate, out);
    if (strncmp(config->target, "unix:", 5) != 0)
        check_target(config->target, out);
}
