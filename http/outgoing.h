/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outgoing.h - what requests to other services have in common: a handle of libcurl that follows no redirection, speaks
 * HTTP and HTTPS only, verifies certificates, reads no credentials of the user, raises no signals, and has bounds.
 */
#ifndef HTTP_OUTGOING_H
#define HTTP_OUTGOING_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

struct outgoing {
    int64_t connect_ms, total_ms;       /* what a connection, and a request with it, may take */
    const char *ca;                     /* the authorities of certificates (PEM); NULL: those of the system */
    bool uses_proxy;                    /* of the environment, such as https_proxy */
    bool (*is_given_up)(void *context); /* asked several times a second while a request waits; NULL: never */
    void *context;
};

/* A handle without options. NULL: out of memory, or libcurl cannot be used. */
CURL *outgoing_handle(void);

/* Set the options of a handle; *outgoing is used until they are reset. */
void outgoing_set(CURL *curl, const struct outgoing *outgoing);

/* Both; *outgoing is used until curl_easy_cleanup. */
CURL *outgoing_open(const struct outgoing *outgoing);

/* The headers of a request, of which the last is NULL, as a list that the caller frees. NULL: out of memory. */
struct curl_slist *outgoing_headers(const char *const *headers);

#endif
