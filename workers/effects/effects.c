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
#include "domain/transactions/effect_shares.h"
#include "workers/effects/files.h"
#include "workers/effects/http_call.h"
#include "workers/effects/put_blob.h"
#include "workers/worker.h"

enum { US_PER_S = 1000000 };

static void write_entity(void *context, const struct entity *entity, struct buf *out)
{
    (void)context;
    entity_json_write(entity, STR_EMPTY, out);
    buf_append_byte(out, '\n');
}

/* ---- permits ---- */

/* A put into a store of chunks may wait for that store as a call waits for its receiver. */
static enum effect_kind kind_of(const struct worker_ctx *ctx, const struct effect *effect)
{
    bool waits = effect->step.kind == STEP_HTTP_CALL ||
                 (effect->step.kind == STEP_PUT_BLOB && chunk_open_used(&ctx->shared->chunks));

    return waits ? EFFECT_OF_CALLS : EFFECT_OF_FILES;
}

/* A call does not begin if its consumer has called for longer in this turn than one call may take. */
static bool has_time(const struct worker_ctx *ctx, const struct effect *effect)
{
    return kind_of(ctx, effect) != EFFECT_OF_CALLS ||
           ctx->calls_us < ctx->shared->config->http_call_timeout_s * US_PER_S;
}

static bool take_permit(struct worker_ctx *ctx, const struct effect *effect)
{
    struct worker_shared *shared = ctx->shared;
    bool has_begun = false;

    pthread_mutex_lock(&shared->effects_mutex);
    if (has_time(ctx, effect))
        has_begun =
            effect_shares_begin(&shared->effects, effect->account, kind_of(ctx, effect), ctx->now_us());
    else
        effect_shares_want(&shared->effects, effect->account, kind_of(ctx, effect), ctx->now_us());
    pthread_mutex_unlock(&shared->effects_mutex);
    return has_begun;
}

static void give_permit_back(struct worker_ctx *ctx, const struct effect *effect)
{
    struct worker_shared *shared = ctx->shared;

    pthread_mutex_lock(&shared->effects_mutex);
    effect_shares_end(&shared->effects, effect->account, kind_of(ctx, effect), ctx->now_us());
    pthread_mutex_unlock(&shared->effects_mutex);
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
    enum status status;

    if (!take_permit(ctx, effect))
        return error_set(err, STATUS_CANCELLED, "the effects of others come first");
    status = run_effect(ctx, effect, arena, receipt, err);
    give_permit_back(ctx, effect);
    metrics_count(ctx->shared, status == STATUS_OK ? WORKER_EFFECTS_DONE : WORKER_EFFECTS_FAILED, 1);
    return status;
}

struct effects effects_of(struct worker_ctx *ctx)
{
    return (struct effects){ .context = ctx, .write_entity = write_entity, .perform = perform };
}
