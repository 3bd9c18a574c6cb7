/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put_blob.c - see the header.
 */
#include "workers/effects/put_blob.h"

#include <string.h>

#include "base/failpoint.h"
#include "base/random.h"
#include "domain/blobs/blob_hash.h"
#include "domain/limits.h"
#include "store/access/usage_calls.h"
#include "store/blobs/blob_put.h"
#include "store/session/worker_attempt.h"

enum { CHUNK = LIMIT_BLOB_CHUNK_BYTES };

struct put_work {
    const struct effect *effect;
    struct str content;
    struct arena *arena;
    struct blob_id id;
    int64_t writer;
};

static struct blob_id new_id(void)
{
    uint64_t bits[2] = { random_bits(), random_bits() };
    struct blob_id out;

    memcpy(out.bytes, bits, sizeof(out.bytes));
    return out;
}

/* Run one operation of the put, whose bytes begin at this offset of the content. */
static enum status run_one(struct session *session, const struct put_work *work,
    void (*run)(struct session *session, struct operation *operation), struct operation_blob in,
    struct error *err)
{
    struct operation *operation = ARENA_NEW(work->arena, struct operation);

    in.name = in.upload_id = STR_EMPTY;
    in.content = work->id;
    in.writer = work->writer;
    in.content_type = work->effect->step.content_type;
    operation->account = work->effect->account;
    operation->arena = work->arena;
    operation->deadline_us = INT64_MAX;
    operation->in.blob = in;
    run(session, operation);
    if (!operation->error)
        return STATUS_OK;
    *err = *operation->error;
    return err->status;
}

/* All operations run in one unit of work: another one would not know which of them are done. */
static enum status put_content(struct session *session, void *context, struct error *err)
{
    struct put_work *work = context;
    struct operation_blob commit = { .is_new = work->content.len < CHUNK,
        .digest = blob_hash_of(work->content) };
    size_t at = 0;

    TRY(usage_calls_admit_bytes(session, work->effect->account, err));
    work->id = new_id();
    work->writer = (int64_t)random_bits();
    if (!commit.is_new)
        TRY(run_one(session, work, blob_put_begin, (struct operation_blob){ 0 }, err));
    for (; work->content.len - at >= CHUNK; at += CHUNK)
        TRY(run_one(session, work, blob_put_append,
            (struct operation_blob){
                .offset = (int64_t)at, .bytes = str_of_bytes(work->content.data + at, CHUNK) },
            err));
    commit.offset = (int64_t)at;
    commit.bytes = str_from(work->content, at);
    FAILPOINT_TRY("put_blob.before_commit", err);
    TRY(run_one(session, work, blob_put_commit, commit, err));
    FAILPOINT("put_blob.after_commit");
    return STATUS_OK;
}

enum status put_blob_perform(struct worker *store, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err)
{
    struct put_work work = { .effect = effect, .content = effect_content(effect), .arena = arena };

    TRY(worker_attempt(store, put_content, &work, err));
    *receipt = (struct receipt){ .size = (int64_t)work.content.len,
        .digest = effect_digest(work.content, arena),
        .etag = blob_etag_format(&work.id, arena) };
    return STATUS_OK;
}
