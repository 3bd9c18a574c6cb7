/* SPDX-License-Identifier: Apache-2.0 */
/*
 * put_blob.h - the effect of a put_blob step: the content, complete and without a name.
 *
 * Every performance puts a content of its own, so one that is repeated, or late, changes nothing (guard G16): the
 * commit that settles the step points the name to its content, and the others are abandoned and collected.
 */
#ifndef WORKERS_EFFECTS_PUT_BLOB_H
#define WORKERS_EFFECTS_PUT_BLOB_H

#include "domain/transactions/effect.h"

struct worker;

/*
 * The receipt has the ETag of the content.
 *
 *   STATUS_LIMIT  QUOTA_EXCEEDED: the account's quota of bytes is used up; nothing was put
 */
MUST_USE enum status put_blob_perform(struct worker *store, const struct effect *effect, struct arena *arena,
    struct receipt *receipt, struct error *err);

#endif
