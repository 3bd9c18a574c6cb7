/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_directory.h - chunks as files of a directory, which all servers and workers share.
 */
#ifndef CHUNKS_CHUNK_DIRECTORY_H
#define CHUNKS_CHUNK_DIRECTORY_H

#include "base/chunk_store.h"

/* path: borrowed. Nothing is opened: the directory may be mounted later. */
struct chunk_store *chunk_directory_open(const char *path);

#endif
