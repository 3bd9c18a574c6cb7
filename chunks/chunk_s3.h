/* SPDX-License-Identifier: Apache-2.0 */
/*
 * chunk_s3.h - chunks as objects of a bucket of an S3-compatible store.
 */
#ifndef CHUNKS_CHUNK_S3_H
#define CHUNKS_CHUNK_S3_H

#include "base/chunk_settings.h"
#include "base/chunk_store.h"

/*
 * Borrows the settings. Nothing is called: the store may answer later.
 *
 * STATUS_INVALID  the credentials are missing, or given twice; the message names the settings
 */
MUST_USE enum status chunk_s3_open(
    const struct chunk_settings *settings, struct chunk_store **out, struct error *err);

#endif
