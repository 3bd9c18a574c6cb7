/* SPDX-License-Identifier: Apache-2.0 */
/*
 * effects.c - see the header.
 */
#include "workers/effects/effects.h"

#include "api/json/entity_json.h"
#include "domain/reason.h"
#include "domain/transactions/effect.h"
#include "workers/effects/files.h"
#include "workers/effects/put_blob.h"
#include "workers/worker.h"

static void write_entity(void *context, const struct entity *entity, struct buf *out)
{
    (void)context;
    entity_json_write(entity, STR_EMPTY, out);
    buf_append_byte(out, '\n');
}

/* ---- permits ---- */

static bool take_permit(struct worker_shared *shared)
{
    int half = (int)shared->config->threads / 2, max = half > 1 ? half : 1;

    if (atomic_fetch_add(&shared->effects_running, 1) < max)
        return true;
    atomic_fetch_sub(&shared->effects_running, 1);
    return false;
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

/* ---- all ---- */

static enum status run_effect(struct worker_ctx *ctx, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err)
{
    struct str content = effect_content(effect);

    if (effect->step.kind == STEP_PUT_BLOB)
        return put_blob_perform(ctx->store, effect, arena, receipt, err);
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
    enum status status;

    if (!take_permit(ctx->shared))
        return error_set(err, STATUS_CANCELLED, "too many consumers perform effects");
    status = run_effect(ctx, effect, arena, receipt, err);
    atomic_fetch_sub(&ctx->shared->effects_running, 1);
    metrics_count(ctx->shared, status == STATUS_OK ? WORKER_EFFECTS_DONE : WORKER_EFFECTS_FAILED, 1);
    return status;
}

struct effects effects_of(struct worker_ctx *ctx)
{
    return (struct effects){ .context = ctx, .write_entity = write_entity, .perform = perform };
}
