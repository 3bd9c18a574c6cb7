/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consistency.h - consistency tokens in requests and replies. They are signed with the key that all servers
 * of a database share.
 */
#ifndef SERVICE_CONSISTENCY_H
#define SERVICE_CONSISTENCY_H

#include "domain/intents/consistency.h"
#include "service/service.h"
#include "tavola/v1/index_service.pb-c.h"

/*
 * Sign the token for the intents that a write or a transaction has left open. left_open NULL: there are none,
 * and *out is empty. OUTCOME_UNKNOWN: the write is committed, but the token cannot be signed.
 */
MUST_USE enum status consistency_write(const struct service *service, const struct consistency *left_open,
    struct arena *arena, struct str *out, struct error *err);
MUST_USE enum status consistency_write_transaction(const struct service *service,
    const struct transaction *transaction, struct arena *arena, struct str *out, struct error *err);

/* Check the freshness that a look-up requires. message NULL: the look-up requires none. */
MUST_USE enum status consistency_read(const struct service *service, const Tavola__V1__Freshness *message,
    struct arena *arena, struct freshness *out, struct error *err);

#endif
