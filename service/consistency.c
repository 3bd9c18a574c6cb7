/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consistency.c - see the header.
 */
#include "service/consistency.h"

#include "api/codec_freshness.h"
#include "domain/reason.h"

enum status consistency_write(const struct service *service, const struct consistency *left_open,
    struct arena *arena, struct str *out, struct error *err)
{
    struct token_key key;

    *out = STR_EMPTY;
    if (!left_open)
        return STATUS_OK;
    if (store_token_key(service->store, key.bytes, err) != STATUS_OK)
        return reason_set(err, REASON_OUTCOME_UNKNOWN,
            "the write is committed, but its token could not be signed: the server has not read the key yet");
    *out = codec_freshness_token(left_open, &key, arena);
    return STATUS_OK;
}

enum status consistency_write_transaction(const struct service *service,
    const struct transaction *transaction, struct arena *arena, struct str *out, struct error *err)
{
    struct consistency left_open;

    return consistency_write(service,
        consistency_of_transaction(transaction, arena, &left_open) ? &left_open : NULL, arena, out, err);
}

enum status consistency_read(const struct service *service, const Tavola__V1__Freshness *message,
    struct arena *arena, struct freshness *out, struct error *err)
{
    struct token_key key;

    *out = (struct freshness){ 0 };
    if (!message)
        return STATUS_OK;
    TRY(store_token_key(service->store, key.bytes, err));
    return codec_freshness_decode(message, &key, arena, out, err);
}
