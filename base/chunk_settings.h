/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_settings.h - the settings of the stores that keep chunks of blobs: the same for all servers and workers.
 */
#ifndef BASE_CHUNK_SETTINGS_H
#define BASE_CHUNK_SETTINGS_H

#include <stddef.h>

#include "base/config.h"

enum s3_addressing {
    S3_ADDRESSING_PATH, /* HOST/BUCKET/NAME */
    S3_ADDRESSING_HOST, /* BUCKET.HOST/NAME */
};

struct chunk_settings {
    int put_into;          /* enum chunk_store_kind */
    const char *directory; /* NULL: none */
    const char *s3_url;    /* NULL: none */
    const char *s3_region;
    int s3_addressing; /* enum s3_addressing */
    const char *s3_access_key, *s3_secret_key, *s3_session_token, *s3_credentials_file,
        *s3_ca; /* NULL: not set */
    int64_t s3_timeout_s;
};

/* The choices of TAVOLA_BLOB_STORE, in the order of enum chunk_store_kind. */
extern const char *const chunk_settings_stores[];

/* The choices of TAVOLA_BLOB_S3_ADDRESSING, in the order of enum s3_addressing. */
extern const char *const chunk_settings_addressings[];

/* An absolute path. */
bool chunk_settings_is_directory(const char *value);

/* "https://HOST[:PORT]/BUCKET", with or without a path behind it. */
bool chunk_settings_is_s3_url(const char *value);

/* Rows of a program's table of settings; the program's struct has a member `struct chunk_settings chunks`. */
#define CHUNK_SETTINGS(config)                                                                               \
    { .name = "TAVOLA_BLOB_STORE",                                                                           \
        .type = CONFIG_CHOICE,                                                                               \
        .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, put_into),                      \
        .fallback = "postgresql",                                                                            \
        .choices = chunk_settings_stores,                                                                    \
        .help = "where new chunks of blobs go; chunks that exist stay where they are. The same setting for " \
                "all workers and servers" },                                                                 \
        { .name = "TAVOLA_BLOB_DIRECTORY",                                                                   \
            .type = CONFIG_STRING,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, directory),                 \
            .accepts = chunk_settings_is_directory,                                                          \
            .allowed = "an absolute path",                                                                   \
            .help =                                                                                          \
                "the directory of chunks of blobs, which exists and all workers and servers share; also "    \
                "when new chunks go elsewhere" },                                                            \
        { .name = "TAVOLA_BLOB_S3_URL",                                                                      \
            .type = CONFIG_STRING,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_url),                    \
            .accepts = chunk_settings_is_s3_url,                                                             \
            .allowed = "https://HOST[:PORT]/BUCKET or http://..., of letters, digits and . - _ /",           \
            .help = "the bucket of chunks of blobs in an S3-compatible store, in path style; also when new " \
                    "chunks go elsewhere" },                                                                 \
        { .name = "TAVOLA_BLOB_S3_ADDRESSING",                                                               \
            .type = CONFIG_CHOICE,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_addressing),             \
            .fallback = "path",                                                                              \
            .choices = chunk_settings_addressings,                                                           \
            .help = "how requests to it name the bucket: path, HOST/BUCKET; host, BUCKET.HOST" },            \
        { .name = "TAVOLA_BLOB_S3_REGION",                                                                   \
            .type = CONFIG_STRING,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_region),                 \
            .fallback = "us-east-1",                                                                         \
            .help = "the region that requests to it are signed for" },                                       \
        { .name = "TAVOLA_BLOB_S3_CREDENTIALS_FILE",                                                         \
            .type = CONFIG_STRING,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_credentials_file),       \
            .help = "a file with an access key, its secret and, for temporary credentials, their session "   \
                    "token, a line each; it is read for each request" },                                     \
        { .name = "TAVOLA_BLOB_S3_ACCESS_KEY",                                                               \
            .type = CONFIG_STRING,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_access_key),             \
            .help = "in place of the file: the access key" },                                                \
        { .name = "TAVOLA_BLOB_S3_SECRET_KEY",                                                               \
            .type = CONFIG_SECRET,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_secret_key),             \
            .help = "its secret" },                                                                          \
        { .name = "TAVOLA_BLOB_S3_SESSION_TOKEN",                                                            \
            .type = CONFIG_SECRET,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_session_token),          \
            .help = "the session token of temporary credentials" },                                          \
        { .name = "TAVOLA_BLOB_S3_CA",                                                                       \
            .type = CONFIG_STRING,                                                                           \
            .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_ca),                     \
            .help = "the authorities of the store's certificate (PEM); when not set those of the system" },  \
    {                                                                                                        \
        .name = "TAVOLA_BLOB_S3_TIMEOUT_SECONDS", .type = CONFIG_INT,                                        \
        .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, s3_timeout_s),                  \
        .fallback = "10", .min = 1, .max = 60, .unit = "s",                                                  \
        .help = "how long one request to it may take; one that fails is sent up to three times more"         \
    }

#endif
