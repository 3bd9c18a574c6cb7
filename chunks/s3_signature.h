/* SPDX-License-Identifier: Apache-2.0 */
/*
 * s3_signature.h - AWS Signature Version 4 of a request to an S3-compatible store, as a header. Pure.
 */
#ifndef CHUNKS_S3_SIGNATURE_H
#define CHUNKS_S3_SIGNATURE_H

#include "base/arena.h"
#include "base/str.h"

enum { S3_SIGNATURE_DIGEST_BYTES = 65, S3_SIGNATURE_TIME_BYTES = 17 };

struct s3_request {
    const char *method;
    const char *host;   /* as in the header Host */
    const char *path;   /* percent-encoded, beginning with '/' */
    const char *query;  /* canonical; empty: none */
    const char *region; /* "us-east-1" */
    struct str access_key, secret_key;
    struct str session_token;               /* the header x-amz-security-token; empty: none */
    char digest[S3_SIGNATURE_DIGEST_BYTES]; /* the header x-amz-content-sha256 */
    char time[S3_SIGNATURE_TIME_BYTES];     /* the header x-amz-date: "20130524T000000Z" */
};

/* Write the SHA-256 of a body in hexadecimal digits. */
void s3_signature_digest(struct str body, char out[S3_SIGNATURE_DIGEST_BYTES]);

/* The value of the header Authorization. It signs the headers that struct s3_request names. */
const char *s3_signature_make(const struct s3_request *request, struct arena *arena);

#endif
