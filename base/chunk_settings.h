/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_settings.h - the settings of the stores that keep chunks of blobs: the same for all servers and workers.
 */
#ifndef BASE_CHUNK_SETTINGS_H
#define BASE_CHUNK_SETTINGS_H

#include <stddef.h>

#include "base/config.h"

struct chunk_settings {
    int put_into;          /* enum chunk_store_kind */
    const char *directory; /* NULL: none */
};

/* The choices of TAVOLA_BLOB_STORE, in the order of enum chunk_store_kind. */
extern const char *const chunk_settings_stores[];

/* An absolute path. */
bool chunk_settings_is_directory(const char *value);

/* Rows of a program's table of settings; the program's struct has a member `struct chunk_settings chunks`. */
#define CHUNK_SETTINGS(config)                                                                               \
    { .name = "TAVOLA_BLOB_STORE",                                                                           \
        .type = CONFIG_CHOICE,                                                                               \
        .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, put_into),                      \
        .fallback = "postgresql",                                                                            \
        .choices = chunk_settings_stores,                                                                    \
        .help = "where new chunks of blobs go; chunks that exist stay where they are. The same setting for " \
                "all workers and servers" },                                                                 \
    {                                                                                                        \
        .name = "TAVOLA_BLOB_DIRECTORY", .type = CONFIG_STRING,                                              \
        .offset = offsetof(config, chunks) + offsetof(struct chunk_settings, directory),                     \
        .accepts = chunk_settings_is_directory, .allowed = "an absolute path",                               \
        .help = "the directory of chunks of blobs, which exists and all workers and servers share; also "    \
                "when new chunks go elsewhere"                                                               \
    }

#endif
