/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consistency.h - consistency tokens in requests and replies, signed with the key that all servers of a database share.
 */
#ifndef SERVICE_CONSISTENCY_H
#define SERVICE_CONSISTENCY_H

#include "domain/intents/consistency.h"
#include "service/service.h"
#include "tavola/v1/index_service.pb-c.h"

/*
 * The token of what a write, or a transaction, has left open; NULL: nothing, *out is empty. OUTCOME_UNKNOWN: it
 * stands, but its token cannot be signed.
 */
MUST_USE enum status consistency_write(const struct service *service, const struct consistency *left_open,
    struct arena *arena, struct str *out, struct error *err);
MUST_USE enum status consistency_write_transaction(const struct service *service,
    const struct transaction *transaction, struct arena *arena, struct str *out, struct error *err);

/* NULL: whatever there is. */
MUST_USE enum status consistency_read(const struct service *service, const Tavola__V1__Freshness *message,
    struct arena *arena, struct freshness *out, struct error *err);

#endif
