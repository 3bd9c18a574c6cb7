/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effects.c - see the header.
 */
#include "workers/effects/effects.h"

#include <string.h>

#include "api/json/entity_json.h"
#include "chunks/chunk_open.h"
#include "domain/reason.h"
#include "domain/transactions/effect.h"
#include "workers/effects/files.h"
#include "workers/effects/http_call.h"
#include "workers/effects/put_blob.h"
#include "workers/worker.h"

static void write_entity(void *context, const struct entity *entity, struct buf *out)
{
    (void)context;
    entity_json_write(entity, STR_EMPTY, out);
    buf_append_byte(out, '\n');
}

/* ---- permits ---- */

static bool take_slot(atomic_int *running, int max)
{
    if (atomic_fetch_add(running, 1) < max)
        return true;
    atomic_fetch_sub(running, 1);
    return false;
}

static int at_least_one(int64_t count)
{
    return count > 1 ? (int)count : 1;
}

/*
 * Calls, and puts into a store of chunks, have at most half of the slots: a slow receiver leaves the others to files
 * and blobs, if there are two.
 */
static bool take_permit(struct worker_shared *shared, bool is_call)
{
    int max = at_least_one(shared->config->threads / 2);

    if (is_call && !take_slot(&shared->calls_running, at_least_one(max / 2)))
        return false;
    if (take_slot(&shared->effects_running, max))
        return true;
    if (is_call)
        atomic_fetch_sub(&shared->calls_running, 1);
    return false;
}

static void give_permit_back(struct worker_shared *shared, bool is_call)
{
    atomic_fetch_sub(&shared->effects_running, 1);
    if (is_call)
        atomic_fetch_sub(&shared->calls_running, 1);
}

/* ---- files ---- */

static enum status write_file(
    struct worker_ctx *ctx, const struct effect *effect, struct str content, struct error *err)
{
    const struct files_address at = {
        .root = ctx->shared->config->file_root, .account = effect->account, .path = effect->step.path
    };

    if (!at.root) {
        ctx->failure_cause = DELIVERY_OF_OUTSIDE;
        return reason_set(err, REASON_STEP_NOT_CONFIGURED, "this worker has no TAVOLA_FILE_ROOT");
    }
    if (effect->step.kind == STEP_WRITE_FILE)
        return files_write(&at, content, &ctx->failure_cause, err);
    return files_append(&at, content, effect->note.offset, effect->note.min_size, &ctx->failure_cause, err);
}

/* ---- blobs ---- */

/* A store of chunks that cannot be used is not a database that cannot be used: other work goes on. */
static enum status put_blob(struct worker_ctx *ctx, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err)
{
    enum status status = put_blob_perform(ctx->store, effect, arena, receipt, err);

    if (status == STATUS_OK || !err->reason ||
        strcmp(err->reason, reason_info(REASON_BLOB_STORE_UNAVAILABLE)->name) != 0)
        return status;
    ctx->failure_cause = DELIVERY_OF_OUTSIDE;
    err->status = STATUS_INTERNAL;
    return err->status;
}

/* ---- all ---- */

static enum status run_effect(struct worker_ctx *ctx, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err)
{
    struct str content = effect_content(effect);

    if (effect->step.kind == STEP_PUT_BLOB)
        return put_blob(ctx, effect, arena, receipt, err);
    if (effect->step.kind == STEP_HTTP_CALL)
        return http_call_perform(ctx, effect, arena, receipt, err);
    TRY(write_file(ctx, effect, content, err));
    *receipt = (struct receipt){
        .size = (int64_t)content.len, .digest = effect_digest(content, arena), .offset = effect->note.offset
    };
    return STATUS_OK;
}

static enum status perform(void *context, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err)
{
    struct worker_ctx *ctx = context;
    bool is_call = effect->step.kind == STEP_HTTP_CALL ||
                   (effect->step.kind == STEP_PUT_BLOB && chunk_open_used(&ctx->shared->chunks));
    enum status status;

    if (!take_permit(ctx->shared, is_call))
        return error_set(err, STATUS_CANCELLED, "too many consumers perform effects");
    status = run_effect(ctx, effect, arena, receipt, err);
    give_permit_back(ctx->shared, is_call);
    metrics_count(ctx->shared, status == STATUS_OK ? WORKER_EFFECTS_DONE : WORKER_EFFECTS_FAILED, 1);
    return status;
}

struct effects effects_of(struct worker_ctx *ctx)
{
    return (struct effects){ .context = ctx, .write_entity = write_entity, .perform = perform };
}
