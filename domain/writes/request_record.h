/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request_record.h - what is remembered of a write with a request_id: a digest of the request and the answer
 * it got, as bytes that commit with its effect. A repeat is answered from them.
 *
 * Recorded is every outcome that the stored entities decide: what was written, and a condition that failed,
 * because the same request could have another outcome later. Not recorded are bad input, tables that are not
 * there and overload: nothing was decided then.
 *
 * Pure: no I/O, no clock.
 */
#ifndef DOMAIN_WRITES_REQUEST_RECORD_H
#define DOMAIN_WRITES_REQUEST_RECORD_H

#include <stdbool.h>

#include "domain/operations/operation.h"

enum { REQUEST_DIGEST_BYTES = 32 };

struct request_record {
    struct str digest;   /* REQUEST_DIGEST_BYTES of them */
    struct str response; /* empty: not decided yet */
};

/*
 * SHA-256 of an OPERATION_WRITE's content: the same for equal requests to the same table. A later table of the same
 * name is another one.
 */
struct str request_record_digest(const struct operation *operation, int64_t table_id, struct arena *arena);

/* The outcome that an atomic write has, as bytes. */
struct str request_record_response(const struct operation *operation, struct arena *arena);

/*
 * Give an atomic write with this digest the outcome that is recorded under its id: the recorded one, marked as
 * `replayed` in the outcome or the error's metadata, or REQUEST_ID_REUSED when the record is of another request.
 */
void request_record_replay(
    const struct request_record *record, struct str digest, struct operation *operation);

#endif
