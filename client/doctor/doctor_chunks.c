/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_chunks.c - the stores of chunks of blobs outside of the database, as a program on this machine sees them.
 */
#include "chunks/chunk_open.h"
#include "client/doctor/doctor.h"

static const char *const parts[CHUNK_STORE_KINDS] = {
    [CHUNK_STORE_DIRECTORY] = "TAVOLA_BLOB_DIRECTORY", [CHUNK_STORE_S3] = "TAVOLA_BLOB_S3_URL"
};

static void add_failure(const char *part, const struct error *err, struct findings *out)
{
    findings_add(out,
        &(struct finding){ .severity = SEVERITY_PROBLEM,
            .part = str_of(part),
            .what = str_of(err->message),
            .why =
                STR_LITERAL("puts and gets of blobs whose chunks are there fail with BLOB_STORE_UNAVAILABLE"),
            .remedy = STR_LITERAL("call this as the user and on a machine of the servers and workers; "
                                  "docs/blobs.md, Where the chunks are") });
}

void doctor_check_chunks(const struct client_config *config, struct findings *out)
{
    struct chunk_stores stores;
    struct error err = { 0 };

    if (chunk_open(&config->chunks, &stores, &err) != STATUS_OK) {
        add_failure("TAVOLA_BLOB_STORE", &err, out);
        return;
    }
    for (int i = 0; i < CHUNK_STORE_KINDS; i++) {
        if (!stores.of[i])
            continue;
        if (chunk_open_check(stores.of[i], &err) == STATUS_OK)
            findings_add_ok(out, parts[i], "bytes can be put, read and removed");
        else
            add_failure(parts[i], &err, out);
    }
    chunk_open_close(&stores);
}
