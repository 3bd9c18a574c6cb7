/* SPDX-License-Identifier: Apache-2.0 */
/*
 * submit_transaction.c - TransactionService.SubmitTransaction.
 */
#include "service/handlers/handlers.h"

#include "api/codec_transaction.h"
#include "domain/reason.h"
#include "domain/transactions/call_url.h"
#include "service/handlers/reply.h"
#include "service/service.h"

static enum status check_call(
    const struct service *service, const struct step *step, size_t number, struct error *err)
{
    struct call_address address;

    if (call_url_read(step->path, &address) && call_url_is_of_hosts(service->http_call_hosts, &address))
        return STATUS_OK;
    return reason_set(err, REASON_STEP_NOT_CONFIGURED,
        "step %zu calls %.*s:%d, which is not in TAVOLA_HTTP_CALL_HOSTS of this service", number,
        STR_ARG(address.host), address.port);
}

static enum status check_step(
    const struct service *service, const struct step *step, size_t number, struct error *err)
{
    if (step->kind == STEP_HTTP_CALL)
        return check_call(service, step, number, err);
    if (!transaction_step_is_effect(step) || transaction_step_is_blob(step) || service->takes_files)
        return STATUS_OK;
    return reason_set(err, REASON_STEP_NOT_CONFIGURED,
        "step %zu writes a file, and this service has no TAVOLA_FILE_ROOT", number);
}

/* Refuse at once the steps that no worker is configured to carry out. */
static enum status check_configured(
    const struct service *service, const struct transaction *transaction, struct error *err)
{
    for (size_t i = 0; i < transaction->step_count; i++) {
        if (check_step(service, &transaction->steps[i], i, err) == STATUS_OK)
            continue;
        error_add_meta_int(err, "operation_index", (int64_t)i);
        return error_in_element(err, "steps", i);
    }
    return STATUS_OK;
}

static enum status decode_request(struct call_ctx *ctx, struct operation *out, struct error *err)
{
    const Tavola__V1__SubmitTransactionRequest *request =
        (const Tavola__V1__SubmitTransactionRequest *)ctx->request;

    out->kind = OPERATION_TRANSACTION_SUBMIT;
    TRY(codec_transaction_decode(request, ctx->account, ctx->arena, &out->in.transaction.transaction, err));
    return check_configured(ctx->service, &out->in.transaction.transaction, err);
}

const struct method submit_transaction_method = {
    .path = "/tavola.v1.TransactionService/SubmitTransaction",
    .kind = RPC_UNARY,
    .events = &operation_call_events,
    .operation = OPERATION_TRANSACTION_SUBMIT,
    .request = &tavola__v1__submit_transaction_request__descriptor,
    .decode = decode_request,
    .encode = reply_with_transaction,
};
