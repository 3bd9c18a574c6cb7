/* SPDX-License-Identifier: Apache-2.0 */
/*
 * codec_transaction.h - transactions: steps in, states and timelines out.
 */
#ifndef API_CODEC_TRANSACTION_H
#define API_CODEC_TRANSACTION_H

#include "api/codec_entity.h"
#include "domain/transactions/transaction.h"
#include "tavola/v1/transaction_service.pb-c.h"

/*
 * Decode id and steps of a submission, and check them with transaction_check. Errors name the step in
 * operation_index.
 */
MUST_USE enum status codec_transaction_decode(const Tavola__V1__SubmitTransactionRequest *request,
    struct str account, struct arena *arena, struct transaction *out, struct error *err);

/* Decode the address of an entity as its digest (transaction_key_digest). own: the caller's account. */
MUST_USE enum status codec_transaction_address_digest(const Tavola__V1__EntityAddress *address,
    const char *field, struct str own, int64_t *out, struct error *err);

/* Check a transaction id; an id that no transaction can have is TRANSACTION_NOT_FOUND. */
MUST_USE enum status codec_transaction_id_check(struct str id, struct error *err);

/* How much of a transaction a reply has. */
enum transaction_detail {
    TRANSACTION_SUMMARY, /* no steps, no timeline */
    TRANSACTION_WHOLE,
    TRANSACTION_WITHOUT_PROPERTIES, /* used if the whole transaction does not fit into a reply */
};
Tavola__V1__Transaction *codec_transaction_message(
    const struct transaction *transaction, enum transaction_detail detail, struct arena *arena);

/* Append a transaction as field `field` of the reply; with the properties of its entities if it fits. */
void codec_transaction_write(struct buf *out, uint32_t field, const struct transaction *transaction,
    struct str consistency_token, struct arena *arena);

#endif
