/* SPDX-License-Identifier: Apache-2.0 */
/*
 * odata_write.h - functions that the writes of single entities share.
 */
#ifndef SERVICE_ODATA_ODATA_WRITE_H
#define SERVICE_ODATA_ODATA_WRITE_H

#include "service/call.h"

/* Read the entity of the body into the write. key: from the URL; NULL: the body has the key. */
MUST_USE enum status odata_write_read_body(
    struct call_ctx *ctx, const struct entity_key *key, struct write *out, struct error *err);

/*
 * Decode a PUT or PATCH of an entity. With If-Match it is a write of the first kind, otherwise of the second.
 */
MUST_USE enum status odata_write_decode(struct call_ctx *ctx, enum write_kind with_condition,
    enum write_kind without, struct operation *out, struct error *err);

/* Reply with 204 and the ETag of the written entity. */
call_encode_fn odata_write_encode;

#endif
